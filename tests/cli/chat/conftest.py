"""A person at `holdfast chat`: types lines, reads what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell

NOTES = ("--space", "notes")  # with the profile files


class Person:
    """Talks through the command line, each talk a session of its own."""

    def __init__(self, database: str, folder: Path) -> None:
        self.shell = Shell(database, FixedClock())
        self.shell.says("space", "create", "notes", "--profile", "files")
        self.folder = folder

    def talks(self, model: str, *lines: str, options: tuple[str, ...] = NOTES) -> tuple[str, str]:
        """What came out, and what was noted beside it, of a talk that must end well."""
        result = self.shell("chat", "--model", model, *options, stdin="".join(f"{line}\n" for line in lines))
        assert result.exit_code == 0, result.output
        return result.stdout, result.stderr

    def memories(self, space: str) -> Memories:
        """What is in a space now; the caller closes it."""
        return Memories.of(open_store(self.shell.db), space)


@pytest.fixture
def person(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """On SQLite and on PostgreSQL."""
    monkeypatch.setenv("HOLDFAST_MODEL_KEY", "test")
    return Person(database_url, tmp_path)


@pytest.fixture
def sqlite_person(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """For what does not depend on the database."""
    monkeypatch.setenv("HOLDFAST_MODEL_KEY", "test")
    return Person(sqlite_url, tmp_path)


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody sits there, who can say again what got no answer."""
    monkeypatch.setattr("holdfast.cli.chat._at_a_terminal", lambda: True)
