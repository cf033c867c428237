"""The file that --db or HOLDFAST_DB names: a mistyped path is no new database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.cli.say import echo, one_line
from holdfast.errors import NotFound

_BESIDE = ("-lock", "-shm", "-wal")  # a database


@contextmanager
def opening(named: str, *, creates: bool) -> Iterator[None]:
    """Around the opening of a database: its file is made only where `creates`, and that is said.

    Raises: NotFound.
    """
    place = named.removeprefix("sqlite:///")
    path = Path(place).expanduser().absolute()
    new = "://" not in place and not path.exists()
    if new and not creates:
        advice = "`holdfast remember TEXT` makes a new one there"
        raise NotFound(f"there is no database {path}{_near(path)}", command=advice)
    yield
    if new:
        echo(f"New database: {one_line(str(path))}", err=True)


def check(db: str | None, *, creates: bool) -> None:
    """The same ahead of a command that opens the database by itself. Raises: NotFound."""
    if named := db or os.environ.get("HOLDFAST_DB"):
        with opening(named, creates=creates):
            pass


def _near(path: Path) -> str:
    """The files beside it with a similar name."""
    from difflib import get_close_matches

    there = [each for each in path.parent.iterdir() if each.is_file()] if path.parent.is_dir() else []
    names = [each.name for each in there if not each.name.endswith(_BESIDE)]
    close = get_close_matches(path.name, names, n=2)
    return f" (did you mean {' or '.join(close)}?)" if close else ""
