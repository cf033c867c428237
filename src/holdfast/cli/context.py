"""The command `context`: memories for a running conversation."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import param_types, say
from holdfast.cli.call import Call, in_space
from holdfast.cli.tables import on_terminal
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.engine.sessions import NewMessage

_BUDGET = 500
_MOST = 8_000_000  # bytes on standard input


@click.command()
@click.option("--session", help="The session that gets the block; it never gets a memory twice.")
@click.option("--project", help="This project and global memories.")
@click.option("--budget", type=int, default=_BUDGET, show_default=True, help="Maximum tokens.")
@in_space
@click.pass_obj
def context(call: Call, session: str | None, project: str | None, budget: int) -> None:
    """Print memories relevant to the latest messages.

    Reads messages from standard input: plain text is the user's latest message; JSON lines with role and text
    (or content) are messages, newest last, of which the last three are used. Prints a block for the prompt,
    or nothing when there is nothing new and relevant. The exit code is 0 in both cases.

    \b
        echo "how do I restart jellyfin" | holdfast context --session run-42
        holdfast context --session run-42 --json < messages.jsonl
    """
    said = _said(_given())
    with call.memories(origin="assistant", session=session) as memories:
        made = memories.context(said, project=project, budget=budget)
    if call.json:
        call.tell("", made)
    else:
        click.echo(say.visible(made.text) if on_terminal() else made.text, nl=False)


def _given() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        hint = "no message: pipe one in, for example `echo TEXT | holdfast context`"
        raise click.UsageError(hint, click.get_current_context())
    # Refused rather than truncated: the latest message is at the end.
    given = param_types.read_input(_MOST + 1)
    if len(given) > _MOST:
        raise Invalid(
            f"standard input is larger than {_MOST:,} bytes: send only the latest messages", field="messages"
        )
    return given.decode("utf-8-sig", "replace")


def _said(text: str) -> "list[NewMessage | str]":
    """One message per line if the input is JSON lines, else the whole text as one user message."""
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


def _one(line: str, number: int) -> "NewMessage":
    from holdfast.engine.sessions import NewMessage

    found = _message(line)
    content = found.get("text", found.get("content")) if found else None
    if found is None or not isinstance(found["role"], str) or not isinstance(content, str):
        wrong = f'line {number} is not a message: use {{"role": "user", "text": "..."}}, one per line'
        raise Invalid(wrong, field="messages")
    speaker = found.get("speaker")
    return NewMessage(
        role=found["role"], content=content, speaker=speaker if isinstance(speaker, str) else None
    )
