"""Notices that a database file was removed or replaced while it is open.

SQLite goes on writing into a file that has lost its name: what is acknowledged then is gone with the last
descriptor. So the file at the path is compared with the one that was opened, by device and inode. Nothing is
opened for it: that would drop SQLite's locks (see `sqlite.py`).
"""

import logging
import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from holdfast.errors import Unavailable

_log = logging.getLogger(__name__)

Identity = tuple[int, int]  # device and inode


class OpenFile:
    """The database file as it was when it was opened, with its write-ahead log."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wal = f"{path}-wal"
        self._opened = _identity(path)
        self._lost_log: Identity | None = None
        self._reported: set[str] = set()

    def check(self) -> None:
        """Raises: Unavailable, when another file, or none, is at the path now."""
        self._compare("the database file", self._path, self._opened)
        if self._lost_log is not None:
            self._compare("the write-ahead log of the database", self._wal, self._lost_log)

    def check_log(self, seen: MutableMapping[Any, Any]) -> None:
        """The same for the log of a connection, which `seen` belongs to: its log stays while it is open.

        Raises: Unavailable.
        """
        found, known = _identity(self._wal), seen.get("holdfast_log")
        if known is None:
            seen["holdfast_log"] = found
        elif found != known:
            self._lost_log = known
            self.check()

    def _compare(self, what: str, path: Path | str, opened: Identity | None) -> None:
        found = _identity(path)
        if found == opened:
            self._reported.discard(what)
            return
        happened = "removed" if found is None else "replaced"
        if what not in self._reported:
            self._reported.add(what)
            _log.error("%s was %s while it was open: nothing can be saved", what, happened)
        raise Unavailable(
            f"{self._path}: {what} was {happened} while it was open, so nothing can be saved: "
            "put the file back, or restore a backup, then stop and start the service"
        )


def _identity(path: Path | str) -> Identity | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
