"""What one call of the command line asked for, whichever side of the sub-command it stood on.

Knows options and output; how results read is the business of `say` and `as_json`.
"""

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


# ---------------------------------------------------------------------------------------------- kinds of value


class Moment(click.ParamType):
    """A date or time in ISO 8601; without a zone it is UTC."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(value.strip())
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is no time: use for example 2026-03-01 or 2026-03-01T14:30:00Z", param, ctx
            )


class Text(click.ParamType):
    """A text; `-` stands for what comes on standard input."""

    name = "text"
    MOST = 8_000_000  # bytes; far above what any profile takes, so that an endless pipe ends

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value != "-":
            return str(value)
        given: bytes = click.get_binary_stream("stdin").read(self.MOST + 1)
        if len(given) > self.MOST:
            self.fail(f"standard input holds more than {self.MOST:,} bytes: give less", param, ctx)
        return given.decode("utf-8-sig", "replace")


MOMENT = Moment()
TEXT = Text()


def confirm(question: str, *, yes: bool) -> None:
    """Goes on when a person agrees, or has agreed with --yes; ends the command otherwise."""
    if yes:
        return
    if not click.get_text_stream("stdin").isatty():
        raise click.UsageError(
            f"{question} Nobody is there to answer: add --yes to agree", click.get_current_context()
        )
    if not click.confirm(question, err=True):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(1)
