"""A shell for tests: runs a command in this process and gives back what it said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.cli import cli
from holdfast.cli.call import Call
from holdfast.testing import FixedClock


class Shell:
    """Runs `holdfast ARGUMENTS` on one database, at the clock's time."""

    def __init__(self, db: str, clock: FixedClock, space: str | None = None) -> None:
        self.db = db
        self.clock = clock
        self.space = space

    def __call__(self, *arguments: str, stdin: str | bytes | None = None) -> Result:
        # In debug mode what nobody foresaw is raised, so that no test takes it for a refusal.
        environment = {"HOLDFAST_DEBUG": "1", "HOLDFAST_DB": self.db}
        runner = CliRunner(env=environment, catch_exceptions=False)
        call = Call(space=self.space, clock=self.clock)
        return runner.invoke(cli, list(arguments), prog_name="holdfast", obj=call, input=stdin)

    def says(self, *arguments: str, stdin: str | bytes | None = None) -> str:
        """The output of a command that must succeed."""
        result = self(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def json(self, *arguments: str, stdin: str | bytes | None = None) -> Any:
        """The answer in JSON of a command that must succeed."""
        return json.loads(self.says(*arguments, "--json", stdin=stdin))

    def remembers(self, content: str, *options: str) -> str:
        """Keeps a text and gives its id."""
        return str(self.json("remember", content, *options)["memory"]["id"])

    def in_space(self, name: str, profile: str) -> Shell:
        """A new space in the same store."""
        self.says("space", "create", name, "--profile", profile)
        return Shell(self.db, self.clock, name)

    def masked(self, text: str) -> str:
        """`text` with ids by their order of creation, so that two runs can be compared."""
        found = self.json("list", "--state", "all", "--sort", "created")["memories"]
        for number, memory in enumerate(sorted(found, key=lambda one: one["created_at"]), start=1):
            text = text.replace(memory["id"], f"<id {number}>")
        return text


NewShell = Callable[[str], Shell]


@pytest.fixture
def shell(database_url: str, clock: FixedClock) -> Shell:
    """On SQLite and on PostgreSQL."""
    return Shell(database_url, clock)


@pytest.fixture
def sqlite_shell(sqlite_url: str, clock: FixedClock) -> Shell:
    """For what does not depend on the database."""
    return Shell(sqlite_url, clock)


@pytest.fixture
def ops(sqlite_shell: Shell) -> Shell:
    """A space with the profile ops."""
    return sqlite_shell.in_space("ops", "ops")
