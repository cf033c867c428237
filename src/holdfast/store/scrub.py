"""What an erase does after the rows are gone: no byte of them may stay in files that are ours.

Deleted rows live on in the full-text index until it is merged, in free pages unless they are overwritten, in
the write-ahead log until it is emptied, and in copies made before a migration.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine, text

from holdfast.store import sqlite
from holdfast.store.trouble import TROUBLES, unavailable

_CHUNK = 1 << 20

# What names a memory without being its own row, in a copy of any revision.
_IN_COPIES = (
    """UPDATE messages SET content = NULL WHERE space = :space AND id IN
       (SELECT message_id FROM versions WHERE space = :space AND memory_id = :id)""",
    """UPDATE receipts SET text = NULL, query = NULL WHERE space = :space AND id IN
       (SELECT receipt_id FROM receipt_items WHERE space = :space AND memory_id = :id)""",
    "DELETE FROM calls WHERE space = :space AND instr(outcome, '\"' || :id || '\"')",
    """DELETE FROM memory_words WHERE rowid IN
       (SELECT doc FROM memory_docs WHERE space = :space AND memory_id = :id)""",
)


def sqlite_files(
    engine: Engine, path: Path, *, texts: Sequence[str], memory_ids: Sequence[str], space: str
) -> list[str]:
    """Cleans the database, its log and its copies; answers what is left. The caller holds the write lock.

    The rows are gone already, so trouble on the way is told as something left, not raised.
    """
    left = []
    try:
        if not _emptied(engine):
            left.append(
                f"the log {path.name}-wal, which another process is reading: the next erase empties it"
            )
    except TROUBLES as error:
        left.append(f"free pages, which the next erase overwrites: {unavailable(error, str(path))}")
    for unfinished in path.parent.glob(f"{path.name}.before-*.bak.part*"):
        unfinished.unlink()  # of a migration that was killed
    for copy in copies(path):
        try:
            _clean_copy(copy, memory_ids, space)
        except TROUBLES as error:
            left.append(f"the copy before a migration: {unavailable(error, str(copy))}")
    pieces = {path: sqlite.raw_bytes(path, _CHUNK)}
    pieces |= {file: _pieces(file) for file in (path.with_name(path.name + "-wal"), *copies(path))}
    return left + [f"a trace in {file}" for file, found in pieces.items() if contains(found, texts)]


def postgres(engine: Engine) -> list[str]:
    """Vacuums the tables; answers what can't be reached from here."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM"))
    return ["PostgreSQL's write-ahead log and its archives, replicas, and backups of the server"]


def copies(path: Path) -> list[Path]:
    """Copies of the database that migrations made."""
    return sorted(path.parent.glob(f"{path.name}.before-*.bak"))


def contains(pieces: Iterator[bytes], texts: Sequence[str]) -> bool:
    """Whether any of `texts` stands in the pieces of a file, byte for byte."""
    needles = [needle.encode() for needle in texts if len(needle) >= 4]
    if not needles:
        return False
    overlap = max(map(len, needles))
    before = b""
    for piece in pieces:
        window = before + piece
        if any(needle in window for needle in needles):
            return True
        before = window[-overlap:]
    return False


def _emptied(engine: Engine) -> bool:
    """Merges the index, rewrites every page and empties the log; false when a reader still needs the log."""
    with engine.connect() as connection:
        connection.exec_driver_sql("INSERT INTO memory_words (memory_words) VALUES ('optimize')")
        connection.commit()
        sqlite.driver_of(connection).execute("VACUUM")
        return sqlite.checkpoint(connection)


def _pieces(file: Path) -> Iterator[bytes]:
    if file.exists():
        with file.open("rb") as stream:
            while piece := stream.read(_CHUNK):
                yield piece


def _clean_copy(copy: Path, memory_ids: Sequence[str], space: str) -> None:
    """Removes memories from an older copy, whatever its tables: all name a memory alike."""
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        tables = _tables_of_memories(connection)
        for memory_id in memory_ids:
            key = {"space": space, "id": memory_id}
            for statement in _IN_COPIES:
                connection.execute(statement, key)
            for table, column in tables:
                connection.execute(f'DELETE FROM "{table}" WHERE space = :space AND "{column}" = :id', key)
        connection.execute("INSERT INTO memory_words (memory_words) VALUES ('optimize')")
        connection.commit()
        connection.execute("VACUUM")


def _tables_of_memories(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """The tables whose rows belong to a memory, each with the column that names it."""
    found = []
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        column = "id" if table == "memories" else "memory_id"
        columns = {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}
        if {"space", column} <= columns:
            found.append((table, column))
    return found
