"""`holdfast capture`: what people see, and what programs read."""

from __future__ import annotations

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


def hears(shell: Shell, text: str, session: str = "s") -> None:
    with Memories.of(open_store(shell.db), "default", clock=shell.clock) as memories:
        memories.say(session, "user", text)


def test_what_waits_is_read_and_told_once(sqlite_shell: Shell) -> None:
    hears(sqlite_shell, "Petra is our landlord.")

    said = sqlite_shell.says("capture")

    assert said.startswith("Session s: 1 message read\n")
    assert "Petra is our landlord." in said
    assert sqlite_shell.says("capture") == "Nothing to read: everything is up to date\n"


def test_one_session_can_be_asked_for(sqlite_shell: Shell) -> None:
    hears(sqlite_shell, "Petra is our landlord.", "a")
    for number in range(10):  # so many that they are due at once
        hears(sqlite_shell, f"Our server number {number} is called host-{number}.", "other")
        hears(sqlite_shell, f"Our server number {number} is called host-{number}.", "third")

    answer = sqlite_shell.json("capture", "--session", "a")

    (read,) = answer["sessions"]
    assert (read["session"], read["messages"], len(read["outcomes"])) == ("a", 1, 1)
    refused = sqlite_shell("capture", "--session", "b")
    assert refused.exit_code == 1
    assert "there is no session 'b'" in refused.output


@requirement("trust.quiet")
def test_where_it_is_quiet_it_says_so(sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    hears(sqlite_shell, "Petra is our landlord.")
    monkeypatch.setenv("HOLDFAST_QUIET", "1")

    assert sqlite_shell.says("capture") == "Session s: skipped, HOLDFAST_QUIET is set\n"
    assert sqlite_shell.json("list")["memories"] == []
