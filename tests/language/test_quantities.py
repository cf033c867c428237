"""Which amounts, times and dates are found in a text, and which are one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.language.quantities import Quantity, equal, find_quantities


def only(text: str) -> Quantity:
    found = find_quantities(text.lower())
    assert len(found) == 1, found
    return found[0].quantity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("60 s", "1 minute"),
        ("60s", "a minute"),
        ("5 minutes", "300s"),
        ("90 s", "1.5 minutes"),
        ("half an hour", "30 min"),
        ("a quarter of an hour", "15 minutes"),
        ("15 days", "360 hours"),
        ("24h", "one day"),
        ("30 days", "a month"),
        ("six months", "half a year"),
        ("an hour and a half", "90 minutes"),
        ("two and a half hours", "150 min"),
        ("twice a day", "two times daily"),
        ("the 15th", "day 15"),
        ("forever", "indefinitely"),
        ("2 GB", "2048 MB"),
        ("6 gb", "6,144 MB"),
        ("weekly", "every seven days"),
        ("weekly", "once a week"),
        ("quarterly", "four times a year"),
        ("every 2 weeks", "every other week"),
        ("nightly", "every night"),
        ("500 euros", "EUR 500"),
        ("$20", "20 dollars"),
        ("40k", "40,000"),
        ("a million", "1,000,000"),
        ("three", "3"),
        ("twenty-one", "21"),
        ("9am", "nine in the morning"),
        ("9am", "09:00"),
        ("4pm", "16:00"),
        ("12am", "midnight"),
        ("quarter past eight", "8:15"),
        ("quarter to nine", "8:45"),
        ("half past nine", "9:30"),
        ("14 March", "14/03"),
        ("3 May 2019", "May 3rd, 2019"),
        ("3 May 2019", "2019-05-03"),
        ("3 May 2019", "3 May"),
        ("80 percent", "80%"),
        ("about 28 minutes", "half an hour"),
        ("60s", "58 seconds"),  # measured again
        ("60s", "55-65s"),
        ("a minute", "between 50 seconds and 70 seconds"),
        ("75 seconds", "30s to 2 minutes"),
        ("410 MB", "405 MB"),
    ],
)
def test_one_amount_in_two_forms_is_equal(one: str, other: str) -> None:
    assert equal(only(one), only(other))
    assert equal(only(other), only(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("60 s", "30 s"),
        ("60 s", "80-90s"),
        ("30 days", "29 days"),
        ("every 60 seconds", "every 61 seconds"),
        ("80%", "81%"),
        ("60 s", "60 minutes"),
        ("2 GB", "2.1 GB"),
        ("2 GB", "3 GB"),
        ("weekly", "daily"),
        ("9am", "9pm"),
        ("14 March", "15 March"),
        ("3 May 2019", "3 May 2021"),
        ("3.1", "3.10"),
        ("499", "502"),
        ("500 euros", "500 dollars"),
        ("about 40 GB", "roughly 4 GB"),
        ("60 s", "60 km"),
        ("a week", "forever"),
        ("a few seconds", "several minutes"),
        ("the 25th", "the 28th"),
    ],
)
def test_two_amounts_are_not_equal(one: str, other: str) -> None:
    assert not equal(only(one), only(other))


@pytest.mark.parametrize("text", ["write a new one", "docs/v2/index.html", "half marathon"])
def test_what_is_no_amount_is_left_alone(text: str) -> None:
    assert find_quantities(text) == []


def test_one_is_a_number_before_what_it_counts() -> None:
    assert only("has one sister").value == 1.0


AMOUNTS = ("5", "-3.5", "1,000", "20 %", "2 gb", "half an hour", "a dozen", "10:30", "$7", "eleven", "m", "")


@given(st.lists(st.sampled_from(AMOUNTS) | st.text(max_size=3)).map(" ".join))
def test_any_text_can_be_searched_and_nothing_overlaps(text: str) -> None:
    found = find_quantities(text.lower())

    assert all(one.end <= other.start for one, other in pairwise(found))


@given(st.integers(min_value=1, max_value=10_000))
def test_minutes_equal_their_seconds(minutes: int) -> None:
    assert equal(only(f"{minutes} minutes"), only(f"{minutes * 60} seconds"))
