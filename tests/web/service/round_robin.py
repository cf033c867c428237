"""A proxy in front of several services: each request goes to the next of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle

import httpx2

HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"}


@contextmanager
def round_robin(addresses: Sequence[str]) -> Iterator[str]:
    """The address of a proxy that asks each of `addresses` in turn."""
    following, choosing = cycle(addresses), threading.Lock()

    class Forwarder(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            with choosing:
                address = next(following)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = [(name, value) for name, value in self.headers.items() if name.lower() not in HOP]
            url = f"{address}{self.path}"
            # Not one client for all: it would give the cookies of one browser to another.
            given = httpx2.request(self.command, url, headers=asked, content=body, timeout=60)
            self.send_response_only(given.status_code)
            for name, value in given.headers.multi_items():
                if name.lower() not in HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(given.content)))
            self.end_headers()
            self.wfile.write(given.content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Forwarder)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
