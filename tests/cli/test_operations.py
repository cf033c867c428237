"""events and cooldowns on the command line."""

from __future__ import annotations

import pytest

from holdfast import Memories
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


@pytest.fixture
def watched(ops: Shell, clock: FixedClock) -> Shell:
    with Memories.open(ops.db, "ops", clock=clock) as opened:
        agent = opened.speaking_as("assistant", session="run-1")
        agent.record_event("info", "All is up")
        agent.record_attempt("restart", "jellyfin", False, content="did not come back")
        clock.advance(hours=1)
        agent.record_event("critical", "Does not\nanswer", service="jellyfin")
        agent.record_attempt("restart", "jellyfin", True)
        agent.record_attempt("redeployment", "caddy", True, content="new image")
        clock.advance(hours=2)
        agent.record_attempt("restart", "adguard", True)
    return ops


@requirement("ops.events")
def test_events_are_listed_the_latest_first(watched: Shell) -> None:
    lines = watched.says("events").splitlines()

    assert lines[0].split() == ["when", "(UTC)", "level", "service", "event"]
    assert lines[1].split(maxsplit=4) == ["2026-03-01", "13:00", "critical", "jellyfin", "Does not answer"]
    assert lines[2].split(maxsplit=4) == ["2026-03-01", "12:00", "info", "general", "All is up"]


@requirement("ops.events")
def test_events_can_be_chosen(watched: Shell) -> None:
    assert len(watched.json("events", "--level", "info")["events"]) == 1
    assert len(watched.json("events", "--service", "jellyfin")["events"]) == 1
    assert len(watched.json("events", "--session", "run-1", "--limit", "1")["events"]) == 1
    (event,) = watched.json("events", "--level", "critical")["events"]
    assert {name: event[name] for name in event if name != "id"} == {
        "level": "critical",
        "service": "jellyfin",
        "content": "Does not answer",
        "session": "run-1",
        "created_at": "2026-03-01T13:00:00.000000Z",
    }


def test_without_events_that_is_said(ops: Shell) -> None:
    assert ops.says("events") == "No events\n"
    assert ops.json("events") == {"events": []}
    assert ops.says("cooldowns") == "No recent actions with a cooldown\n"


@requirement("ops.cooldowns")
def test_cooldowns_say_whether_another_is_allowed(watched: Shell) -> None:
    lines = [line.split("  ") for line in watched.says("cooldowns").splitlines()[1:]]
    rows = [[cell.strip() for cell in line if cell.strip()] for line in lines]

    assert rows == [
        ["adguard", "restart", "1 of 2 in 4 h", "2026-03-01 15:00 success", "allowed now"],
        [
            "caddy",
            "redeployment",
            "1 of 1 in 24 h",
            "2026-03-01 13:00 success",
            "from 2026-03-02 13:00 UTC",
        ],
        [
            "jellyfin",
            "restart",
            "2 of 2 in 4 h",
            "2026-03-01 13:00 success",
            "from 2026-03-01 16:00 UTC",
        ],
    ]


@requirement("ops.cooldowns")
def test_cooldowns_are_told_to_programs_with_all_attempts(watched: Shell, clock: FixedClock) -> None:
    (standing,) = watched.json("cooldowns", "--service", "jellyfin")["cooldowns"]
    clock.advance(hours=1)
    (later,) = watched.json("cooldowns", "--service", "jellyfin")["cooldowns"]

    assert (standing["action"], standing["most"], standing["hours"]) == ("restart", 2, 4)
    assert (standing["allowed"], standing["free_at"]) == (False, "2026-03-01T16:00:00.000000Z")
    assert [(done["succeeded"], done["content"]) for done in standing["attempts"]] == [
        (True, None),
        (False, "did not come back"),
    ]
    assert (later["allowed"], later["free_at"]) == (True, None)
