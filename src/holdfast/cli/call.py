"""What all commands share: the global options, output as text or JSON, exit codes, and confirmation.

Global options may be given before or after the sub-command. Results are formatted by `say` and `wire.values`.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from holdfast.cli.say import echo, encoding, here_only
from holdfast.errors import HoldfastError, Invalid, Unavailable

if TYPE_CHECKING:
    from holdfast.cli.tables import Table
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

    @property
    def directory(self) -> str:
        """Where the command was given."""
        return os.getcwd()

    @property
    def usual_space(self) -> str:
        """The space that is meant when none is named."""
        return os.environ.get("HOLDFAST_SPACE") or "default"

    @contextmanager
    def store(self, *, creates: bool = False) -> Iterator["Store"]:
        """The selected store; closed after the block. A file that was named is made only where `creates`.

        Raises: NotFound.
        """
        from holdfast.app import wiring
        from holdfast.engine.doors import DOOR

        DOOR.set("command line")
        if named := self.db or os.environ.get("HOLDFAST_DB"):
            from holdfast.cli.named_database import opening
        with opening(named, creates=creates) if named else nullcontext():
            store = wiring.open_store(self.db, clock=self.time())
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def memories(
        self, origin: "Origin" = "operator", session: str | None = None, *, creates: bool = False
    ) -> Iterator["Memories"]:
        """The selected space, used as `origin`; closed after the block."""
        if session == "":
            raise Invalid("--session is empty: give a session id, or leave it out", field="session")
        with self.store(creates=creates) as store:
            yield self.space_in(store, self.space).speaking_as(origin, session=session)

    def space_in(self, store: "Store", name: str | None) -> "Memories":
        """A space of an open store, by default the one of the settings."""
        from holdfast.app import wiring
        from holdfast.engine.memories import Memories
        from holdfast.settings import Settings

        settings = Settings.read()
        return Memories.of(
            store,
            name or settings.space,
            clock=self.time(),
            embedder=wiring.open_embedder(settings.embedder),
            budget=settings.budget,
            language_models=wiring.open_language_models(settings),
            person=settings.person,
        )

    def time(self) -> "Clock":
        from holdfast.app.wiring import utc_now

        return self.clock or utc_now

    def tell(self, text: "str | Table", answer: object) -> None:
        """Prints a text or table, or `answer` with --json; an empty text prints nothing."""
        if self.json:
            tell_json(answer)
        elif not isinstance(text, str):
            text.show()
        elif text:
            echo(text)

    @contextmanager
    def progress(
        self, title: str, *, total: int | None = None, in_bytes: bool = False
    ) -> Iterator[Callable[..., None]]:
        """Shows a progress bar on a terminal, unless --json was given; silent elsewhere.

        Yields a function that takes `completed`, `advance` and `total`, as rich does.
        """
        if self.json or sys.stderr is None or not sys.stderr.isatty():
            yield lambda **_: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        sizes = (TextColumn(title), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*(sizes if in_bytes else ()), console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=total or None)
            yield lambda **done: bar.update(task, **done)


def exit_code(error: HoldfastError) -> int:
    """3 when the store is unavailable, 1 for every other error of ours; wrong usage is click's own 2."""
    return 3 if isinstance(error, Unavailable) else 1


def told(error: HoldfastError) -> str:
    """An error message with the command that helps; only the command line shows it."""
    return f"{error}: {error.command}" if error.command else str(error)


def kind_of(error: HoldfastError) -> str:
    """An error's name in JSON: `TooLong` is too_long."""
    name = type(error).__name__
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def tell_json(answer: object) -> None:
    """Prints a value as one JSON object on one line, escaped where the output encoding is not UTF-8."""
    import json

    from holdfast.wire.values import to_json

    told = to_json(answer)
    line = json.dumps(told, ensure_ascii=False)
    try:
        line.encode(encoding())
    except UnicodeEncodeError:
        line = json.dumps(told)
    echo(line)


# --------------------------------------------------------------------------------------------- shared options


def _kept(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value == "":  # most likely an unset variable: do not fall back to the default
        raise click.BadParameter("empty value: give one, or leave the option out", ctx, param)
    if value and param.name:
        setattr(ctx.ensure_object(Call), param.name, value)


_global = partial(click.option, expose_value=False, is_eager=True, callback=_kept)
_DB = _global("--db", metavar="PATH|URL", help="SQLite file or postgresql:// URL.  [env: HOLDFAST_DB]")
_SPACE = _global("--space", metavar="NAME", help="The space to use.  [env: HOLDFAST_SPACE]")
_JSON = _global("--json", is_flag=True, help="Print JSON.")


wide_option = click.option("--wide", is_flag=True, help="One line for each result, however long.")


def space_options(command: Command) -> Command:
    """Adds the global options --space, --db and --json."""
    return _SPACE(_DB(_JSON(command)))


def store_options(command: Command) -> Command:
    """Adds --db and --json, for what is not about one space."""
    return _DB(_JSON(command))


def in_space(command: Callable[..., None]) -> Callable[..., None]:
    """A command in one space: adds the global options, and passes it the `Call`."""
    return space_options(click.pass_obj(command))


def on_store(command: Callable[..., None]) -> Callable[..., None]:
    """A command that is not about one space: adds --db and --json, and passes it the `Call`."""
    return store_options(click.pass_obj(command))


def wrong_usage(message: str) -> click.UsageError:
    """An error in how the current command was called."""
    return click.UsageError(message, click.get_current_context())


class NotConfirmed(click.ClickException):
    """A question without a terminal to ask it on."""

    exit_code = 2


def confirm(consequence: str, *, yes: bool) -> None:
    """Asks for confirmation unless --yes was given; ends the command otherwise."""
    if yes:
        return
    here_only()
    if sys.stdin is None or not sys.stdin.isatty():
        raise NotConfirmed(f"{consequence[:1].lower()}{consequence[1:]}: add --yes to confirm")
    if not click.confirm(f"{consequence}. Continue?", err=True):
        click.echo("Nothing was changed", err=True)
        raise click.exceptions.Exit(1)


Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Results(Generic[Done]):
    """What succeeded, and what failed."""

    done: list[Done]
    failed: list[HoldfastError]

    def tell(self, call: Call, texts: Sequence[str], answer: dict[str, Any]) -> None:
        """Prints both; with a failure the command ends with its exit code."""
        from holdfast.cli import say

        if self.failed:
            answer["errors"] = [{"kind": kind_of(error), "message": told(error)} for error in self.failed]
        call.tell("\n".join(texts), answer)
        for error in self.failed:
            echo(f"holdfast: {say.hint(say.one_line(told(error)), call)}", err=True)
        if self.failed:
            raise click.exceptions.Exit(exit_code(self.failed[0]))


def each(ids: Sequence[str], act: Callable[[str], Done]) -> Results[Done]:
    """Acts on every id once; an unreachable store stops it at once.

    Raises: Unavailable.
    """
    results: Results[Done] = Results([], [])
    for one in dict.fromkeys(ids):
        try:
            results.done.append(act(one))
        except Unavailable:
            raise
        except HoldfastError as error:
            results.failed.append(error)
    return results


#: Bytes on standard input; far above what any profile takes, so that an endless pipe ends.
_MOST_INPUT = 8_000_000


def point_in_time(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """An ISO 8601 date or time as an aware datetime; without a zone it is UTC."""
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        right = "use for example 2026-03-01 or 2026-03-01T14:30:00Z"
        raise click.BadParameter(f"{value!r} is not a valid time: {right}", ctx, param) from None


def check_confidence(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """A confidence as it is given: the engine stores the nearer end of the range, and the user is told so."""
    if value is not None and (value < 0 or value > 1):
        end = "0" if value < 0 else "1"
        echo(f"holdfast: {param.name} {value:g} is outside of 0 to 1: storing {end}", err=True)
    return value


def text_or_input(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A text; `-` reads standard input."""
    if value != "-":
        return value
    given = read_input(_MOST_INPUT + 1)
    if len(given) > _MOST_INPUT:
        raise click.BadParameter(
            f"standard input is larger than {_MOST_INPUT:,} bytes: shorten it", ctx, param
        )
    return given.decode("utf-8-sig", "replace")


def read_input(most: int = -1) -> bytes:
    """Standard input, at most so many bytes of it; empty when there is none."""
    here_only()
    return sys.stdin.buffer.read(most) if sys.stdin is not None else b""
