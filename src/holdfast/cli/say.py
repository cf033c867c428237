"""How the command line formats memories for people, and where its output goes.

Stored text is never sent raw to the terminal: control characters are written as escapes.
"""

import os
import re
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from holdfast.cli.call import Call
    from holdfast.domain.memory import Memory, Message, Session
    from holdfast.domain.ranking import MessageHit

# Controls but for newline and tab, and marks that hide or reorder text.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
MOST_QUOTED = 300  # characters of a message in a list
_BLANKS = re.compile(r"\s+")
_COMMAND = re.compile(r"`holdfast ([^`]*)`")
#: Commands that are about no database, and those that are about no space.
_OF_THE_MACHINE = re.compile(r"(?:completion|open|quiet|service (?:status|stop|uninstall)|tour|uninstall)\b")
_OF_THE_STORE = re.compile(r"(?:backup|doctor|migrate|space|status|token)\b")


def visible(text: str) -> str:
    """`text` with terminal control characters escaped."""
    return _STEERING.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """The same on a single line."""
    return visible(_BLANKS.sub(_on_one_line, text.strip()))


def _on_one_line(blanks: re.Match[str]) -> str:
    return " " if "\n" in blanks[0] else blanks[0].replace("\t", " ")


def number(value: float) -> str:
    """A confidence or score without trailing zeros: 0.7, 0.85, 1."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def moment(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def count(amount: int, noun: str, plural: str | None = None) -> str:
    """`1 memory`, `2 memories`."""
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"


def memories(amount: int) -> str:
    return count(amount, "memory", "memories")


def part(shown: int, offset: int, total: int, whole: str) -> str:
    """The last line of a list: which part of the `whole` is shown, and how to see the next."""
    if shown == total:
        return whole
    rest = offset + shown
    if not shown:
        return f"No results at offset {offset:,}: there are {whole}"
    more = f"; next: --offset {rest}" if rest < total else ""
    first = f"{offset + 1:,}-" if shown > 1 else ""
    return f"{first}{rest:,} of {whole}{more}"


def identifier(memory_id: str) -> str:
    return click.style(one_line(memory_id), fg="cyan")


def command(*words: str) -> str:
    """A follow-up command as it works here."""
    return hint(f"`{one_line(' '.join(['holdfast', *words]))}`")


def hint(text: str, call: "Call | None" = None) -> str:
    """`text` with its commands as they work here: with the space and the database that this one was given,
    and found by the shell.
    """
    if "`holdfast " not in text:
        return text
    context = click.get_current_context(silent=True)
    call = call or (context.obj if context else None)
    return _COMMAND.sub(lambda found: f"`{program()} {as_given(found[1], call)}`", text)


def as_given(words: str, call: "Call | None") -> str:
    """A command with the --space and --db of this one, where it takes them and has none."""
    if call is None or "--help" in words or _OF_THE_MACHINE.match(words):
        return words
    if call.space and call.space != call.usual_space and " --space" not in words:
        words += "" if _OF_THE_STORE.match(words) else f" --space {_quoted(call.space)}"
    return (
        f"{words} --db {_quoted(_without_password(call.db))}" if call.db and " --db" not in words else words
    )


def _quoted(value: str) -> str:
    from shlex import quote

    return quote(one_line(value))


def _without_password(db: str) -> str:
    from holdfast.app.paths import public_place

    return public_place(db) if "://" in db.removeprefix("sqlite:///") else db


def program() -> str:
    """What the user types for `holdfast`."""
    from holdfast.app import paths

    return r.program if (r := RECIPIENT.get()) else paths.shell_command()


def headline(memory: "Memory") -> str:
    """`a1b2c3d4  [timing] jellyfin: Takes 60s to start after a restart`; of a superseded one its date too."""
    about = f"{one_line(memory.subject)}: " if memory.subject else ""
    label = click.style(f"[{one_line(memory.category)}]", dim=True)
    return f"{identifier(memory.id)}  {label} {about}{one_line(memory.content)}{superseded(memory)}"


def superseded(memory: "Memory") -> str:
    """The date of a superseded memory and its successor; of a private one its person; empty for others."""
    mark = f" [private to {memory.source.person}]" if memory.private else ""
    by = memory.superseded_by
    return mark + (f" [{memory.created_at:%Y-%m-%d}, superseded by {by}]" if by is not None else "")


def quote(hit: "MessageHit", query: str) -> str:
    """`2026-03-01 14:30  Caroline: "I moved here" [session s1]`; of a long text the part asked for."""
    label = click.style(f"[session {one_line(hit.message.session)}{_project(hit.session)}]", dim=True)
    return f"{message(hit.message, query)} {label}"


def message(told: "Message", query: str) -> str:
    """Who said what and when."""
    who = click.style(one_line(told.speaker or told.role), fg="cyan")
    return f'{moment(told.said_at)}  {who}: "{excerpt(told, query)}"'


def excerpt(told: "Message", query: str) -> str:
    """What was said; of a long text the part asked for."""
    from holdfast.domain.passage import passage
    from holdfast.domain.terms import stems

    return one_line(passage(told.content or "", set(stems(query)), MOST_QUOTED))


def _project(session: "Session | None") -> str:
    return f", project {one_line(session.project)}" if session is not None and session.project else ""


def line(memory: "Memory", *, weighed: bool = True) -> str:
    """The headline with confidence and project, and with the state unless it is active."""
    notes = [f"confidence {number(memory.confidence)}"] if weighed else []
    notes += [f"project {one_line(memory.project)}"] if memory.project else []
    if memory.state != "active":
        notes.append(state(memory.state))
    if memory.pinned:
        notes.append("pinned")
    return headline(memory) + (click.style(f" ({', '.join(notes)})", dim=True) if notes else "")


def state(name: str) -> str:
    """A state, or the action that led to it, in the words of the commands: what is forgotten was deleted."""
    return "deleted" if name == "forgotten" else name


# ------------------------------------------------------------------------------------------- where it goes


class OnlyHere(Exception):
    """A command that the service can't carry out for another process: it asks, or reads standard input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """A command line that has asked the service; what it gets is collected."""

    columns: int | None  # of its terminal; none when it has none that can draw
    colour: bool
    draws_colour: bool
    encoding: str
    program: str  # what its user types for `holdfast`
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
    return r.encoding if (r := RECIPIENT.get()) else getattr(sys.stdout, "encoding", None) or "utf-8"


def width() -> int:
    """Characters in a line of the terminal."""
    if recipient := RECIPIENT.get():
        return recipient.columns or 0
    import shutil

    return shutil.get_terminal_size().columns


def on_terminal() -> bool:
    """Whether a person looks at the output on something that can draw."""
    if recipient := RECIPIENT.get():
        return recipient.columns is not None
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def draws_colour() -> bool:
    """Whether a terminal may show colours."""
    return r.draws_colour if (r := RECIPIENT.get()) else not os.environ.get("NO_COLOR")
