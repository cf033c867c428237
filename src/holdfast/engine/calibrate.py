"""Calibrates an embedder at its first use, with questions and answers that ship with the package.

Embeds about two hundred short texts. `domain.calibration` computes the calibration from the cosines.
"""

import json
import struct
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from operator import mul
from threading import Lock
from typing import TypeVar

from holdfast.domain.calibration import Calibration, fitted
from holdfast.engine.ports import TimeUp
from holdfast.errors import Unavailable

_BATCH = 8  # texts per batch: a slow server must answer each batch as fast as a single query
_Row = TypeVar("_Row")
Documents = Callable[[Sequence[str]], Sequence[Sequence[bytes]]]
Queries = Callable[[Sequence[str]], Sequence[bytes]]


class Measuring:
    """A calibration in progress: it can be interrupted and continued."""

    def __init__(self) -> None:
        self._texts: list[tuple[float, ...]] = []
        self._cosines: list[list[float]] = []  # cosine of each question with each text
        self._lock = Lock()

    def go_on(self, name: str, documents: Documents, queries: Queries, time_up: TimeUp) -> Calibration | None:
        """Continues, and returns the calibration; None if the time was up first.

        Raises: Unavailable, if the embedder returns invalid vectors.
        """
        questions, answers = shipped()
        while batch := answers[(done := len(self._texts)) :][:_BATCH]:
            texts = self._checked(name, batch, [parts[0] for parts in documents(batch) if parts])
            self._keep(self._texts, done, texts)
            if time_up():
                return None
        while batch := questions[(done := len(self._cosines)) :][:_BATCH]:
            asked = self._checked(name, batch, queries(batch))
            self._keep(
                self._cosines, done, [[sum(map(mul, one, text)) for text in self._texts] for one in asked]
            )
            if time_up():
                return None
        return fitted(self._cosines)

    def _keep(self, known: list[_Row], done: int, fresh: list[_Row]) -> None:
        """Appends vectors after the first `done`, unless another thread was faster."""
        with self._lock:
            if len(known) == done:
                known += fresh

    def _checked(self, name: str, texts: Sequence[str], vectors: Sequence[bytes]) -> list[tuple[float, ...]]:
        found = [_numbers(vector) for vector in vectors]
        if len(found) != len(texts):
            raise Unavailable(f"the embedder {name} did not return one vector per text")
        if len({len(vector) for vector in (*self._texts[:1], *found)}) > 1:
            raise Unavailable(f"the embedder {name} returned vectors of different sizes")
        return found


@cache
def shipped() -> tuple[Sequence[str], Sequence[str]]:
    """The shipped questions, and their answers in the same order."""
    lines = (
        files("holdfast.engine")
        .joinpath("data", "calibration.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    rows = [json.loads(line) for line in lines]
    return [row["question"] for row in rows], [row["answer"] for row in rows]


def _numbers(vector: bytes) -> tuple[float, ...]:
    numbers = struct.unpack(f"<{len(vector) // 4}f", vector) if len(vector) % 4 == 0 else ()
    if not abs(sum(map(mul, numbers, numbers)) - 1) < 0.05:  # also if it is NaN
        raise Unavailable("the embedder returned a vector that is not normalized to length 1")
    return numbers
