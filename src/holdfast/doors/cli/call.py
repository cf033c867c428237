"""What one call of the command line asked for, whichever side of the sub-command it stood on.

Knows options and output; how results read is the business of `say` and `as_json`.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from holdfast.domain.memory import Origin
    from holdfast.engine.ports import Clock, Store
    from holdfast.memories import Memories

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(slots=True)
class Call:
    """The global options, and how to open and to answer with them."""

    db: str | None = None
    space: str | None = None
    json: bool = False
    clock: "Clock | None" = None  # for tests; none = the real time

    @contextmanager
    def store(self) -> Iterator["Store"]:
        """The store that was asked for; closed after the block."""
        from holdfast import wiring

        store = wiring.open_store(self.db)
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def memories(self, origin: "Origin" = "operator", session: str | None = None) -> Iterator["Memories"]:
        """The space that was asked for, spoken to by `origin`; closed after the block."""
        from holdfast.memories import Memories
        from holdfast.settings import Settings

        settings = Settings.read()
        with self.store() as store:
            opened = Memories.of(
                store, self.space or settings.space, clock=self.time(), budget=settings.budget
            )
            yield opened.speaking_as(origin, session=session)

    def time(self) -> "Clock":
        from holdfast.wiring import utc_now

        return self.clock or utc_now

    def tell(self, text: str, answer: Mapping[str, Any]) -> None:
        """Says `text` to people, `answer` to programs; an empty text says nothing."""
        if self.json:
            tell_json(answer)
        elif text:
            click.echo(text)


def tell_json(answer: Mapping[str, Any]) -> None:
    """One JSON object on one line. Half a character pair, which UTF-8 can't hold, goes out as its escape."""
    import json

    line = json.dumps(answer, ensure_ascii=False)
    click.echo(line.encode("utf-8", "backslashreplace").decode())


# --------------------------------------------------------------------------------------------- shared options


def _kept(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value and param.name:
        setattr(ctx.ensure_object(Call), param.name, value)


_DB = click.option(
    "--db",
    metavar="PLACE",
    expose_value=False,
    is_eager=True,
    callback=_kept,
    help="A file path or a postgresql:// URL.  [env: HOLDFAST_DB]",
)
_SPACE = click.option(
    "--space",
    metavar="NAME",
    expose_value=False,
    is_eager=True,
    callback=_kept,
    help="The space to work in.  [env: HOLDFAST_SPACE]",
)
_JSON = click.option(
    "--json", is_flag=True, expose_value=False, is_eager=True, callback=_kept, help="Answer in JSON."
)


def in_space(command: Command) -> Command:
    """Gives a command the options that work on both sides of its name: --space, --db and --json."""
    return _SPACE(_DB(_JSON(command)))


def on_store(command: Command) -> Command:
    """The same for a command that is not about one space."""
    return _DB(_JSON(command))


# --------------------------------------------------------------------------------------------- kinds of value

_MOST = 8_000_000  # bytes on standard input; far above what any profile takes, so that an endless pipe ends


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A date or time in ISO 8601 as an aware one; without a zone it is UTC."""
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        right = "use for example 2026-03-01 or 2026-03-01T14:30:00Z"
        raise click.BadParameter(f"{value!r} is no time: {right}", ctx, param) from None


def text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A text; `-` stands for what comes on standard input."""
    if value != "-":
        return value
    given = read_input(_MOST + 1)
    if len(given) > _MOST:
        raise click.BadParameter(f"standard input holds more than {_MOST:,} bytes: give less", ctx, param)
    return given.decode("utf-8-sig", "replace")


def read_input(most: int = -1) -> bytes:
    """What stands on standard input, at most so many bytes of it; nothing when there is none."""
    return sys.stdin.buffer.read(most) if sys.stdin is not None else b""


def confirm(question: str, *, yes: bool) -> None:
    """Goes on when a person agrees, or has agreed with --yes; ends the command otherwise."""
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError(
            f"{question} Nobody is there to answer: add --yes to agree", click.get_current_context()
        )
    if not click.confirm(question, err=True):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(1)
