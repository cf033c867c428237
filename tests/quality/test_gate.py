"""The measure of capture: what counts as captured, what as invented, and what capture reaches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.gate import Row, holds, invents, load, measure
from holdfast.app.wiring import open_builtin_model
from holdfast.language.extract import extract
from holdfast.language.wording import Utterance
from tests.requirements_ledger import requirement


def row(said: str, *facts: str) -> Row:
    return Row(
        id="r", messages=(("user", said),), remember=bool(facts), facts=facts, carried_by=facts, why=""
    )


def captured(messages: Sequence[tuple[str, str]]) -> list[str]:
    said = [Utterance(role, text) for role, text in messages]
    return [
        one.content
        for place, turn in enumerate(said)
        for one in extract(said[max(place - 2, 0) : place], turn, open_builtin_model())
    ]


def test_a_fact_is_captured_with_its_names_its_numbers_and_most_of_its_words() -> None:
    said = row("Petra pays 40 euros a month for the parking space.")
    fact = "Petra pays 40 euros monthly for parking"

    assert holds("Petra pays 40 euros a month for the parking space.", fact, said)
    assert not holds("Someone pays 40 euros a month for the parking space.", fact, said)
    assert not holds("Petra pays euros a month for the parking space.", fact, said)
    assert not holds("Petra has 40 cats.", fact, said)


def test_numbers_in_words_and_full_hours_count_as_numbers() -> None:
    said = row("Logs go after ninety days, at 8 in the morning.")

    assert holds("Logs go after ninety days, at 8 in the morning.", "Logs go after 90 days at 8:00", said)


def test_names_and_numbers_that_nobody_said_are_invented_and_resolved_days_are_not() -> None:
    said = "Bruno moved to Graz last week."

    assert not invents("Bruno moved to Graz last week (the week of 2026-02-23).", said)
    assert not invents("The user said: Bruno moved to Graz.", said)
    assert invents("Bruno moved to Linz last week.", said)
    assert invents("Bruno moved to Graz 3 weeks ago.", said)


def test_the_report_has_shares_and_every_pair() -> None:
    rows = [
        row("Remember that Petra pays 40 euros.", "Petra pays 40 euros"),
        row("What time is it?"),
        row("We decided to use Rust.", "They use Rust"),
    ]

    report = measure(lambda messages: ["Petra pays 40 euros", "Olaf"][: "Petra" in messages[0][1]], rows)

    assert report.metrics() == {
        "accuracy": 0.6667,
        "precision": 1.0,
        "recall": 0.5,
        "captured": 0.5,
        "invented": 0.0,
    }
    assert report.as_json()["pairs"][0]["memories"] == ["Petra pays 40 euros"]


@requirement("models.shipped")
@pytest.mark.slow
def test_capture_carries_over_to_conversations_that_the_reader_was_not_trained_on() -> None:
    found = measure(captured, load()[:200]).metrics()

    assert found["accuracy"] >= 0.70
    assert found["captured"] >= 0.50
    assert found["invented"] == 0


@pytest.mark.parametrize(
    "line", ["no json", "[]", '{"id": "1"}', '{"id": "1", "messages": [], "facts": [], "remember": "yes"}']
)
def test_a_line_of_another_form_is_named(line: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    good = {"id": "1", "messages": [{"role": "user", "text": "hi"}], "facts": [], "remember": False}
    file.write_text(f"{json.dumps(good)}\n{line}\n", encoding="utf-8")

    with pytest.raises(ValueError, match="line 2"):
        load(file)
