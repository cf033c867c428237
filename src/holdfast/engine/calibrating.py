"""Calibrates an embedder when a space first uses it, with questions and answers that ship with the package.

About two hundred short texts are embedded. How cosines become a calibration stands in `domain.calibration`.
"""

import json
import struct
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from operator import mul

from holdfast.domain.calibration import Calibration, fitted
from holdfast.errors import Unavailable

_BATCH = 8  # questions at a time: a slow server has to answer each batch as fast as a question


def measured(
    name: str,
    documents: Callable[[Sequence[str]], Sequence[Sequence[bytes]]],
    queries: Callable[[Sequence[str]], Sequence[bytes]],
) -> Calibration:
    """How the cosines of the embedder of that name lie on the scale.

    Raises: Unavailable, when the embedder answers nonsense.
    """
    questions, answers = shipped()
    texts = [_numbers(parts[0]) for parts in documents(answers) if parts]
    asked = [
        _numbers(vector)
        for start in range(0, len(questions), _BATCH)
        for vector in queries(questions[start : start + _BATCH])
    ]
    if len(texts) != len(answers) or len(asked) != len(questions):
        raise Unavailable(f"the embedder {name} did not give a vector for each text")
    if len({len(vector) for vector in (*texts, *asked)}) > 1:
        raise Unavailable(f"the embedder {name} gave vectors of several sizes")
    return fitted([[sum(map(mul, question, text)) for text in texts] for question in asked])


@cache
def shipped() -> tuple[Sequence[str], Sequence[str]]:
    """Questions, and in the same order the texts that answer them."""
    lines = files("holdfast").joinpath("data", "calibration.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row["question"] for row in rows], [row["answer"] for row in rows]


def _numbers(vector: bytes) -> tuple[float, ...]:
    numbers = struct.unpack(f"<{len(vector) // 4}f", vector) if len(vector) % 4 == 0 else ()
    if not abs(sum(map(mul, numbers, numbers)) - 1) < 0.05:  # also where it is not a number
        raise Unavailable("the embedder gave a vector that is not of length 1")
    return numbers
