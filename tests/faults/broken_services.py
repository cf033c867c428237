"""Services that are there and no good: one that never answers, one that answers rubbish."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path

GARBAGE: list[bytes] = [
    b"",
    b"\x00\xff" * 500,
    b"220 smtp.example.com ESMTP\r\n",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n<html><body>It works!</body></html>",
    b'HTTP/1.1 200 OK\r\n\r\n{"context": "half of',
    b'HTTP/1.1 200 OK\r\n\r\n{"context": 5}',
    b'HTTP/1.1 200 OK\r\n\r\n["context"]',
    b"HTTP/1.1 200 OK\r\n\r\nnull",
    b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
    b"HTTP/1.1 500 Internal Server Error\r\n\r\nTraceback (most recent call last):",
    b'HTTP/1.1 401 Unauthorized\r\n\r\n{"context": "you should not see this"}',
    b'HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\n\r\n{"context": "nor this"}',
    b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 200_000,
    b'HTTP/1.1 200 OK\r\n\r\n{"context": "' + b"x" * 1_000_000 + b'"}',
]


class BrokenService:
    """Listens on loopback, is announced as the service, and deals with each connection as `deal` says."""

    def __init__(self, home: Path, deal: Callable[[socket.socket, int], None]) -> None:
        self.connections = 0
        self._deal = deal
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        port = self._listening.getsockname()[1]
        home.mkdir(parents=True, exist_ok=True)
        announced = {"url": f"http://127.0.0.1:{port}", "pid": os.getpid()}
        (home / "service.json").write_text(json.dumps(announced))
        (home / "token").write_text("a-token")
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        for number in count():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._handle, args=(connection, number), daemon=True).start()

    def _handle(self, connection: socket.socket, number: int) -> None:
        try:
            self._deal(connection, number)
        except OSError:  # the hook has left
            return

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        for connection in self._open:
            connection.close()


def never_answers(connection: socket.socket, _number: int) -> None:
    """Takes the request, or not even that, and keeps the connection open."""


def answers_rubbish(connection: socket.socket, number: int) -> None:
    connection.recv(65536)
    connection.sendall(GARBAGE[number % len(GARBAGE)])
    connection.close()


def drips(connection: socket.socket, _number: int) -> None:
    """A good answer, a byte at a time: no single wait is long, all together are."""
    stop = threading.Event()
    for byte in b'HTTP/1.1 200 OK\r\n\r\n{"context": "too late"}' + b" " * 1_000:
        connection.sendall(bytes([byte]))
        stop.wait(0.05)
