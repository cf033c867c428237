"""A server on this machine that plays Ollama or an OpenAI-compatible one, well or badly."""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came in."""

    path: str
    headers: dict[str, str]
    texts: list[str]


@dataclass(slots=True)
class Answer:
    """What to say; a body of None says nothing, ever, until the server ends."""

    body: bytes | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    promised: int | None = None  # bytes that are announced; as many as there are, unless it lies


Play = Callable[[Asked], Answer]


class StandIn:
    """Plays by `play`, which may be changed at any time, and remembers what it was asked."""

    def __init__(self, play: Play | None = None) -> None:
        self.play = play or well
        self.asked: list[Asked] = []
        self.probed: list[str] = []
        self.hangs = False  # whether it takes connections and then says nothing
        self.ended = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.probed.append(self.path)
                server.tell(self, Answer(None) if server.hangs else Answer(b"here"))

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(length))
                asked = Asked(self.path, dict(self.headers), body["input"])
                server.asked.append(asked)
                server.tell(self, server.play(asked))

            def log_message(self, *_: object) -> None:
                """Nothing: the test says what matters."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def tell(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        if answer.body is None:
            self.ended.wait()
            return
        handler.send_response(answer.status)
        length = len(answer.body) if answer.promised is None else answer.promised
        for name, value in {"Content-Length": str(length), **answer.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(answer.body)

    @contextmanager
    def running(self) -> Iterator[StandIn]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            self.ended.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def vector_of(text: str) -> list[float]:
    """A vector that texts with the same words share, prefixes left aside; not of length 1."""
    numbers = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.partition(": ")[2] or text):
        digest = hashlib.sha256(word.lower().encode()).digest()
        numbers[digest[0] % DIMENSIONS] += 3.0 if digest[1] % 2 else -3.0
    return numbers if any(numbers) else [1.0] * DIMENSIONS


def as_json(answer: object, **more: Any) -> Answer:
    # Python writes NaN and Infinity as such, as careless servers do.
    return Answer(json.dumps(answer).encode(), headers={"Content-Type": "application/json"}, **more)


def vectors(asked: Asked, rows: Sequence[object]) -> Answer:
    """`rows` in the form that the path asks for."""
    if asked.path.endswith("/api/embed"):
        return as_json({"model": "stand-in", "embeddings": rows})
    data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
    return as_json({"object": "list", "data": data[::-1]})  # in an order of its own


def well(asked: Asked) -> Answer:
    """As a good server does."""
    return vectors(asked, [vector_of(text) for text in asked.texts])


def changed(change: Callable[[list[float]], object]) -> Play:
    """Each vector of a good answer, changed."""
    return lambda asked: vectors(asked, [change(vector_of(text)) for text in asked.texts])


#: Faults by name: what the server does, and what is said of it.
FAULTS: dict[str, tuple[Play, str]] = {
    "never answers": (lambda _: Answer(None), "did not answer within"),
    "busy": (lambda _: Answer(b"slow down", 429), "answered 429: slow down"),
    "busy for an hour": (lambda _: Answer(b"", 429, {"Retry-After": "3600"}), "answered 429"),
    "broken": (lambda _: Answer(b"oh no", 500), "answered 500: oh no"),
    "without the model": (
        lambda _: as_json({"error": 'model "x" not found, try pulling it first'}, status=404),
        "answered 404 (is the model there?)",
    ),
    "wants another key": (lambda _: Answer(b"", 401), "answered 401 (is the key right?)"),
    "moved": (lambda _: Answer(b"", 307, {"Location": "http://127.0.0.1:9/api/embed"}), "redirects to"),
    "a page": (lambda _: Answer(b"<html><h1>It works!</h1>"), "answered no JSON"),
    "half an answer": (lambda asked: Answer((well(asked).body or b"")[:-9]), "answered no JSON"),
    "breaks off": (lambda asked: Answer((well(asked).body or b"")[:-9], promised=9_000_000), "broke off"),
    "nested without end": (lambda _: Answer(b"[" * 200_000), "answered no JSON"),
    "another form": (lambda _: as_json({"vectors": []}), "answered something else than vectors"),
    "a list": (lambda _: as_json([]), "answered something else than vectors"),
    "fewer vectors": (
        lambda asked: vectors(asked, [vector_of(text) for text in asked.texts[1:]]),
        "gave 0 vectors for 1 texts",
    ),
    "no vector": (lambda asked: vectors(asked, []), "gave 0 vectors for 1 texts"),
    "empty vectors": (changed(lambda _: []), "no list of numbers"),
    "zeros": (changed(lambda row: [0.0] * len(row)), "a vector of zeros"),
    "not a number": (changed(lambda row: [math.nan, *row[1:]]), "not finite"),
    "infinite": (changed(lambda row: [math.inf, *row[1:]]), "not finite"),
    "beyond all floats": (changed(lambda row: [10**400, *row[1:]]), "not finite"),
    "texts for numbers": (changed(lambda row: [str(number) for number in row]), "no list of numbers"),
    "nothing for a number": (changed(lambda row: [None, *row[1:]]), "no list of numbers"),
}
