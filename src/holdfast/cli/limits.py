"""The options for quotas, shared by spaces and tokens."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
NONE = "none"


class LimitType(click.ParamType[int | None]):
    """A whole number, or `none` for no limit."""

    name = "N|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value == NONE or value is None or isinstance(value, int):
            return None if value == NONE else value
        if not (value.isascii() and value.isdigit() and len(value) <= 16):
            self.fail(f"{value!r} is not a limit: use a whole number, or none", param, ctx)
        return int(value)


def quota_options(command: Command) -> Command:
    """Adds --max-memories, --max-messages and --max-bytes."""
    for name, what in (
        ("bytes", "Most bytes of text: every wording of a memory, every message."),
        ("messages", "Most messages."),
        ("memories", "Most memories, in any state."),
    ):
        command = click.option(f"--max-{name}", type=LimitType(), metavar="N|none", help=what)(command)
    return command


def named(*also: str) -> dict[str, Any]:
    """The limits that the command line names, `none` as None."""
    ctx = click.get_current_context()
    names = ("max_memories", "max_messages", "max_bytes", *also)
    given = click.core.ParameterSource.COMMANDLINE
    return {name: ctx.params[name] for name in names if ctx.get_parameter_source(name) is given}
