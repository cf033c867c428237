"""What an erase does after the rows are gone: no byte of them may stay in files that are ours.

Deleted rows live on in the full-text index until it is merged, in free pages unless they are overwritten, in
the write-ahead log until it is emptied, and in copies made before a migration.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from holdfast.store import sqlite
from holdfast.store.error_texts import TROUBLES, unavailable
from holdfast.store.sqlite_driver import connect, sqlite3

_CHUNK = 1 << 20

# What names a memory without being its own row, in a copy of any revision.
_IN_COPIES = (
    """UPDATE receipts SET text = NULL, query = NULL WHERE space = :space AND id IN
       (SELECT receipt_id FROM receipt_items WHERE space = :space AND memory_id = :id)""",
    "DELETE FROM calls WHERE space = :space AND instr(outcome, '\"' || :id || '\"')",
    """DELETE FROM memory_words WHERE rowid IN
       (SELECT doc FROM memory_docs WHERE space = :space AND memory_id = :id)""",
)
# The same for a message, where the copy has such tables.
_OF_MESSAGES = {
    "messages": "UPDATE messages SET content = NULL WHERE space = :space AND id = :id",
    "jobs": """DELETE FROM jobs WHERE space = :space AND kind = 'extract'
       AND instr(payload, '"' || :id || '"')""",
    "receipt_items": """UPDATE receipts SET text = NULL, query = NULL WHERE space = :space AND id IN
       (SELECT receipt_id FROM receipt_items WHERE space = :space AND message_id = :id)""",
    "message_docs": """DELETE FROM message_words WHERE rowid IN
       (SELECT doc FROM message_docs WHERE space = :space AND message_id = :id)""",
}


@dataclass(frozen=True, slots=True)
class Gone:
    """What was erased: memories, and messages that lost their text."""

    space: str
    memories: tuple[str, ...]
    messages: tuple[str, ...]


def scrub_files(engine: Engine, path: Path, *, texts: Sequence[str], gone: Gone) -> list[str]:
    """Cleans the database, its log and its copies; answers what is left. The caller holds the write lock.

    The rows are gone already, so trouble on the way is told as something left, not raised.
    """
    left = []
    try:
        if not _emptied(engine):
            left.append(
                f"the log {path.name}-wal, which another process is reading: the next erase clears it"
            )
    except TROUBLES as error:
        left.append(f"free pages, which the next erase overwrites: {unavailable(error, str(path))}")
    for unfinished in path.parent.glob(f"{path.name}.before-*.bak.part*"):
        unfinished.unlink()  # of a migration that was killed
    for copy in copies(path):
        try:
            _clean_copy(copy, gone)
        except TROUBLES as error:
            left.append(f"the copy before a migration: {unavailable(error, str(copy))}")
    pieces = {path: sqlite.raw_bytes(path, _CHUNK)}
    pieces |= {file: _pieces(file) for file in (path.with_name(path.name + "-wal"), *copies(path))}
    return left + [f"a trace in {file}" for file, found in pieces.items() if contains(found, texts)]


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
        for index in ("memory_words", "message_words"):
            connection.exec_driver_sql(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
        connection.commit()
        sqlite.driver_of(connection).execute("VACUUM")
        return sqlite.checkpoint(connection)


def _pieces(file: Path) -> Iterator[bytes]:
    if file.exists():
        with file.open("rb") as stream:
            while piece := stream.read(_CHUNK):
                yield piece


def _clean_copy(copy: Path, gone: Gone) -> None:
    """Removes what was erased from an older copy, whatever its tables: all name owners alike."""
    with closing(connect(copy)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        columns = _columns(connection)
        for memory_id in gone.memories:
            key = {"space": gone.space, "id": memory_id}
            for statement in _IN_COPIES:
                connection.execute(statement, key)
            for table, named in columns.items():
                column = "id" if table == "memories" else "memory_id"
                if {"space", column} <= named:
                    mine = f'"{table}" WHERE space = :space AND "{column}" = :id'
                    connection.execute(f"DELETE FROM {mine}", key)
        _silence(connection, gone, columns)
        if "brief_totals" in columns:  # which name projects, and are counted again
            connection.execute("DELETE FROM brief_totals WHERE space = :space", {"space": gone.space})
            connection.execute(
                "UPDATE heads SET ranked_by = NULL WHERE space = :space", {"space": gone.space}
            )
        if "growth" in columns:  # counted again, too
            connection.execute("DELETE FROM growth WHERE space = :space", {"space": gone.space})
            connection.execute("UPDATE heads SET counted_to = 0 WHERE space = :space", {"space": gone.space})
        for index in columns.keys() & {"memory_words", "message_words"}:
            connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
        connection.commit()
        connection.execute("VACUUM")


def _silence(connection: sqlite3.Connection, gone: Gone, columns: dict[str, set[str]]) -> None:
    """Takes the text out of messages, with what was made of it."""
    for message_id in gone.messages:
        key = {"space": gone.space, "id": message_id}
        for table, statement in _OF_MESSAGES.items():
            if table in ("messages", "jobs") or "message_id" in columns.get(table, ()):
                connection.execute(statement, key)
        for table in ("receipt_items", "message_docs", "message_vectors"):
            if "message_id" in columns.get(table, ()):
                connection.execute(f"DELETE FROM {table} WHERE space = :space AND message_id = :id", key)
    if "vector_blocks" in columns:  # a cache, which is made again
        connection.execute("DELETE FROM vector_blocks WHERE space = :space", {"space": gone.space})


def _columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """The tables of a copy with the names of their columns."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {
        table: {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')} for (table,) in tables
    }
