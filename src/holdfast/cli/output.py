"""Where a command's output goes: to the standard streams, or in the service to the program that asked."""

import os
import shutil
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field

import click


class OnlyHere(Exception):
    """A command that the service can't carry out for another process: it asks, or reads standard input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """A command line that has asked the service; what it gets is collected."""

    columns: int | None  # of its terminal; none when it has none that can draw
    colour: bool
    draws_colour: bool
    encoding: str
    output: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


RECIPIENT: ContextVar[Recipient | None] = ContextVar("recipient", default=None)


def echo(text: str = "", *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    """Prints `text`, without its styles where they can't be shown; `color` decides that if it is given."""
    recipient = RECIPIENT.get()
    if recipient is None:
        click.echo(text, err=err, nl=nl, color=color)
        return
    styled = recipient.colour if color is None else color
    shown = text if styled else click.unstyle(text)
    (recipient.errors if err else recipient.output).append(f"{shown}\n" if nl else shown)


def here_only() -> None:
    """Raises: OnlyHere, in the service."""
    if RECIPIENT.get() is not None:
        raise OnlyHere


def encoding() -> str:
    """The encoding of the output."""
    recipient = RECIPIENT.get()
    return recipient.encoding if recipient else getattr(sys.stdout, "encoding", None) or "utf-8"


def width() -> int:
    """Characters in a line of the terminal."""
    recipient = RECIPIENT.get()
    return recipient.columns or 0 if recipient else shutil.get_terminal_size().columns


def on_terminal() -> bool:
    """Whether a person looks at the output on something that can draw."""
    if recipient := RECIPIENT.get():
        return recipient.columns is not None
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def draws_colour() -> bool:
    """Whether a terminal may show colours."""
    recipient = RECIPIENT.get()
    return recipient.draws_colour if recipient else not os.environ.get("NO_COLOR")
