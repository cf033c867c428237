"""A stand-in for both models' APIs on loopback: answers from a script, keeps every byte that it was sent.

A script may also fail, be slow, break off or send somebody elsewhere. Knows nothing of Holdfast.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, ClassVar

Json = dict[str, Any]
PATIENCE = 60.0  # seconds; never reached unless something is wrong


@dataclass(frozen=True)
class Seen:
    """One request, as it arrived."""

    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    raw: bytes

    @property
    def body(self) -> Json:
        found: Json = json.loads(self.raw or b"{}")
        return found


Script = Callable[["Handler", Seen], None]


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # five, as usual, resets some of many that come at once


class Upstream:
    """The server. Each request takes the next script; with none left the model says "Done."."""

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.scripts: deque[Script] = deque()
        self.asked = threading.Semaphore(0)  # released once a request has arrived
        self.gone = threading.Event()  # somebody hung up while an answer was on its way
        self.gate = threading.Event()  # what scripts that wait wait for
        self.numbers = count(1)
        handler = type("Bound", (Handler,), {"upstream": self})
        self._server = Server(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def say(self, *scripts: Script | str) -> None:
        self.scripts.extend(says(each) if isinstance(each, str) else each for each in scripts)

    def close(self) -> None:
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream: ClassVar[Upstream]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """A test server says nothing."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        named = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, named, raw)
        self.upstream.requests.append(seen)
        self.upstream.asked.release()
        script = self.upstream.scripts.popleft() if self.upstream.scripts else says("Done.")
        try:
            script(self, seen)
        except OSError:
            self.upstream.gone.set()
            self.close_connection = True

    do_GET = do_POST  # noqa: N815

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_events(self, **headers: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def break_off(self) -> None:
        """Ends the connection in the middle, with a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()
        raise OSError("broken off by the script")


# --------------------------------------------------------------------------------------------------- scripts


def says(text: str, *calls: str, usage: int = 3) -> Script:
    """The model says a text and calls tools, whole or in events as it was asked."""

    def script(handler: Handler, seen: Seen) -> None:
        answer = answer_to(seen, text, calls, next(handler.upstream.numbers))
        if not seen.body.get("stream"):
            handler.send(200, json.dumps(answer).encode(), x_request_id="req-1")
            return
        handler.begin_events(x_request_id="req-1")
        for event in events_of(seen, answer):
            handler.chunk(event)
        handler.chunk(b"")

    return script


def packed(text: str) -> Script:
    """The same, packed though nobody asked for it."""

    def script(handler: Handler, seen: Seen) -> None:
        answer = answer_to(seen, text, (), next(handler.upstream.numbers))
        if not seen.body.get("stream"):
            handler.send(200, gzip.compress(json.dumps(answer).encode()), content_encoding="gzip")
            return
        handler.begin_events(content_encoding="gzip")
        handler.chunk(gzip.compress(b"".join(events_of(seen, answer))))
        handler.chunk(b"")

    return script


def fails(status: int, body: bytes = b'{"error": {"message": "no"}}', **headers: str) -> Script:
    return lambda handler, _: handler.send(status, body, **headers)


def breaks_off(text: str, after: int) -> Script:
    """The connection ends after some events of the answer."""

    def script(handler: Handler, seen: Seen) -> None:
        handler.begin_events()
        for number, event in enumerate(events_of(seen, answer_to(seen, text, (), 1))):
            if number == after:
                handler.break_off()
            handler.chunk(event)

    return script


def hangs_up(handler: Handler, _: Seen) -> None:
    """No answer at all."""
    handler.break_off()


def waits(handler: Handler, seen: Seen) -> None:
    """Answers once the test opens the gate; notices when nobody waits any more."""
    handler.connection.settimeout(0.05)
    while not handler.upstream.gate.is_set():
        try:
            if handler.connection.recv(1, socket.MSG_PEEK) == b"":
                raise OSError("hung up")
        except TimeoutError:
            continue
    handler.connection.settimeout(None)
    says("At last.")(handler, seen)


def pours(handler: Handler, seen: Seen) -> None:
    """Streams until somebody hangs up."""
    handler.begin_events()
    first, *_ = events_of(seen, answer_to(seen, "x", (), 1))
    handler.chunk(first)
    while True:
        handler.chunk(b": " + b"x" * 4096 + b"\n\n")


# --------------------------------------------------------------------------------------------------- answers


def answer_to(seen: Seen, text: str, calls: tuple[str, ...], number: int) -> Json:
    if "/chat/completions" in seen.path:
        tools = [
            {"id": f"call_{number}_{name}", "type": "function", "function": {"name": name, "arguments": "{}"}}
            for name in calls
        ]
        message: Json = {"role": "assistant", "content": text or None}
        if tools:
            message["tool_calls"] = tools
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if tools else "stop"}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": seen.body.get("model"),
            "choices": [choice],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
    content: list[Json] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}_{name}", "name": name, "input": {}} for name in calls
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": seen.body.get("model"),
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def events_of(seen: Seen, answer: Json) -> Iterator[bytes]:
    """An answer in events, its texts cut into pieces."""
    if "choices" in answer:
        yield from _chunks(answer)
        return
    for event in _events(answer):
        yield f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _events(message: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            yield {"type": "content_block_start", "index": index, "content_block": {**block, "text": ""}}
            for piece in pieces(block["text"]):
                delta = {"type": "text_delta", "text": piece}
                yield {"type": "content_block_delta", "index": index, "delta": delta}
        else:
            yield {"type": "content_block_start", "index": index, "content_block": block}
            delta = {"type": "input_json_delta", "partial_json": "{}"}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _chunks(answer: Json) -> Iterator[bytes]:
    def chunk(delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        part = {**answer, "object": "chat.completion.chunk", "choices": [choice], "usage": None}
        return f"data: {json.dumps(part, ensure_ascii=False)}\n\n".encode()

    [choice] = answer["choices"]
    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(choice["message"]["content"] or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(choice["message"].get("tool_calls", ())):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, choice["finish_reason"])
    yield b"data: [DONE]\n\n"


def pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]
