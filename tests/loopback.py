"""A server on this machine that says what it is told to, and can break every rule of HTTP while doing so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(slots=True)
class Answer:
    """What to say; a body of None says nothing, ever, until the server ends."""

    body: bytes | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    promised: int | None = None  # bytes that are announced; as many as there are, unless it lies


class Loopback:
    """Answers by `got` and `sent`, which whoever plays a part defines."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server._tell(self, server.got(self.path))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server._tell(self, server.sent(self.path, dict(self.headers), body))

            def log_message(self, *_: object) -> None:
                """Nothing: the test says what matters."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def got(self, path: str) -> Answer:
        return Answer(b"", status=404)

    def sent(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        return Answer(b"", status=404)

    @contextmanager
    def running(self) -> Iterator[Self]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def _tell(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        if answer.body is None:
            self._ended.wait()
            return
        handler.send_response(answer.status)
        length = len(answer.body) if answer.promised is None else answer.promised
        for name, value in {"Content-Length": str(length), **answer.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(answer.body)
