"""The inbox on the command line: what waits is shown, hidden from recall, and decided by a person."""

from __future__ import annotations

import click
import pytest

from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

JELLYFIN = ("-c", "timing", "-s", "jellyfin")


def doubted(shell: Shell) -> tuple[str, str]:
    """An operator's memory and a tool's contradiction of it, which waits."""
    known = shell.remembers("Takes 60s to start after restart", *JELLYFIN)
    answer = shell.json("remember", "Takes 30s to start after restart", *JELLYFIN, "--origin", "tool")
    assert answer["outcome"] == "waiting"
    return known, answer["memory"]["id"]


@requirement("trust.inbox", "trust.operator")
def test_a_doubtful_memory_waits_and_is_not_found(shell: Shell) -> None:
    known, waiting = doubted(shell)

    said = shell.says("inbox")
    answer = shell.json("inbox")

    assert said == (
        f"{waiting}  [timing] jellyfin: Takes 30s to start after restart\n"
        "  From tool, 2026-03-01 12:00 UTC; reason: it came from tool and contradicts the operator's "
        f"memory {known}\n"
        f"  Existing: {known}  [timing] jellyfin: Takes 60s to start after restart (confidence 0.7)\n"
        "1 memory waiting\n"
    )
    assert (answer["total"], answer["waiting"][0]["known"][0]["id"]) == (1, known)
    assert [hit["memory"]["id"] for hit in shell.json("recall", "jellyfin start")["hits"]] == [known]
    assert waiting not in shell.says("brief")


def test_a_terminal_gets_a_table_and_what_to_do_next(
    sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, waiting = doubted(sqlite_shell)
    for place in ("say", "tables"):
        monkeypatch.setattr(f"holdfast.cli.{place}.on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")

    said = click.unstyle(sqlite_shell.says("inbox"))

    assert said.splitlines()[1].split()[:3] == ["2026-03-01", waiting, "[timing]"]
    assert f"Existing: {known}" in said
    assert said.endswith("1 memory waiting: `holdfast inbox approve ID` or `holdfast inbox reject ID`\n")


@requirement("trust.inbox")
def test_an_approved_memory_comes_in_and_weakens_what_it_contradicts(shell: Shell) -> None:
    known, waiting = doubted(shell)

    said = shell.says("inbox", "approve", waiting)

    assert said == (
        f"Approved {waiting}  [timing] jellyfin: Takes 30s to start after restart (confidence 0.7)\n"
    )
    assert shell.json("show", known)["memory"]["confidence"] == 0.5
    assert shell.says("inbox") == "The inbox is empty\n"


@requirement("trust.inbox", "trust.tombstone")
def test_a_rejected_memory_does_not_come_back(shell: Shell) -> None:
    _, waiting = doubted(shell)

    said = shell.says("inbox", "reject", waiting)
    again = shell("remember", "Takes 30s to start after restart", *JELLYFIN)

    assert said.endswith("; it will not be proposed again\n")
    assert again.exit_code == 1
    assert "this was rejected on 2026-03-01 and is not stored again" in again.stdout


def test_of_several_all_are_approved_or_none(shell: Shell) -> None:
    known, waiting = doubted(shell)

    result = shell("inbox", "approve", waiting, known)

    assert result.exit_code == 1
    assert f"memory {known} is active, not waiting" in result.stderr
    assert shell.json("inbox")["total"] == 1


def test_the_outcome_says_what_to_do_next(sqlite_shell: Shell) -> None:
    known = sqlite_shell.remembers("Takes 60s to start after restart", *JELLYFIN)

    said = sqlite_shell.says("remember", "Takes 30s to start after restart", *JELLYFIN, "--origin", "tool")

    assert said.startswith("Waiting ")
    assert f"\n  Existing: {known}" in said
    assert "\n  Approve it with `holdfast inbox approve " in said


@requirement("trust.undo-session")
def test_a_session_is_taken_back(shell: Shell) -> None:
    known = shell.remembers("Takes 60s to start after restart", *JELLYFIN)
    wrong = shell.remembers("Takes 30s to start after restart", *JELLYFIN, "--session", "bad")
    liked = shell.remembers("Needs the database first", "-c", "dependency", "--session", "bad")
    shell.says("remember", "Needs the database first", "-c", "dependency", "--session", "good")

    said = shell.says("undo-session", "bad")

    assert said == (
        "Undid session bad, started 2026-03-01 12:00 UTC\n"
        f"Deleted {wrong}  [timing] jellyfin: Takes 30s to start after restart\n"
        f"Reverted {known}  [timing] jellyfin: Takes 60s to start after restart (confidence 0.7)\n"
        f"Kept {liked}  [dependency] Needs the database first (confidence 0.8): "
        "confirmed or revised by others since\n"
        "Removed 2 links\n"
        f"  Restore what was deleted with `holdfast restore {wrong}`\n"
    )
    again = shell.says("undo-session", "bad").splitlines()
    assert again[0] == "Nothing to undo in session bad, started 2026-03-01 12:00 UTC"
    assert again[1].startswith(f"Kept {liked}")


def test_tending_lets_fade_what_nobody_confirmed(shell: Shell) -> None:
    ops = shell.in_space("ops", "ops")
    weak = ops.remembers("Restarts at night", "-c", "behavior", "--confidence", "0.35")
    shell.clock.advance(days=38)

    said = ops.says("tend")

    assert said == (
        f"Decayed {weak}  [behavior] Restarts at night (0.35 -> 0.25, now inactive)\n"
        "1 memory decayed, 1 of them now inactive\n"
        "Undo with `holdfast undo-session fade-2026-04-08-120000 --space ops`\n"
    )
    nothing = {"decayed": [], "deactivated": 0, "archived": [], "proposed": []}
    assert ops.json("tend") == {
        **nothing,
        "embedded": 0,
        "trouble": None,
        "clock_doubt": None,
        "session": None,
    }
    assert ops.says("tend") == "Nothing to do: everything is up to date\n"
