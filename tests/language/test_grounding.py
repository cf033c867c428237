"""Whether a text says more than was said."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.language.grounding import Grounds
from holdfast.language.model_call import as_data, object_in
from tests.requirements_ledger import requirement

SAID = (
    "Miriam owns billing since January; the deadline is May 3. We have three servers, call me tomorrow. "
    "Port 5432 is open, we back it up at 7."
)
GROUNDS = Grounds([(SAID, date(2026, 3, 1))])


@requirement("sem.extract")
@pytest.mark.parametrize(
    "text",
    [
        "Miriam owns billing.",
        "The user's deadline is 2026-05-03.",
        "There are 3 servers.",
        "Call the user on 2026-03-02.",
        "Billing is Miriam's since 2026-01.",
        "Backups run at 07:00.",
        "Port 5432 is open.",
    ],
)
def test_what_was_said_in_other_words_is_not_strange(text: str) -> None:
    assert GROUNDS.strange(text) == []


@requirement("sem.extract")
@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("Otto owns billing.", ["Otto"]),
        ("Billing is owned by Otto Meyer.", ["Otto", "Meyer"]),
        ("Kafka is used.", ["Kafka"]),
        ("It is down. Zürich knows.", ["Zürich"]),
        ("The deadline is 2026-05-04.", ["2026-05-04"]),
        ("The deadline is 2031-05-03.", ["2031-05-03"]),
        ("It began on 2026-01-03.", ["2026-01-03"]),
        ("There are 4 servers.", ["4"]),
        ("Port 5433 is open.", ["5433"]),
    ],
)
def test_what_nobody_said_is_found(text: str, strange: list[str]) -> None:
    assert GROUNDS.strange(text) == strange


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_held_against_any_other(said: str, text: str) -> None:
    grounds = Grounds([(said, date(2026, 3, 1)), (said, None)])

    assert all(isinstance(found, str) for found in grounds.strange(text))


@requirement("trust.loop")
@given(st.text(max_size=300))
def test_no_text_ends_its_line_or_opens_a_tag(text: str) -> None:
    line = as_data(text=text)

    assert len(line.splitlines()) == 1 or any(sign in line for sign in "\x0b\x0c\x1c\x1d\x1e\x85")
    assert "\n" not in line
    assert "<" not in line
    assert object_in(line)["text"] == text
