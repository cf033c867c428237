"""Days that a question names, and how near a moment lies to them."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.language.named_days import named_days, nearness

TODAY = date(2026, 3, 11)  # a Wednesday


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what happened on 5 May, 2023", date(2023, 5, 5), date(2023, 5, 5)),
        ("what happened on the 5th of May 2023?", date(2023, 5, 5), date(2023, 5, 5)),
        ("what happened on May 5th, 2023", date(2023, 5, 5), date(2023, 5, 5)),
        ("what happened on Sept 5 2023", date(2023, 9, 5), date(2023, 9, 5)),
        ("what happened on 2023-05-05", date(2023, 5, 5), date(2023, 5, 5)),
        ("what happened on 5 May", date(2025, 5, 5), date(2025, 5, 5)),
        ("what happened on 5 February", date(2026, 2, 5), date(2026, 2, 5)),
        ("what happened in July 2023?", date(2023, 7, 1), date(2023, 7, 31)),
        ("what happened in July?", date(2025, 7, 1), date(2025, 7, 31)),
        ("what happened in February?", date(2026, 2, 1), date(2026, 2, 28)),
        ("what happened in 2022?", date(2022, 1, 1), date(2022, 12, 31)),
        ("what did I say yesterday", date(2026, 3, 10), date(2026, 3, 10)),
        ("what did I say the day before yesterday", date(2026, 3, 9), date(2026, 3, 9)),
        ("what did I say this morning", TODAY, TODAY),
        ("what did we decide last week?", date(2026, 3, 2), date(2026, 3, 8)),
        ("what did we decide last weekend?", date(2026, 3, 7), date(2026, 3, 8)),
        ("what did we decide last month?", date(2026, 2, 1), date(2026, 2, 28)),
        ("what did we decide last year?", date(2025, 1, 1), date(2025, 12, 31)),
        ("what did we decide last Wednesday?", date(2026, 3, 4), date(2026, 3, 4)),
        ("what did we decide on Monday?", date(2026, 3, 9), date(2026, 3, 9)),
        ("where did we go last summer?", date(2025, 6, 1), date(2025, 8, 31)),
        ("where did we go in the past week?", date(2026, 3, 4), TODAY),
        ("where did we go in the last 3 days?", date(2026, 3, 8), TODAY),
        ("what did I ask two days ago?", date(2026, 3, 9), date(2026, 3, 9)),
        ("what did I ask a week ago?", date(2026, 3, 1), date(2026, 3, 7)),
    ],
)
def test_days_are_understood(question: str, first: date, last: date) -> None:
    [days] = named_days(question, TODAY)

    assert (days.first, days.last) == (first, last)


@pytest.mark.parametrize(
    "question",
    ["may I march on?", "what happened on 2023-02-31", "room 2024", "", "next week", "in 1066", "the 5th"],
)
def test_what_names_no_day_is_no_day(question: str) -> None:
    assert named_days(question, TODAY) == ()


def test_what_was_told_soon_after_is_near() -> None:
    days = named_days("what happened on 5 May 2023", TODAY)
    day = date(2023, 5, 5)

    assert nearness(day, days) == 1
    assert 0 < nearness(day + timedelta(7), days) < 1
    assert 0 < nearness(day - timedelta(3), days) < 1
    assert nearness(day + timedelta(14), days) == 0
    assert nearness(day - timedelta(7), days) == 0


def test_without_a_year_the_latest_is_nearest_but_others_are_near() -> None:
    july = named_days("what happened in July", TODAY)

    assert nearness(date(2025, 7, 9), july) == 1
    assert 0.5 < nearness(date(2023, 7, 9), july) < 1
    assert 0 < nearness(date(2025, 8, 9), july) < 0.5
    assert nearness(date(2025, 10, 9), july) == 0


def test_people_err_about_the_year() -> None:
    july = named_days("what happened in July 2023", TODAY)

    assert nearness(date(2023, 7, 9), july) == 1
    assert nearness(date(2022, 7, 9), july) == 0.5
    assert nearness(date(2023, 9, 9), july) == 0


WORDS = st.sampled_from(
    "last past on in ago 9999 99 2 0 the few a week weeks day month years year monday february 29 31 2023 "
    "2023-02-30 0001-01-01 9999-12-31 summer winter yesterday 12th sept may march of,".split()
)


@given(st.lists(WORDS, max_size=8).map(" ".join), st.dates(), st.dates())
def test_no_question_and_no_day_break_it(question: str, asked_on: date, at: date) -> None:
    assert 0 <= nearness(at, named_days(question, asked_on)) <= 1
