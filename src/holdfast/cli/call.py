"""The global options of one call, given before or after the sub-command.

Knows options and output; results are formatted by `say` and by `wire.values`.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from holdfast.domain.memory import Origin
    from holdfast.engine.memories import Memories
    from holdfast.engine.ports import Clock, Store

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(slots=True)
class Call:
    """The global options, and how to open a store and print results with them."""

    db: str | None = None
    space: str | None = None
    json: bool = False
    clock: "Clock | None" = None  # for tests; none = the real time

    @contextmanager
    def store(self) -> Iterator["Store"]:
        """The selected store; closed after the block."""
        from holdfast.app import wiring

        store = wiring.open_store(self.db, clock=self.time())
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def memories(self, origin: "Origin" = "operator", session: str | None = None) -> Iterator["Memories"]:
        """The selected space, used as `origin`; closed after the block."""
        from holdfast.app import wiring
        from holdfast.engine.memories import Memories
        from holdfast.errors import Invalid
        from holdfast.settings import Settings

        if session == "":
            raise Invalid("--session is empty: give a session id, or leave it out", field="session")
        settings = Settings.read()
        with self.store() as store:
            opened = Memories.of(
                store,
                self.space or settings.space,
                clock=self.time(),
                embedder=wiring.open_embedder(settings.embedder),
                budget=settings.budget,
                readers=wiring.open_readers(settings),
            )
            yield opened.speaking_as(origin, session=session)

    def time(self) -> "Clock":
        from holdfast.app.wiring import utc_now

        return self.clock or utc_now

    def tell(self, text: str, answer: object) -> None:
        """Prints `text`, or `answer` with --json; an empty text prints nothing."""
        if self.json:
            tell_json(answer)
        elif text:
            click.echo(text)


def tell_json(answer: object) -> None:
    """Prints a value as one JSON object on one line, escaped where the output encoding is not UTF-8."""
    import json

    from holdfast.wire.values import to_json

    told = to_json(answer)
    line = json.dumps(told, ensure_ascii=False)
    try:
        line.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        line = json.dumps(told)
    click.echo(line)


# --------------------------------------------------------------------------------------------- shared options


def _kept(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value == "":  # most likely an unset variable: do not fall back to the default
        raise click.BadParameter("empty value: give one, or leave the option out", ctx, param)
    if value and param.name:
        setattr(ctx.ensure_object(Call), param.name, value)


_DB = click.option(
    "--db",
    metavar="PATH|URL",
    expose_value=False,
    is_eager=True,
    callback=_kept,
    help="SQLite file or postgresql:// URL.  [env: HOLDFAST_DB]",
)
_SPACE = click.option(
    "--space",
    metavar="NAME",
    expose_value=False,
    is_eager=True,
    callback=_kept,
    help="The space to use.  [env: HOLDFAST_SPACE]",
)
_JSON = click.option(
    "--json", is_flag=True, expose_value=False, is_eager=True, callback=_kept, help="Print JSON."
)


def in_space(command: Command) -> Command:
    """Adds the global options --space, --db and --json to a command."""
    return _SPACE(_DB(_JSON(command)))


def on_store(command: Command) -> Command:
    """Adds --db and --json, for a command that is not about one space."""
    return _DB(_JSON(command))


class NotConfirmed(click.ClickException):
    """A question without a terminal to ask it on."""

    exit_code = 2


def confirm(consequence: str, *, yes: bool) -> None:
    """Asks for confirmation unless --yes was given; ends the command otherwise."""
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise NotConfirmed(f"{consequence[:1].lower()}{consequence[1:]}: add --yes to confirm")
    if not click.confirm(f"{consequence}. Continue?", err=True):
        click.echo("Nothing was changed", err=True)
        raise click.exceptions.Exit(1)
