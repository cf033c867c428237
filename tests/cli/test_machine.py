"""`holdfast status` and `holdfast uninstall`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.app import paths
from tests.cli.conftest import Shell


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

    assert "service  not running; start it with `holdfast up`" in said
    assert "Claude Code" in said
    assert f"{paths.database()}, " in said
    assert "GiB free" in said
    assert said.splitlines()[-1].split() == ["default", "default", "1", "0", "0", "0", "0"]
    told = own.json("status")
    assert (told["service"], told["clients"]) == (None, ["Claude Code"])
    assert told["spaces"][0]["active"] == 1


def test_uninstall_disconnects_agents_and_keeps_memories(own: Shell) -> None:
    settings = Path.home() / ".claude" / "settings.json"
    planned = own.says("uninstall", "--dry-run")
    assert settings.is_file()

    said = own.says("uninstall")

    assert "Would stop the service" in planned
    assert "Disconnected Claude Code" in said
    assert f"Memories are kept in {paths.home()}" in said
    assert "pip uninstall holdfast-memory" in said
    assert not settings.exists()
    assert "1 memory" in own.says("list")


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
