"""The file that --db or HOLDFAST_DB names: a mistyped path is no new database."""

import os
from pathlib import Path

from holdfast.app import paths
from holdfast.cli.say import echo, one_line
from holdfast.errors import NotFound


def check(db: str | None, *, creates: bool) -> None:
    """Announces the file that is about to be made; for a command that only reads it is an error.

    The default database is made whenever it is first used.
    Raises: NotFound.
    """
    named = db or os.environ.get("HOLDFAST_DB")
    path = Path((named or paths.database()).removeprefix("sqlite:///")).expanduser().absolute()
    if named is None or "://" in named.removeprefix("sqlite:///") or path.exists():
        return
    if not creates:
        advice = "`holdfast remember TEXT` makes a new one there"
        raise NotFound(f"there is no database {path}{_near(path)}", command=advice)
    echo(f"Creating the database {one_line(str(path))}", err=True)


def _near(path: Path) -> str:
    """The files beside it with a similar name."""
    from difflib import get_close_matches

    there = [each for each in path.parent.iterdir() if each.is_file()] if path.parent.is_dir() else []
    names = [each.name for each in there if not each.name.endswith(("-lock", "-shm", "-wal"))]
    close = get_close_matches(path.name, names, n=2)
    return f" (did you mean {' or '.join(close)}?)" if close else ""
