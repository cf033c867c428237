"""`holdfast status` and `holdfast uninstall`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.app import paths
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

CLONE = '{"url": "file:///me/clone", "dir_info": {}}'
EDITABLE = '{"url": "file:///me/clone", "dir_info": {"editable": true}}'


@pytest.fixture
def no_manager(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without systemd."""
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def own(sqlite_shell: Shell, no_manager: None) -> Shell:
    """The store of this user's home, with a memory and a connected agent."""
    (Path.home() / ".claude.json").write_text('{"numStartups": 3}\n')
    shell = Shell(paths.database(), sqlite_shell.clock)
    shell.says("remember", "The build needs Node 22")
    shell.says("connect", "claude-code")
    return shell


def test_status_says_at_a_glance_what_is_there(own: Shell) -> None:
    said = own.says("status")

    assert f"service  not running; start it with `{paths.shell_command()} up`" in said
    assert "agents  Claude Code" in said
    assert "hooks  no brief given yet; no failure in the last 24 hours" in said
    assert "memories  1 in 1 space" in said
    assert "inbox  0 waiting" in said
    assert "models  $0.00 today in 0 calls" in said
    assert f"{paths.database()}, " in said
    assert "GiB free" in said
    assert said.splitlines()[-1].split() == ["default", "default", "1", "0", "0", "0", "0"]
    told = own.json("status")
    assert (told["service"], told["clients"]) == (None, ["Claude Code"])
    assert told["spaces"][0]["active"] == 1


def test_status_says_when_an_agent_was_given_a_brief_and_what_waits(own: Shell) -> None:
    with Memories.open(paths.database(), clock=own.clock) as memories:
        memories.open_session("s1", client="codex")
        memories.speaking_as("assistant", session="s1").brief()
    own.says("import", "-", "--review", stdin="Plays the violin\n")

    said = own.says("status")

    assert "hooks  last brief 2026-03-01 12:00 UTC to codex; no failure" in said
    assert f"inbox  1 waiting; review with `{paths.shell_command()} inbox`" in said
    assert own.json("status")["last_brief"] == "2026-03-01T12:00:00.000000Z"


def test_status_and_list_say_how_many_sessions_are_still_to_be_read(own: Shell) -> None:
    with Memories.open(paths.database(), clock=own.clock) as memories:
        for session in ("s1", "s2"):
            memories.say(session, "user", "We deploy on Mondays")
        assert "reading" not in own.says("status")  # a session goes on for a while
        own.clock.advance(minutes=10)

        before, listed = own.says("status"), own.says("list")
        memories.capture_due()

        assert "reading  0 of 2 sessions; the service reads the rest once it runs\n" in before
        assert listed.endswith("\n2 sessions still to be read; more memories may come\n")
        assert own.json("status")["unread_sessions"] == 1
        assert "reading  1 of 2 sessions; " in own.says("status")
        memories.capture_due()
    assert "reading" not in own.says("status")
    assert "still to be read" not in own.says("list")


@requirement("first.commands")
def test_printed_commands_work_as_they_are_printed(own: Shell) -> None:
    own.says("space", "create", "ops", "--profile", "ops")

    said = own("show", "nowhere0", "--space", "ops").stderr

    [command] = re.findall(r"`([^`]+)`", said)
    listed = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert command.endswith("holdfast list --space ops")
    assert "--space ops" in listed.stdout  # where it says how to add one


def test_uninstall_disconnects_agents_and_keeps_memories(own: Shell) -> None:
    settings = Path.home() / ".claude" / "settings.json"
    planned = own.says("uninstall", "--dry-run")
    assert settings.is_file()

    said = own.says("uninstall", "--yes")

    assert "Would stop the service" in planned
    assert "Disconnected Claude Code" in said
    assert f"Memories are kept in {paths.home()}" in said
    assert f"Remove the program with `{sys.executable} -m pip uninstall holdfast-memory`" in said
    assert not settings.exists()
    assert "1 memory" in own.says("list")


def test_without_a_terminal_uninstall_says_what_it_would_do_and_does_nothing(own: Shell) -> None:
    refused = own("uninstall")

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == (
        "holdfast: this disconnects all agents, and stops and removes the service; memories are kept in "
        f"{paths.home()} (--dry-run shows every change): add --yes to confirm\n"
    )
    assert (Path.home() / ".claude" / "settings.json").is_file()


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/me/.local/share/uv/tools/holdfast-memory", "uv tool uninstall holdfast-memory"),
        ("/home/me/.local/share/pipx/venvs/holdfast-memory", "pipx uninstall holdfast-memory"),
    ],
)
def test_uninstall_names_the_tool_that_removes_the_program(
    own: Shell, monkeypatch: pytest.MonkeyPatch, prefix: str, command: str
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)

    said = own.says("uninstall", "--yes")

    assert f"Remove the program with `{command}`" in said


@requirement("first.commands")
@pytest.mark.parametrize(
    ("prefix", "origin", "command"),
    [
        ("/x/uv/tools/holdfast-memory", CLONE, "uv tool install '/me/clone[postgres]'"),
        ("/x/pipx/venvs/holdfast-memory", "{}", "pipx install --force 'holdfast-memory[postgres]'"),
        ("/x/venv", "{}", "/x/venv/bin/python -m pip install -U 'holdfast-memory[postgres]'"),
        ("/x/venv", EDITABLE, "/x/venv/bin/python -m pip install -e '/me/clone[postgres]'"),
    ],
)
def test_a_missing_extra_is_installed_where_the_program_is(
    sqlite_shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    prefix: str,
    origin: str,
    command: str,
) -> None:
    installed = tmp_path / "holdfast_memory-9.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: holdfast-memory\nVersion: 9\n")
    (installed / "direct_url.json").write_text(origin)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(sys, "executable", f"{prefix}/bin/python")
    monkeypatch.setitem(sys.modules, "psycopg", None)

    refused = sqlite_shell("list", "--db", "postgresql://nobody@127.0.0.1:1/none")

    assert refused.stderr == f"holdfast: PostgreSQL needs its driver: run `{command}`\n"


def test_data_is_deleted_only_when_that_is_confirmed_and_only_ours(own: Shell) -> None:
    foreign = Path(paths.home(), "notes.txt")
    foreign.write_text("mine")

    refused = own("uninstall", "--delete-data")
    assert refused.exit_code != 0
    assert "add --yes to confirm" in refused.stderr
    assert os.path.exists(paths.database())
    said = own.says("uninstall", "--delete-data", "--yes")

    assert f"Deleted {paths.database()}" in said
    assert os.listdir(paths.home()) == ["notes.txt"]
    assert "Memories are kept" not in said
