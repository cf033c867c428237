"""One scale for all models: noise looks alike, order is kept, a model that is no use does no harm."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.calibration import BEST_NOISE, NOISE, Calibration, calibrated, fitted
from holdfast.domain.ranking import FLOOR, MEANING


def cosines(noise: float, spread: float, answer: float, size: int = 60) -> list[list[float]]:
    """A model's cosines: the right answers on the diagonal, noise everywhere else."""
    chance = random.Random(7)
    return [
        [answer if row == column else chance.gauss(noise, spread) for column in range(size)]
        for row in range(size)
    ]


@pytest.mark.parametrize(("noise", "spread"), [(0.04, 0.08), (0.75, 0.04), (0.5, 0.02), (-0.1, 0.2)], ids=str)
def test_the_noise_of_every_model_lies_in_one_place(noise: float, spread: float) -> None:
    seen = cosines(noise, spread, answer=0.9)

    found = fitted(seen)

    wrong = [[calibrated(c, found) for j, c in enumerate(row) if i != j] for i, row in enumerate(seen)]
    flat = [cosine for row in wrong for cosine in row]
    assert sum(flat) / len(flat) == pytest.approx(NOISE, abs=0.01)
    assert sum(map(max, wrong)) / len(wrong) == pytest.approx(BEST_NOISE, abs=0.01)


def test_noise_alone_stays_under_the_floor() -> None:
    found = fitted(cosines(0.75, 0.04, answer=0.85))

    assert MEANING * calibrated(0.75, found) < FLOOR / 2
    assert MEANING * calibrated(0.93, found) > FLOOR


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20), st.floats(-1, 1), st.floats(0.001, 0.5))
def test_what_was_nearer_stays_nearer(seen: list[float], noise: float, spread: float) -> None:
    found = fitted(cosines(noise, spread, answer=1.0, size=10))

    assert sorted(seen) == sorted(seen, key=lambda cosine: (calibrated(cosine, found), cosine))


@pytest.mark.parametrize("same", [0.0, 0.7, 1.0])
def test_a_model_that_tells_nothing_apart_leaves_it_to_the_words(same: float) -> None:
    found = fitted([[same] * 20 for _ in range(20)])

    assert MEANING * calibrated(same, found) < FLOOR


def test_it_survives_its_row() -> None:
    found = Calibration(1.25, -0.05)

    assert Calibration.of_row(found.as_row()) == found
    assert Calibration.of_row(None) == Calibration()
    assert calibrated(0.3, Calibration()) == 0.3
