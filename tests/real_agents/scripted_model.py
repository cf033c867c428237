"""A loopback stand-in for the Messages API that answers from a script and keeps what it was asked.

Enough of the API for the real Claude Code and for the vendor's SDK: streaming and plain answers, text and
tool calls, token counts. Knows nothing of Holdfast.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, ClassVar

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """An answer that calls a tool."""

    name: str
    input: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is an error of the API."""

    status: int = 400
    kind: str = "invalid_request_error"
    message: str = "the script says no"


#: One answer of the model: a text, a tool call, several of them in one message, or an error.
Answer = str | Tool | Sequence[str | Tool] | Failure


@dataclass(frozen=True, slots=True)
class Request:
    """One request that a client made for an answer."""

    path: str
    headers: dict[str, str]
    body: Json

    @property
    def system(self) -> str:
        """The system prompt, all of its blocks."""
        return _text_of(self.body.get("system", ""))

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each message; hooks' context comes as role "system" among them."""
        return [(each["role"], _text_of(each["content"])) for each in self.body.get("messages", [])]

    @property
    def text(self) -> str:
        """Everything that the model reads, system prompt first."""
        return "\n".join([self.system, *(text for _, text in self.messages)])

    @property
    def tools(self) -> list[str]:
        return [tool.get("name", "") for tool in self.body.get("tools", [])]


@dataclass
class ScriptedModel:
    """The server. `say` queues answers; each request for the conversation takes the next one."""

    requests: list[Request] = field(default_factory=list)  # of the conversation, in order
    side_requests: list[Request] = field(default_factory=list)  # titles and the like, which take no answer
    usage: Json = field(
        default_factory=lambda: {
            "input_tokens": 120,
            "cache_creation_input_tokens": 50,
            "cache_read_input_tokens": 3000,
            "output_tokens": 42,
        }
    )

    def __post_init__(self) -> None:
        self._answers: deque[Answer] = deque()
        self._numbers = count(1)
        self._lock = threading.Lock()
        # A gate that is closed keeps requests waiting, so that a test can act while the agent runs.
        self.gate = threading.Event()
        self.gate.set()
        self.asked = threading.Event()  # set by the first request of the conversation
        handler = type("Bound", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def say(self, *answers: Answer) -> None:
        """Queues answers; once they are used up the model says "Done."."""
        self._answers.extend(answers)

    def start_again(self, *answers: Answer) -> None:
        """Forgets what was asked and what was left to say, and queues `answers`."""
        self._answers.clear()
        self.requests.clear()
        self.side_requests.clear()
        self.asked.clear()
        self.say(*answers)

    def close(self) -> None:
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> Json | Failure:
        """The message that answers `request`."""
        if request.body.get("output_config", {}).get("format") or request.body.get("output_format"):
            self.side_requests.append(request)
            return self._message(request, [{"type": "text", "text": '{"title": "A title"}'}])
        with self._lock:
            self.requests.append(request)
            said = self._answers.popleft() if self._answers else "Done."
        self.asked.set()
        self.gate.wait(60)
        if isinstance(said, Failure):
            return said
        parts = [said] if isinstance(said, str | Tool) else list(said)
        return self._message(request, [self._block(part) for part in parts])

    def _block(self, part: str | Tool) -> Json:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        return {
            "type": "tool_use",
            "id": f"toolu_scripted_{next(self._numbers):04}",
            "name": part.name,
            "input": part.input,
        }

    def _message(self, request: Request, content: list[Json]) -> Json:
        calls_a_tool = any(block["type"] == "tool_use" for block in content)
        return {
            "id": f"msg_scripted_{next(self._numbers):04}",
            "type": "message",
            "role": "assistant",
            "model": request.body.get("model"),
            "content": content,
            "stop_reason": "tool_use" if calls_a_tool else "end_turn",
            "stop_sequence": None,
            "usage": {**self.usage, "service_tier": "standard"},
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ClassVar[ScriptedModel]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """A test server says nothing."""

    def do_GET(self) -> None:
        self._send(404, _error("not_found_error", "nothing is here"))

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if "/v1/messages" not in self.path:
            return self._send(404, _error("not_found_error", "nothing is here"))
        body = json.loads(raw)
        if "count_tokens" in self.path:
            return self._send(200, {"input_tokens": 1234})
        request = Request(self.path, dict(self.headers.items()), body)
        answer = self.model.answer(request)
        if isinstance(answer, Failure):
            return self._send(answer.status, _error(answer.kind, answer.message))
        if not body.get("stream"):
            return self._send(200, answer)
        return self._stream(answer)

    def _send(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, message: Json) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in _events(message):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()


def _events(message: Json) -> Iterator[Json]:
    """The events of a streamed answer."""
    opened = {
        **message,
        "content": [],
        "stop_reason": None,
        "usage": {**message["usage"], "output_tokens": 1},
    }
    yield {"type": "message_start", "message": opened}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start: Json = {"type": "text", "text": ""}
            delta: Json = {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    spent = {"output_tokens": message["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": stop, "usage": spent}
    yield {"type": "message_stop"}


def _error(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _text_of(content: Any) -> str:
    """The text of a message's content, whatever it is made of; tool results included."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_text_of(block) for block in content)
    if isinstance(content, dict):
        return _text_of(content.get("text") or content.get("content") or "")
    return ""
