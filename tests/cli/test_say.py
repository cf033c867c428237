"""What is shown to people: stored text can't steer a terminal, numbers and counts read well."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli import outcome_texts, say
from holdfast.cli.tables import Table, TableColumn
from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import Added, Contradicting, Waiting

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVIL = "\x1b[2J\x1b]0;title\x07 [red]bold[/red] \u202eright\r\nnext\x9b31m"


def memory(content: str = "Lives in Lisbon", **fields: object) -> Memory:
    values = {"id": "a1b2c3d4", "space": "default", "category": "fact", "content": content}
    moments = {"created_at": NOW, "updated_at": NOW, "confirmed_at": NOW}
    return Memory(**{**values, **moments, **fields})  # type: ignore[arg-type]


@given(st.text())
def test_no_text_can_steer_a_terminal(text: str) -> None:
    shown = say.one_line(text)

    assert all(letter.isprintable() or letter.isspace() for letter in shown if letter < "\xa0")
    assert "\x1b" not in shown
    assert "\n" not in shown


def test_escapes_are_written_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = say.line(memory(EVIL, subject=EVIL, category=EVIL))
    table = Table([TableColumn(title="content", wraps=True)])
    table.rows.append([EVIL])
    monkeypatch.setattr("holdfast.cli.tables.on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    table.show()

    assert "\\x1b[2J\\x1b]0;title\\x07 [red]bold[/red] \\u202eright" in shown
    assert "\\x1b[2J\\x1b]0;title\\x07 [red]bold[/red] \\u202eright" in capsys.readouterr().out


@pytest.mark.parametrize("columns", ["10", "30", "60"])
def test_on_a_narrow_terminal_no_column_of_a_table_is_lost_or_cut(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    titles = [
        TableColumn(title="service"),
        TableColumn(title="last"),
        TableColumn(title="another", wraps=True, least=20),
    ]
    table = Table(titles)
    table.rows.append(["jellyfin", "2026-11-15 20:34 success", "not before 2026-11-15 23:34 UTC"])
    monkeypatch.setattr("holdfast.cli.tables.on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", columns)

    table.show()

    shown = capsys.readouterr().out
    assert "…" not in shown
    for words in ("jellyfin", "2026-11-15 20:34 success", "another", "not before"):
        assert words in shown


def test_text_that_steers_nothing_is_shown_as_it_is() -> None:
    assert (
        say.visible("café 漢字 \U0001f468\u200d\U0001f469\n\tx")
        == "café 漢字 \U0001f468\u200d\U0001f469\n\tx"
    )


@pytest.mark.parametrize(
    ("value", "shown"), [(0.7, "0.7"), (1.0, "1"), (0.0, "0"), (0.8500000001, "0.85"), (0.1234, "0.1234")]
)
def test_numbers_have_no_trailing_zeros(value: float, shown: str) -> None:
    assert say.number(value) == shown


def test_counts_agree_with_their_nouns() -> None:
    assert (say.memories(1), say.memories(1200), say.count(0, "link")) == (
        "1 memory",
        "1,200 memories",
        "0 links",
    )


def test_near_calls_are_named() -> None:
    said = outcome_texts.outcome(Added(memory(), (memory("Lived in Lisbon", id="e5f6g7h8"),)))

    assert (
        "  Similar: e5f6g7h8  [fact] Lived in Lisbon (confidence 0.7)".split()
        == _plain(said).splitlines()[1].split()
    )


def test_a_profile_without_weights_shows_no_confidence() -> None:
    outcome = Contradicting(memory(), (memory("Lives in Porto", id="e5f6g7h8"),))

    assert "0.7" not in outcome_texts.outcome(outcome, weighed=False)


def test_a_waiting_memory_says_why() -> None:
    said = _plain(outcome_texts.outcome(Waiting(memory(), "it came from tool", (memory(id="e5f6g7h8"),))))

    assert "  Reason: it came from tool\n  Existing: e5f6g7h8" in said


def _plain(text: str) -> str:
    import click

    return click.unstyle(text)
