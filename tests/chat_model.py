"""A loopback stand-in for chat completions that takes each answer from a function of the request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, ClassVar

Json = dict[str, Any]
#: A text, or a tool call: its name and arguments.
Answer = str | tuple[str, Json]


class ChatModel:
    """The server; `think` reads the request and answers."""

    def __init__(self, think: Callable[[Json], Answer]) -> None:
        self.requests: list[Json] = []
        self._think = think
        self._numbers = count(1)
        handler = type("Bound", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: Json) -> Json:
        self.requests.append(body)
        said = self._think(body)
        message: Json = {"role": "assistant", "content": said if isinstance(said, str) else None}
        if not isinstance(said, str):
            name, arguments = said
            function = {"name": name, "arguments": json.dumps(arguments)}
            message["tool_calls"] = [
                {"id": f"call_{next(self._numbers)}", "type": "function", "function": function}
            ]
        return {
            "id": f"chatcmpl-{next(self._numbers)}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "stop" if isinstance(said, str) else "tool_calls",
                }
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ClassVar[ChatModel]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """A test server says nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        known = self.path.endswith("/chat/completions")
        answer = self.model.answer(body) if known else {"error": {"message": "nothing is here"}}
        data = json.dumps(answer).encode()
        self.send_response(200 if known else 404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
