"""A server on this machine that plays Ollama or an OpenAI-compatible one, well or badly."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.loopback import Answer, Loopback

DIMENSIONS = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came in."""

    path: str
    headers: dict[str, str]
    texts: list[str]


Play = Callable[[Asked], Answer]


class StandIn(Loopback):
    """Plays by `play`, which may be changed at any time, and remembers what it was asked."""

    def __init__(self, play: Play | None = None) -> None:
        super().__init__()
        self.play = play or well
        self.asked: list[Asked] = []
        self.probed: list[str] = []
        self.hangs = False  # whether it takes connections and then says nothing

    def got(self, path: str) -> Answer:
        self.probed.append(path)
        return Answer(None) if self.hangs else Answer(b"here")

    def sent(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        asked = Asked(path, headers, body["input"])
        self.asked.append(asked)
        return self.play(asked)


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
        "answered 404 (is the model name right?)",
    ),
    "wants another key": (lambda _: Answer(b"", 401), "answered 401 (is the key right?)"),
    "moved": (lambda _: Answer(b"", 307, {"Location": "http://127.0.0.1:9/api/embed"}), "redirects to"),
    "a page": (lambda _: Answer(b"<html><h1>It works!</h1>"), "did not return JSON"),
    "half an answer": (lambda asked: Answer((well(asked).body or b"")[:-9]), "did not return JSON"),
    "breaks off": (
        lambda asked: Answer((well(asked).body or b"")[:-9], promised=9_000_000),
        "closed the connection early",
    ),
    "nested without end": (lambda _: Answer(b"[" * 200_000), "did not return JSON"),
    "another form": (lambda _: as_json({"vectors": []}), "instead of vectors"),
    "a list": (lambda _: as_json([]), "instead of vectors"),
    "fewer vectors": (
        lambda asked: vectors(asked, [vector_of(text) for text in asked.texts[1:]]),
        "returned 0 vectors for 1 texts",
    ),
    "no vector": (lambda asked: vectors(asked, []), "returned 0 vectors for 1 texts"),
    "empty vectors": (changed(lambda _: []), "not a list of numbers"),
    "zeros": (changed(lambda row: [0.0] * len(row)), "a vector of zeros"),
    "not a number": (changed(lambda row: [math.nan, *row[1:]]), "not finite"),
    "infinite": (changed(lambda row: [math.inf, *row[1:]]), "not finite"),
    "beyond all floats": (changed(lambda row: [10**400, *row[1:]]), "not finite"),
    "texts for numbers": (changed(lambda row: [str(number) for number in row]), "not a list of numbers"),
    "nothing for a number": (changed(lambda row: [None, *row[1:]]), "not a list of numbers"),
}
