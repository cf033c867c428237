"""The command that adds to a running conversation: context."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast import as_json
from holdfast.doors.cli import say, values
from holdfast.doors.cli.call import Call, in_space
from holdfast.doors.cli.tables import on_terminal
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.engine.sessions import Said

_BUDGET = 500
_MOST = 8_000_000  # bytes on standard input


@click.command()
@click.option("--session", help="The session that gets it: nothing is shown to it twice.")
@click.option("--project", help="This project's memories and those of none.")
@click.option("--budget", type=int, default=_BUDGET, show_default=True, help="Tokens of the block at most.")
@in_space
@click.pass_obj
def context(call: Call, session: str | None, project: str | None, budget: int) -> None:
    """Print what is relevant to what was just said, for a prompt.

    Reads what was said from standard input: a plain text is the user's newest message; JSON lines with role
    and text (or content) are messages, the newest last, of which the last three count. Prints a block that
    can be put into a prompt as it is, or nothing when nothing is relevant and new: both are exit code 0.

    \b
        echo "how do I restart jellyfin" | holdfast context --session run-42
        holdfast context --session run-42 --json < messages.jsonl
    """
    said = _said(_given())
    with call.memories(origin="assistant", session=session) as memories:
        made = memories.context(said, project=project, budget=budget)
    if call.json:
        call.tell("", as_json.context(made))
    else:
        click.echo(say.visible(made.text) if on_terminal() else made.text, nl=False)


def _given() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        hint = "nothing was said: pipe a message in, as in `echo TEXT | holdfast context`"
        raise click.UsageError(hint, click.get_current_context())
    # Of an endless or enormous pipe the end would be lost, and with it what was said last.
    given = values.read_input(_MOST + 1)
    if len(given) > _MOST:
        raise Invalid(
            f"standard input holds more than {_MOST:,} bytes: give the last messages", field="messages"
        )
    return given.decode("utf-8-sig", "replace")


def _said(text: str) -> "list[Said | str]":
    """Messages where every line is one, else the whole as the user's message."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not lines or _message(lines[0][1]) is None:
        return [text] if lines else []
    return [_one(line, number) for number, line in lines]


def _message(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "role" in found else None


def _one(line: str, number: int) -> "Said":
    from holdfast.engine.sessions import Said

    found = _message(line)
    content = found.get("text", found.get("content")) if found else None
    if found is None or not isinstance(found["role"], str) or not isinstance(content, str):
        wrong = f'line {number} is no message: give {{"role": "user", "text": "..."}}, one a line'
        raise Invalid(wrong, field="messages")
    speaker = found.get("speaker")
    return Said(role=found["role"], content=content, speaker=speaker if isinstance(speaker, str) else None)
