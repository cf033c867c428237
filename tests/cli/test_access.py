"""`holdfast access`: who read what, in a space that records it."""

from __future__ import annotations

from holdfast.engine.doors import DOOR
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


@requirement("trust.access_log")
def test_what_the_command_line_shows_is_recorded_and_listed(shell: Shell) -> None:
    off = shell.says("access")
    memory = shell.json("remember", "Ada likes green tea")["memory"]["id"]
    changed = shell.says("space", "change", "default", "--access-log", "30d")
    shell.says("show", memory)

    said = shell.says("access", "--memory", memory)
    listed = shell.json("access")

    assert "keeps no access log" in off
    assert "access log: kept for 30 days" in changed
    assert memory in said
    assert "command line" in said
    assert "this machine's user" in said
    assert [one["verb"] for one in listed["accesses"] if memory in one["memories"]] == ["show"]
    assert (listed["on"], listed["days"]) == (True, 30)
    assert "green tea" not in said


@requirement("trust.access_log")
def test_the_entry_about_the_log_itself_names_the_command_line(sqlite_shell: Shell) -> None:
    DOOR.set("python")  # an earlier command of this process has left its own
    sqlite_shell.in_space("team", "default")

    sqlite_shell.says("space", "change", "team", "--access-log", "30d")

    [switched] = sqlite_shell.json("access", "--space", "team")["accesses"]
    assert (switched["verb"], switched["door"]) == ("access_log_on", "command line")


def test_a_time_that_is_none_is_refused(shell: Shell) -> None:
    for wrong in ("soon", "5h"):
        result = shell("space", "change", "default", "--access-log", wrong)

        assert result.exit_code == 1
        assert "access-log" in result.output


@requirement("trust.quotas")
def test_a_quota_of_a_space_is_set_shown_met_and_taken_away(shell: Shell) -> None:
    shell.says("remember", "Ada likes green tea")
    changed = shell.says("space", "change", "default", "--max-memories", "1")

    full = shell("remember", "The build takes nine minutes")

    shown = shell.says("space", "show", "default")
    assert "quota: 1 memories" in changed
    assert full.exit_code == 1
    assert "1 are in use, and this would add 1; nothing was stored" in full.output
    assert "holdfast space change default --max-memories" in full.output
    assert "1 memories, 0 messages, 19 bytes of text" in shown
    assert "quota: none" in shell.says("space", "change", "default", "--max-memories", "none")
