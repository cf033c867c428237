"""Help: instant, complete, with examples, and the same in the table, the commands and the docs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from holdfast.cli import ALIASES, COMMANDS, cli
from tests.cli.conftest import Shell

REPOSITORY = Path(__file__).parents[2]
TOP = click.Context(cli, info_name="holdfast")
HEAVY = {
    "sqlalchemy",
    "alembic",
    "rich",
    "numpy",
    "platformdirs",
    "holdfast.engine.memories",
    "holdfast.app.wiring",
}


def all_commands(group: click.Group = cli, above: str = "holdfast") -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(TOP):
        command = group.get_command(TOP, name)
        assert command is not None
        yield f"{above} {name}", command
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{above} {name}")


EVERY = dict(all_commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_command_says_of_itself(name: str) -> None:
    command = cli.get_command(TOP, name)

    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(limit=200).removesuffix(".") == COMMANDS[name][1]


@pytest.mark.parametrize("path", EVERY)
def test_every_command_has_help_with_an_example(path: str) -> None:
    text = EVERY[path].get_help(click.Context(EVERY[path], info_name=path))

    assert f"      {path}" in text
    assert "--help" in text


@pytest.mark.parametrize("path", EVERY)
def test_every_option_says_what_it_is(path: str) -> None:
    options = [param for param in EVERY[path].params if isinstance(param, click.Option)]

    without = [
        option.name for option in options if not option.help and not isinstance(option.type, click.Choice)
    ]

    assert without == []


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_is_the_same_command(alias: str, name: str) -> None:
    assert cli.get_command(TOP, alias) is cli.get_command(TOP, name)


def test_without_a_command_there_is_help(sqlite_shell: Shell) -> None:
    result = sqlite_shell()

    assert result.exit_code == 0
    assert result.stdout == sqlite_shell.says("--help")
    assert all(name in result.stdout for name in COMMANDS)


def test_a_group_without_a_command_shows_its_help(sqlite_shell: Shell) -> None:
    result = sqlite_shell("space")

    assert result.exit_code == 2
    assert "holdfast space create ops --profile ops" in result.stderr


def test_the_version_is_told(sqlite_shell: Shell) -> None:
    from holdfast import __version__

    assert sqlite_shell.says("--version") == f"holdfast {__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from holdfast.cli import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "One memory for every agent" in done.stdout
    assert HEAVY.isdisjoint(done.stderr.split())


def test_the_help_of_the_commands_loads_no_store() -> None:
    program = (
        "import sys\n"
        "from holdfast.cli import COMMANDS, cli\n"
        "for name in COMMANDS: cli.get_command(None, name)\n"
        "print(*sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert HEAVY.isdisjoint(done.stdout.split())


def test_the_reference_is_fresh() -> None:
    command = [sys.executable, "-m", "tools.generate_reference", "--check"]

    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("shell_name", "sign"),
    [("bash", "complete -o nosort"), ("zsh", "#compdef holdfast"), ("fish", "complete")],
)
def test_a_completion_script_is_printed(sqlite_shell: Shell, shell_name: str, sign: str) -> None:
    script = sqlite_shell.says("completion", shell_name)

    assert sign in script
    assert "_HOLDFAST_COMPLETE" in script


def test_the_shell_completes_commands_and_options() -> None:
    environment = {
        "_HOLDFAST_COMPLETE": "bash_complete",
        "COMP_WORDS": "holdfast re",
        "COMP_CWORD": "1",
        "PATH": "",
    }
    command = [sys.executable, "-c", "from holdfast.cli import main; main()"]

    done = subprocess.run(command, env=environment, capture_output=True, text=True)

    assert done.stdout.split() == [
        "plain,remember",
        "plain,revise",
        "plain,restore",
        "plain,recall",
        "plain,recapture",
    ]
