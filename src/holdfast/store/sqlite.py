"""SQLite as the store: how a file is opened, written by one process at a time, and checkpointed.

Every connection is in WAL mode with full sync. SQLite's own automatic checkpoints are off: versions before
3.51.3 can corrupt the log when two connections checkpoint and write at once, so only the holder of the
application's write lock checkpoints, and the last connection of all when it closes, which has the file for
itself. The lock is a file lock, which the system drops when a process dies.

Nothing else may open the database file in this process: closing any descriptor of it drops the locks that
SQLite holds on it, and another process could then remove the log under us. `raw_bytes` alone reads the file.
"""
# budget: who may open, write and copy the file is one set of rules.

import errno
import json
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from holdfast.app import file_lock
from holdfast.domain.query import says
from holdfast.errors import Unavailable
from holdfast.store.sqlite_driver import connect, salt_of, sqlite3

_log = logging.getLogger(__name__)

Identity = tuple[int, int]  # device and inode

APPLICATION_ID = 0x486F6C64  # "Hold": tells our files from other programs' databases
PATIENCE = 60.0  # seconds to wait for the write lock
_LEAST_PAGE = 512  # bytes
_PAUSE = 0.004  # seconds between two looks at the lock, at first
LOG_LIMIT = 4 * 1024 * 1024  # bytes of write-ahead log after which a writer checkpoints

# Takes hold only while the file is empty; on another one it would be a write, outside of the write lock.
_NEW_FILE = "PRAGMA auto_vacuum = INCREMENTAL"
_PRAGMAS = (
    f"PRAGMA busy_timeout = {int(PATIENCE * 1000)}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # on macOS a sync ends in the drive's cache otherwise; no effect elsewhere
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA wal_autocheckpoint = 0",
    f"PRAGMA journal_size_limit = {2 * LOG_LIMIT}",
    "PRAGMA temp_store = MEMORY",
)


#: What SQLite says when it can't make its log beside a file.
_UNWRITABLE = ("unable to open", "disk I/O error", "disk is full", "readonly database")


def open_engine(path: Path) -> tuple[Engine, "OpenFile"]:
    """An engine on the file at `path`, which is made, for its owner only, if it is not there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    opened = OpenFile(path)

    # No overflow: a connection that closes by itself would checkpoint outside of the write lock.
    engine = create_engine(
        "sqlite://", module=sqlite3, creator=opened.connect, poolclass=QueuePool, pool_size=8, max_overflow=0
    )

    @event.listens_for(engine, "close")
    def close(connection: sqlite3.Connection, _: object) -> None:
        opened.forget_log(connection)

    @event.listens_for(engine, "checkout")
    def checkout(_: object, record: ConnectionPoolEntry, __: object) -> None:
        # A connection that could only read is used once: perhaps the disk can be written by the next time.
        if "reads_only" not in record.info:
            record.info["reads_only"] = _reads_only(record)
        elif record.info["reads_only"]:
            raise DisconnectionError

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A deferred transaction that reads first can't wait for the lock when it comes to write.
        writes = connection.get_execution_options().get("holdfast_write", False)
        if writes:
            opened.check_log()
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
        opened.check()

    return engine, opened


def _connected(place: str, path: Path) -> sqlite3.Connection:
    connection = connect(place, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
    connection.create_function("holdfast_says", -1, _says, deterministic=True)
    try:
        if path.stat().st_size == 0:
            connection.execute(_NEW_FILE)
        for pragma in _PRAGMAS:
            connection.execute(pragma).fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _says(asked: str, tags: str, *parts: str | None) -> bool:
    """What the filter `text` asks: SQLite's own comparisons know the case of ASCII only."""
    return says((*parts, *json.loads(tags)), asked)


def existing(path: Path) -> str:
    """The file as SQLite opens it without making a new one in its place."""
    return f"{path.absolute().as_uri()}?mode=rw"


def immutable(path: Path) -> str:
    """The file as SQLite reads it without a log: for a disk that is full or can't be written."""
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


def _only_unwritable(error: Exception, path: Path) -> bool:
    """Whether a file can be read as it is: the log can't be made beside it, and none that is there counts."""
    said = str(error)
    return any(sign in said for sign in _UNWRITABLE) and path.stat().st_size > 0 and log_size(path) == 0


def _reads_only(record: ConnectionPoolEntry) -> bool:
    driver = record.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return str(driver.execute("PRAGMA journal_mode").fetchone()[0]) != "wal"


class OpenFile:
    """The database file as it was when it was opened, with its write-ahead log.

    SQLite goes on writing into a file that has lost its name: what is acknowledged then is gone with the last
    descriptor. So the file at the path is compared with the one that was opened, by device and inode, without
    opening it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wal = f"{path}-wal"
        self._opened = _identity(path)
        self._logs: dict[int, Identity] = {}  # of each open connection
        self._lost_log: Identity | None = None
        self._reported: set[str] = set()
        self._reporting = threading.Lock()

    def connect(self) -> sqlite3.Connection:
        """A connection to it; one that only reads, where the log can't be made. Raises: Unavailable."""
        self.check()
        self.check_log()
        try:
            connection = _connected(existing(self._path), self._path)
        except (sqlite3.OperationalError, FileNotFoundError) as error:
            self.check()  # it may have been removed since
            if not _only_unwritable(error, self._path):
                raise
            return _connected(immutable(self._path), self._path)
        # It stays while the connection is open.
        if (log := _identity(self._wal)) is not None:
            self._logs[id(connection)] = log
        return connection

    def check(self) -> None:
        """Raises: Unavailable, when another file, or none, is at the path now."""
        self._compare("the database file", self._path, self._opened)
        if self._lost_log is not None:
            self._compare("the write-ahead log of the database", self._wal, self._lost_log)

    def forget_log(self, connection: sqlite3.Connection) -> None:
        self._logs.pop(id(connection), None)

    def check_log(self) -> None:
        """Compares the log with those of all open connections: closing one with another log removes this one.

        Raises: Unavailable.
        """
        found = _identity(self._wal)
        for known in list(self._logs.values()):
            if known != found:
                self._lost_log = known
                self.check()

    def _compare(self, what: str, path: Path | str, opened: Identity | None) -> None:
        found = _identity(path)
        if found == opened:
            self._reported.discard(what)
            return
        happened = "removed" if found is None else "replaced"
        with self._reporting:
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


class WriteLock:
    """One writer at a time over all threads and processes that use a database file."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + "-lock")
        self._queue = threading.RLock()  # in which all threads wait but the urgent ones
        self._threads = threading.RLock()
        self._holder: int | None = None  # a thread
        self._depth = 0

    @contextmanager
    def held(self, patience: float | None = None, *, urgent: bool = False) -> Iterator[None]:
        """Holds the lock for the block; who is urgent passes the other threads.

        Raises: Unavailable, when somebody else holds it for longer than `patience` seconds.
        """
        patience = PATIENCE if patience is None else patience
        deadline = time.monotonic() + patience
        with ExitStack() as locks:
            # Whoever holds the lock already does not line up behind those who wait for it.
            lines_up = not urgent and self._holder != threading.get_ident()
            for lock in [self._queue] * lines_up + [self._threads]:
                if not lock.acquire(timeout=max(deadline - time.monotonic(), 0)):
                    raise self._taken(patience)
                locks.callback(lock.release)
            if self._depth:
                yield
                return
            descriptor = file_lock.open_file(self._path)
            try:
                self._wait(descriptor, deadline, patience)
                self._depth += 1
                self._holder = threading.get_ident()
                yield
            finally:
                self._holder, self._depth = None, 0
                file_lock.close(descriptor)

    def _wait(self, descriptor: int, deadline: float, patience: float) -> None:
        began = time.monotonic()
        while not file_lock.try_lock(descriptor):
            now = time.monotonic()
            if now > deadline:
                raise self._taken(patience)
            # The longer it has waited the more often it asks: busy writers must not starve it.
            time.sleep(max(_PAUSE / (1 + 8 * (now - began)), _PAUSE / 10))

    def _taken(self, patience: float) -> Unavailable:
        return Unavailable(
            f"another process has been writing for over {patience:.0f} s: stop it, then try again"
        )


def checkpoint(connection: Connection) -> bool:
    """Moves the log into the database and empties it; false when that can't be done now.

    A reader may still need the log, or the disk may be full: nothing is lost then, the log stays.
    Only for the holder of the write lock.
    """
    driver = driver_of(connection)
    driver.execute("PRAGMA busy_timeout = 0")
    try:
        busy, _, _ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error:
        return False
    finally:
        driver.execute(_PRAGMAS[0])
    return not busy


def driver_of(connection: Connection) -> sqlite3.Connection:
    """The driver's own connection, for what has no transaction around it."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def log_size(path: Path) -> int:
    """Bytes in the write-ahead log of the database at `path`."""
    with suppress(FileNotFoundError):
        return path.with_name(path.name + "-wal").stat().st_size
    return 0


def foreign(path: Path) -> bool:
    """Whether the file holds another program's tables; asked read-only, so that it stays as it is."""
    size = path.stat().st_size
    if size + log_size(path) == 0:
        return False
    if 0 < size < _LEAST_PAGE:  # SQLite takes a file of one byte for an empty one
        raise sqlite3.DatabaseError("file is not a database")
    with closing(opened_to_read(path, PATIENCE)) as connection:
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(owner != APPLICATION_ID and tables)


def opened_to_read(path: Path, patience: float) -> sqlite3.Connection:
    """A connection that changes nothing, also where the log can't be made.

    Raises: sqlite3.Error.
    """
    connection = connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=patience)
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if not _only_unwritable(error, path):
            raise
        return connect(immutable(path), uri=True)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def copy_to(connection: Connection, target: Path) -> None:
    """Writes all that is committed, the log's part too, into one new file; the whole of it or nothing."""
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    source = driver_of(connection)
    with closing(connect(part, salt=salt_of(source), isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()  # the copy needs no log beside it
    os.replace(part, target)


#: By device and inode; never closed, for the reason that the top of this file gives.
_scanned: dict[tuple[int, int], int] = {}


def raw_bytes(path: Path, size: int) -> Iterator[bytes]:
    """A database file as it lies on the disk, in pieces."""
    if not hasattr(os, "pread"):  # Windows, where closing a descriptor drops no locks of others
        with path.open("rb") as file:
            yield from iter(partial(file.read, size), b"")
        return
    status = path.stat()
    key = (status.st_dev, status.st_ino)
    descriptor = _scanned.get(key)
    if descriptor is None:
        descriptor = _scanned.setdefault(key, os.open(path, os.O_RDONLY))
    position = 0
    while piece := os.pread(descriptor, size, position):
        yield piece
        position += len(piece)
