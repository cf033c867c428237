"""A database that --db or HOLDFAST_DB names, and commands that name it again."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from holdfast.cli import cli
from holdfast.cli.call import Call
from holdfast.cli.say import hint
from tests.requirements_ledger import requirement

READING = [
    ["list"],
    ["recall", "anything"],
    ["show", "a1b2c3d4"],
    ["why", "a1b2c3d4"],
    ["brief"],
    ["inbox"],
    ["memory", "list"],
    ["sessions"],
    ["sessions", "show", "last"],
    ["events"],
    ["cooldowns"],
    ["cache-report"],
    ["spend"],
    ["status"],
    ["doctor"],
    ["audit"],
    ["access"],
    ["export", "out.jsonl"],
    ["backup", "out.gz"],
    ["space", "list"],
    ["token", "list"],
    ["files", "status"],
    ["forget", "a1b2c3d4"],
    ["revise", "a1b2c3d4", "text"],
    ["undo-session", "last"],
    ["tend"],
]


def run(*arguments: str, **environment: str) -> Result:
    runner = CliRunner(env={"HOLDFAST_DEBUG": "1", **environment}, catch_exceptions=False)
    return runner.invoke(cli, list(arguments), prog_name="holdfast")


@requirement("first.no-stray-database")
@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_a_command_that_needs_a_database_makes_none_of_a_mistyped_name(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "memories.db").touch()

    result = run(*arguments, "--db", "memorys.db")

    assert result.exit_code == 1
    assert f"there is no database {folder / 'memorys.db'} (did you mean memories.db?)" in result.stderr
    assert "remember TEXT --db memorys.db` makes a new one there" in result.stderr
    assert [path.name for path in folder.iterdir()] == ["memories.db"]


def test_the_same_holds_for_the_variable_and_for_a_folder_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "no" / "x.db"

    result = run("list", HOLDFAST_DB=f"sqlite:///{missing}")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"holdfast: there is no database {missing}: ")
    assert not missing.parent.exists()


@requirement("first.no-stray-database")
def test_a_command_that_writes_makes_it_and_says_so_once(tmp_path: Path) -> None:
    place = str(tmp_path / "new.db")

    first = run("remember", "Lives in Lisbon", "--db", place)
    second = run("remember", "Likes jazz", "--db", place)

    assert (first.exit_code, first.stderr) == (0, f"New database: {place}\n")
    assert (second.exit_code, second.stderr) == (0, "")


def test_the_default_database_is_made_by_whoever_looks_first() -> None:
    result = run("list")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("No memories yet: add one with `")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("`holdfast list`", "list --space lab --db 'my notes.db'"),
        ("`holdfast show a1 --space ops`", "show a1 --space ops --db 'my notes.db'"),
        ("`holdfast space list`", "space list --db 'my notes.db'"),
        ("`holdfast up`", "up --space lab --db 'my notes.db'"),
        ("`holdfast service stop`", "service stop"),
        ("`holdfast connect --help`", "connect --help"),
    ],
)
def test_a_command_that_is_advised_works_as_it_is_printed(given: str, shown: str) -> None:
    said = hint(f"use {given}", Call(db="my notes.db", space="lab"))

    assert said.startswith("use `")
    assert said.endswith(f"holdfast {shown}`")


def test_no_advice_shows_the_password_of_a_server() -> None:
    said = hint("`holdfast doctor`", Call(db="postgresql://me:secret@host/memories"))

    assert said.endswith("doctor --db postgresql://me@host/memories`")


def test_what_a_command_prints_can_be_run_as_it_stands(tmp_path: Path) -> None:
    place = str(tmp_path / "my notes.db")
    run("space", "create", "lab", "--db", place)
    kept = run("remember", "Lives in Lisbon", "--space", "lab", "--db", place).stdout.split()[1]

    gone = click.unstyle(run("forget", kept, "--space", "lab", "--db", place).stdout)

    assert gone.rstrip().endswith(f"holdfast restore {kept} --space lab --db '{place}'`")
