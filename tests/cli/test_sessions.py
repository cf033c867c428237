"""`holdfast sessions` and `undo-session` by name."""

from __future__ import annotations

import pytest

from holdfast import Memories
from tests.cli.conftest import Shell


def worked(shell: Shell) -> None:
    shell.says("remember", "The build needs Node 22", "--session", "run-1")
    with Memories.open(shell.db, "default", clock=shell.clock) as memories:
        memories.say("run-1", "user", "Why does the build fail?")
        memories.say("run-1", "assistant", "It needs Node 22")


def test_sessions_are_listed_shown_and_named(shell: Shell) -> None:
    worked(shell)

    listed = shell.says("sessions").splitlines()
    assert listed[2:] == ["1 session"]
    assert listed[1].split()[2:8] == ["Why", "does", "the", "build", "fail?", "-"]
    shown = shell.says("sessions", "show", "why does")
    assert "user: Why does the build fail?" in shown
    assert "The build needs Node 22" in shown.split("Memories")[1]

    assert shell.says("sessions", "name", "last", "The build") == "Named session run-1: The build\n"
    [told] = shell.json("sessions")["sessions"]
    assert (told["title"], told["counts"]) == ("The build", [2, 1])
    assert shell.says("sessions", "--space", "default", "--limit", "1").count("The build") == 1


def test_on_a_terminal_a_session_shows_the_beginning_of_its_id(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ("0b6c5d5e-aaaa-4f1c-9a3e-1f0e6b7c8d9a", "0b6c5d5e-bbbb-4f1c-9a3e-1f0e6b7c8d9a")
    with Memories.open(shell.db, "default", clock=shell.clock) as memories:
        for known in ids:
            memories.open_session(known, client="claude-code")
        memories.close_session(ids[0], exit_code=3)
    for place in ("say", "tables"):
        monkeypatch.setattr(f"holdfast.cli.{place}.on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")

    shown, wide = shell.says("sessions"), shell.says("sessions", "--wide")

    assert all(known[:12] in shown and known[:13] not in shown and known in wide for known in ids)
    assert "(exit code 3)" in shown
    assert shell.json("sessions", "show", ids[0][:12])["conversation"]["session"]["id"] == ids[0]


def test_a_session_is_undone_by_its_name(shell: Shell) -> None:
    worked(shell)

    which = "session run-1 “Why does the build fail?”, started 2026-03-01 12:00 UTC\n"

    [gone] = shell.json("list")["memories"]
    said = shell.says("undo-session", "why does the build fail?")

    assert said.startswith(f"Undid {which}Deleted ")
    assert said.endswith(f"  Restore what was deleted with `holdfast restore {gone['id']}`\n")
    assert shell.says("undo-session", "last") == f"Nothing to undo in {which}"


@pytest.mark.parametrize("profile", ["default", "ops"])
def test_the_printed_command_restores_what_an_undo_deleted(shell: Shell, profile: str) -> None:
    space = shell.in_space("own", profile)
    kept = [
        space.remembers(text, "-c", "timing", "--session", "run-1")
        for text in ("Needs Node 22", "Deploys on Mondays")
    ]

    said = space.says("undo-session", "run-1").splitlines()[-1]
    space.says(*said.split("`")[1].split()[1:])

    assert {memory["id"] for memory in space.json("list")["memories"]} == set(kept)


def test_the_last_session_to_undo_is_the_last_that_changed_a_memory(shell: Shell) -> None:
    worked(shell)
    shell.clock.advance(hours=1)
    with Memories.open(shell.db, "default", clock=shell.clock) as memories:
        memories.say("run-2", "user", "Thank you")

    undone = shell.says("undo-session", "last")

    assert undone.startswith("Undid session run-1 ")
    counts = {one["session"]["id"]: one["counts"] for one in shell.json("sessions")["sessions"]}
    assert counts == {"run-1": [2, 0], "run-2": [1, 0]}


def test_a_session_that_is_not_there_is_said_with_how_to_find_one(shell: Shell) -> None:
    assert "`holdfast sessions` lists them" in shell("sessions", "show", "nobody").stderr
    assert "no session is known in space 'default' yet" in shell("sessions", "show", "last").stderr
    assert "no session has changed a memory in space 'default' yet" in shell("undo-session", "last").stderr
    assert shell.says("sessions") == "No sessions\n"


def test_a_list_of_some_sessions_says_how_to_see_the_rest(shell: Shell) -> None:
    with Memories.open(shell.db, "default", clock=shell.clock) as memories:
        for name in ("one", "two", "three"):
            memories.open_session(name, client="codex")
        memories.open_session("four", client="gemini")

    assert shell.says("sessions", "--limit", "2").endswith("\n1-2 of 4 sessions; next: --offset 2\n")
    assert shell.says("sessions", "--limit", "2", "--offset", "2").endswith("\n3-4 of 4 sessions\n")
    assert shell.says("sessions", "--agent", "codex").endswith("\n3 sessions\n")


def test_sessions_are_narrowed_by_agent_and_failure(shell: Shell) -> None:
    with Memories.open(shell.db, "default", clock=shell.clock) as memories:
        memories.open_session("one", client="codex", project="shop")
        memories.open_session("two", client="claude-code")
        memories.close_session("two", exit_code=1)

    def listed(*options: str) -> list[str]:
        return [each["session"]["id"] for each in shell.json("sessions", *options)["sessions"]]

    assert listed("--agent", "codex") == listed("--project", "shop") == ["one"]
    assert listed("--failed") == ["two"]
