"""What one call of the command line asked for, whichever side of the sub-command it stood on.

Knows options and output; how results read is the business of `say` and `as_json`.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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

        store = wiring.open_store(self.db, clock=self.time())
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def memories(self, origin: "Origin" = "operator", session: str | None = None) -> Iterator["Memories"]:
        """The space that was asked for, spoken to by `origin`; closed after the block."""
        from holdfast import wiring
        from holdfast.errors import Invalid
        from holdfast.memories import Memories
        from holdfast.settings import Settings

        if session == "":
            raise Invalid("'' is no id of a session: name one, or leave --session out", field="session")
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
        from holdfast.wiring import utc_now

        return self.clock or utc_now

    def tell(self, text: str, answer: Mapping[str, Any]) -> None:
        """Says `text` to people, `answer` to programs; an empty text says nothing."""
        if self.json:
            tell_json(answer)
        elif text:
            click.echo(text)


def tell_json(answer: Mapping[str, Any]) -> None:
    """One JSON object on one line; what the output's encoding can't hold goes out as JSON's own escapes."""
    import json

    line = json.dumps(answer, ensure_ascii=False)
    try:
        line.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        line = json.dumps(answer)
    click.echo(line)


# --------------------------------------------------------------------------------------------- shared options


def _kept(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value == "":  # most likely a variable that is not set: the usual place is not what was meant
        raise click.BadParameter("it is empty: name one, or leave the option out", ctx, param)
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


def confirm(consequence: str, *, yes: bool) -> None:
    """Goes on when a person agrees to it, or has agreed with --yes; ends the command otherwise."""
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError(f"{consequence}: add --yes to agree", click.get_current_context())
    if not click.confirm(f"{consequence}. Go on?", err=True):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(1)
