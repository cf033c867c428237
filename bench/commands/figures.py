"""What the benchmarks share: the option for a result file, the way to answer, and one table of shares."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.cli.call import Call, tell_json
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from rich.progress import Progress

Command = TypeVar("Command", bound=Callable[..., Any])


def with_result_file(command: Command) -> Command:
    """Gives a command `--json FILE`."""
    says = "Also write the figures to FILE; - prints them alone."
    return click.option("--json", "file", metavar="FILE", help=says)(command)


def answer(
    ctx: click.Context, figures: Mapping[str, Any], file: str | None, show: Callable[[], None]
) -> None:
    """Shows figures to people or prints them for programs, and writes them where they were asked for."""
    if file == "-" or ctx.ensure_object(Call).json:
        tell_json(figures)
    else:
        show()
    if file not in (None, "-"):
        write(Path(file), as_text(figures), field="json")


def as_text(figures: Mapping[str, Any]) -> str:
    import json

    return json.dumps(figures, indent=2) + "\n"


def write(path: Path, text: str, *, field: str) -> None:
    """Raises: Invalid."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Invalid(f"{str(path)!r} can't be written: {error.strerror}", field=field) from None


def unusable(data: Path | None, error: Exception) -> Invalid:
    """What to say of a file that can't be measured with."""
    why = getattr(error, "strerror", None) or str(error)
    return Invalid(f"{str(data)!r} can't be used: {why}", field="data")


class Bar:
    """How far a benchmark is; silent where nobody looks on."""

    def __init__(self, progress: "Progress | None", what: str, total: int) -> None:
        self._progress = progress
        self._what = what
        self._task = progress.add_task(what, total=total) if progress else None

    def doing(self, text: str) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=f"{self._what}: {text}")

    def done(self) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task)


@contextmanager
def progress(what: str, total: int) -> Iterator[Bar]:
    """A bar for as long as the block takes."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield Bar(None, what, total)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        yield Bar(shown, what, total)


@contextmanager
def at_home(home: str) -> Iterator[None]:
    """Lets nothing of the user's be touched: the home is one that is thrown away.

    Programs are compiled once, as after an installation: to do it at each start costs more than a command.
    """
    before = dict(os.environ)
    os.environ["HOLDFAST_HOME"] = os.path.join(home, "home")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
