"""Calibrating with the shipped questions: the figures of the default embedder are the constants."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import pytest

from holdfast.domain.calibration import BEST_NOISE, Calibration, calibrated
from holdfast.engine.calibrate import Measuring, shipped
from holdfast.errors import Unavailable
from holdfast.models.embedders import BuiltinEmbedder


class Broken:
    """Gives vectors that are the same for all texts, some of them missing or spoilt."""

    name = "broken"

    def __init__(self, *, texts: int = 0, questions: int = 0, size: int = 4, number: float = 0.5) -> None:
        self.left_out = texts, questions
        self.size = size
        self.vector = struct.pack("<4f", *[number] * 4)

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        return [[self.vector] for _ in texts[self.left_out[0] :]]

    def queries(self, texts: Sequence[str]) -> list[bytes]:
        vector = self.vector if self.size == 4 else struct.pack("<f", 1.0)
        return [vector for _ in texts[self.left_out[1] :]]


def measured(embedder: Broken | BuiltinEmbedder) -> Calibration:
    found = Measuring().go_on(embedder.name, embedder.documents, embedder.queries, lambda: False)
    assert found is not None
    return found


def test_the_questions_are_many_and_of_each_kind_and_none_is_twice() -> None:
    questions, answers = shipped()

    assert len(questions) == len(answers) == 100
    assert len({*questions, *answers}) == 200


@pytest.mark.slow
def test_the_constants_are_the_defaults_own_figures() -> None:
    default = BuiltinEmbedder()

    found = measured(default)

    assert found.scale == pytest.approx(1.0, abs=0.02)
    assert found.offset == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    "broken",
    [
        Broken(texts=1),
        Broken(questions=1),
        Broken(size=1),
        Broken(number=0.0),
        Broken(number=9.0),
        Broken(number=math.nan),
        Broken(number=math.inf),
    ],
    ids=[
        "a text left out",
        "a question left out",
        "of two sizes",
        "zeros",
        "long",
        "not a number",
        "infinite",
    ],
)
def test_nonsense_is_no_calibration(broken: Broken) -> None:
    with pytest.raises(Unavailable):
        measured(broken)


def test_a_model_that_tells_nothing_apart_is_calibrated_to_say_nothing() -> None:
    same = Broken()

    found = measured(same)

    assert calibrated(1.0, found) == pytest.approx(BEST_NOISE)
