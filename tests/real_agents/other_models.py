"""Loopback stand-ins for the model services of Codex and Gemini CLI: texts from a script, requests kept."""

from __future__ import annotations

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Json = dict[str, Any]


class OtherModels:
    """The server. `say` queues texts; each request takes the next one."""

    def __init__(self) -> None:
        self.requests: list[str] = []  # their bodies
        self._texts: deque[str] = deque()
        handler = type("Bound", (_Handler,), {"models": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def say(self, *texts: str) -> None:
        self._texts.extend(texts)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: Json) -> str:
        self.requests.append(json.dumps(body, ensure_ascii=False))
        return self._texts.popleft() if self._texts else "Done."


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    models: ClassVar[OtherModels]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """A test server says nothing."""

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "/responses" in self.path:
            return self._stream(_response(self.models.answer(body)))
        if "countTokens" in self.path:
            return self._send({"totalTokens": 5})
        if "enerateContent" in self.path:
            answer = _content(self.models.answer(body))
            return self._stream([answer]) if "stream" in self.path else self._send(answer)
        return self._send({"error": {"message": "nothing is here"}}, 404)

    def _send(self, body: Json, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: list[Json]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            kind = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{kind}data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()


def _response(text: str) -> list[Json]:
    """What Codex expects."""
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 110,
    }
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {"id": "r", "status": "completed", "output": [item], "usage": usage},
        },
    ]


def _content(text: str) -> Json:
    """What Gemini CLI expects."""
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
        "modelVersion": "scripted",
    }
