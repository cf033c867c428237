"""Parts of a whole, times in two units, and other amounts that are written out."""

from __future__ import annotations

import pytest

from holdfast.domain.compare.numerals import read_fraction
from holdfast.domain.compare.quantities import Quantity, equal, find_quantities


def only(text: str) -> Quantity:
    found = find_quantities(text.lower())
    assert len(found) == 1, found
    return found[0].quantity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a quarter of a minute", "15 seconds"),
        ("every quarter of a minute", "every 15 seconds"),
        ("three quarters of an hour", "45 minutes"),
        ("a third of an hour", "20 minutes"),
        ("every half hour", "every 30 minutes"),
        ("an hour and a quarter", "75 minutes"),
        ("an hour and twenty minutes", "80 minutes"),
        ("1 hour 30 minutes", "90 minutes"),
        ("2h 15m", "135 min"),
        ("a full hour", "60 minutes"),
        ("half a gigabit", "500 Mbit"),
        ("half a litre", "500 ml"),
        ("two thirds of", "66.7%"),
        ("three quarters full", "75 percent"),
        ("half empty", "50%"),
        ("the first of the month", "the 1st of each month"),
        ("ten past nine", "9:10"),
        ("twenty minutes to four in the afternoon", "15:40"),
        ("two dozen", "24"),
    ],
)
def test_an_amount_written_out_is_the_amount_in_figures(one: str, other: str) -> None:
    left, right = only(one), only(other)

    assert equal(left, right) or (
        left.kind == right.kind and left.value == pytest.approx(right.value, rel=1e-2)
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("between 5 minutes and 2 minutes", 1),  # a range, not a sum
        ("from 2 hours to 30 minutes", 2),
        ("five to ten minutes", 1),
        ("the first quarter", 0),
        ("half the size", 0),
    ],
)
def test_two_amounts_are_not_added_up_where_they_are_two(text: str, count: int) -> None:
    assert len(find_quantities(text)) == count


def test_a_third_one_is_no_third() -> None:
    assert only("a third server").kind == "ordinal"
    assert only("every quarter").kind == "period"


@pytest.mark.parametrize(("text", "value"), [("half", 0.5), ("a quarter", 0.25), ("two thirds", 2 / 3)])
def test_a_fraction_is_read(text: str, value: float) -> None:
    assert read_fraction(text) == pytest.approx(value)
