"""A database file made from a continuous copy, as it was at a chosen time."""

import gzip
import json
import os
import shutil
import zlib
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from holdfast.errors import Conflict, Invalid, NotFound
from holdfast.store import write_ahead_log as wal
from holdfast.store.continuous_copy import SNAPSHOT, generations, time_of
from holdfast.store.sqlite_driver import connect, sqlite3


@dataclass(frozen=True, slots=True)
class RestoredCopy:
    """A restored file: it holds what was committed up to `as_of`."""

    file: str
    as_of: datetime
    segments: int


def restore_copy(copy: str, place: str, at: datetime | None = None) -> RestoredCopy:
    """Writes the database as it was at a time, or as it was last copied, to a new file.

    Raises: NotFound, if the copy does not reach back so far; Conflict, if the file exists; Invalid, if the
    copy is damaged, or the place is a server.
    """
    folder, place = Path(copy), place.removeprefix("sqlite:///")
    if "://" in place:
        raise Invalid("a continuous copy is restored to a new SQLite file: name one", field="db")
    target = Path(place).expanduser().absolute()
    if target.exists():
        raise Conflict(f"{target} exists: name a new file, and move it into place afterwards")
    complete = [each for each in generations(folder) if (each / SNAPSHOT).exists()]
    if not complete:
        raise NotFound(f"{folder} is not the folder of a continuous copy: it has no snapshot")
    usable = [each for each in complete if at is None or time_of(each) <= at]
    if not usable:
        raise NotFound(
            f"the copy in {folder} begins at {time_of(complete[0]).isoformat()}: name a later time"
        )
    newest = usable[-1]
    segments = [each for each in sorted(newest.glob("[0-9]*-*Z.gz")) if at is None or time_of(each) <= at]
    part = target.with_name(f"{target.name}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        shutil.copyfile(newest / SNAPSHOT, part)
        for number, segment in enumerate(segments, start=1):
            if int(segment.name[:6]) != number:
                raise Invalid(
                    f"segment {number} in {newest} is missing: restore to a time before {time_of(segment)}"
                )
            _apply(segment, part)
        _check(part, newest)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return RestoredCopy(str(target), time_of(segments[-1] if segments else newest), len(segments))


def _apply(segment: Path, database: Path) -> None:
    """Writes the pages of a segment into the database, as a checkpoint does. Raises: Invalid."""
    with gzip.open(segment, "rb") as packed, database.open("r+b") as file:
        try:
            head = json.loads(packed.readline())
            log = wal.Log(head["page_size"], head["order"], bytes.fromhex(head["salts"]), (0, 0))
            pages = 0
            for frame in wal.frames(packed, log, tuple(head["checksum"])):
                file.seek((frame.page - 1) * log.page_size)
                file.write(frame.content)
                pages = frame.pages
            if not pages or packed.read(1):
                raise ValueError
        except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error):
            raise Invalid(f"{segment} is damaged: restore to a time before {time_of(segment)}") from None
        file.truncate(pages * log.page_size)
        os.fsync(file.fileno())


def _check(database: Path, source: Path) -> None:
    """Raises: Invalid, unless SQLite finds the restored file whole."""
    try:
        with closing(connect(database)) as connection:
            found = connection.execute("PRAGMA integrity_check").fetchone()[0]
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise Invalid(f"the copy in {source} is damaged ({found}): restore to an earlier time")
