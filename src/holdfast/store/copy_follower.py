"""Keeps a continuous copy up to date; what the store does for it before a checkpoint, and in an erase."""

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, Invalid, Unavailable
from holdfast.store import sqlite
from holdfast.store.continuous_copy import CopyFolder, Gap
from holdfast.store.error_texts import TROUBLES

if TYPE_CHECKING:
    from holdfast.store.database import Database


@dataclass(frozen=True, slots=True)
class Registered:
    """What stands beside a database about its copy."""

    folder: str
    anew: bool = False  # the copy may have missed something: begin a new snapshot
    erased: bool = False  # and remove all older ones, which hold what was erased


def registered(database: Path) -> Registered | None:
    """The copy of a database; none if it has none."""
    try:
        return Registered(**json.loads(_file(database).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def is_followed(database: Path) -> bool | None:
    """Whether its copy has a follower; none if it has no copy."""
    known = registered(database)
    return CopyFolder(Path(known.folder), database).followed() if known else None


def open_follower(target: str, folder: str, keep: timedelta) -> "Follower":
    """A follower of the SQLite file at `target`. Raises: Unavailable, Invalid."""
    from holdfast.store.database import Database

    database = Database.open(target)
    if database.path is None:
        database.close()
        raise Invalid(
            "only SQLite files are copied: archive the log of PostgreSQL (docs/guides/operations.md)",
            field="db",
        )
    return Follower(database, database.path, Path(folder).absolute(), keep)


class Follower:
    """Copies a database into a folder, step by step.

    Its open connection keeps other processes from emptying the log when they close the database.
    """

    def __init__(self, database: "Database", path: Path, folder: Path, keep: timedelta) -> None:
        self._database = database
        self._path = path
        self._keep = keep
        self.copy = CopyFolder(folder, path)

    def start(self, held: ExitStack) -> None:
        """Registers the folder and becomes its follower, for as long as `held`. Raises: Conflict, OSError."""
        known = registered(self._path)
        if known is not None and known.folder != str(self.copy.folder):
            raise Conflict(
                f"{self._path} is copied into {known.folder} already: follow that folder, "
                f"or remove it and {_file(self._path)}"
            )
        self.copy.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        held.enter_context(self.copy.following())
        _register(self._path, known or Registered(str(self.copy.folder)))
        self._database.spaces()  # which leaves a connection open

    @property
    def source(self) -> str:
        return str(self._path)

    def close(self) -> None:
        self._database.close()

    def check(self) -> None:
        """Raises: Unavailable, when another database is in place of the one that is copied."""
        self._database.check()

    def step(self) -> bool:
        """Copies what was committed since the last step; whether there was anything. Raises: Unavailable."""
        try:
            return self._step()
        except OSError as error:
            raise Unavailable(f"{self.copy.folder} can't be written: {error.strerror or error}") from error

    def finish(self) -> None:
        """Copies the rest, which closing the database may remove from its log."""
        with self._database.writing():
            self.step()

    def _step(self) -> bool:
        self.check()
        known = registered(self._path)
        if known is not None and known.anew:
            self._begin()
            return True
        try:
            with self.copy.locked():
                added = self.copy.add()
                self.copy.remove_older(datetime.now(UTC) - self._keep)
        except Gap:
            self._begin()
            return True
        if self.copy.is_due():
            self._begin()
        return added

    def _begin(self) -> None:
        with ExitStack() as writing, ExitStack() as held:
            writing.enter_context(self._database.writing())
            known = registered(self._path)
            held.enter_context(self.copy.locked())
            _snapshot(self._database, self.copy, pinned=writing.close)
            everything = known is not None and known.erased
            self.copy.remove_older(None if everything else datetime.now(UTC) - self._keep)
        with self._database.writing():
            if registered(self._path) == known:  # nobody asked for another one meanwhile
                _register(self._path, Registered(str(self.copy.folder)))


def checkpoint(database: Path, empty: Callable[[], bool]) -> bool:
    """Empties the log by `empty`, after a copy that is being followed got the rest of it.

    The caller holds the write lock. A folder that can't be written keeps nobody from writing.
    """
    known = registered(database)
    if known is None or known.anew or not is_followed(database):
        return empty()
    copy = CopyFolder(Path(known.folder), database)
    try:
        with copy.locked(patience=0):
            try:
                copy.add()
            except Gap:  # the follower finds the same, and begins anew
                return empty()
            emptied = empty()
            if emptied:
                copy.log_was_emptied()
            return emptied
    except Unavailable:  # the follower is at it: the log stays until the next commit
        return False
    except OSError:
        _register(database, replace(known, anew=True))
        return empty()


def erase_from_copy(
    database: "Database", erase: Callable[[], list[str]], *, older_too: bool = True
) -> list[str]:
    """Erases by `erase`, then begins the copy anew and removes all that is older; answers what is left.

    Of a deleted space the `older` stays: it can be restored. The caller holds the write lock.
    """
    path = database.path
    known = registered(path) if path else None
    if path is None or known is None:
        return erase()
    copy = CopyFolder(Path(known.folder), path)
    left: list[str] | None = None
    with ExitStack() as held:
        try:
            held.enter_context(copy.locked())
            left = erase()
            _snapshot(database, copy)
            if older_too:
                copy.remove_older()
            return left
        except (*TROUBLES, Unavailable):
            _register(path, replace(known, anew=True, erased=known.erased or older_too))
    left = erase() if left is None else left
    older = f"the copies in {copy.folder}, until they are kept up to date again"
    return [*left, older] if older_too else left


def _snapshot(database: "Database", copy: CopyFolder, pinned: Callable[[], None] = lambda: None) -> None:
    """Writes a snapshot; the caller holds both locks. From `pinned` on others may write."""
    with database.engine.connect() as connection, connection.begin():
        connection.exec_driver_sql("SELECT count(*) FROM sqlite_master")
        position = copy.end_of_log()
        pinned()
        copy.begin(position, partial(sqlite.copy_to, connection))


def _file(database: Path) -> Path:
    return database.with_name(f"{database.name}-copy")


def _register(database: Path, known: Registered) -> None:
    part = database.with_name(f"{database.name}-copy.part")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(known)))
    os.replace(part, _file(database))
