"""What an erase does after the rows are gone: no byte of them may stay in files that are ours.

Deleted rows live on in the full-text index until it is merged, in free pages unless they are overwritten, in
the write-ahead log until it is emptied, and in copies made before a migration.
"""

import contextlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy import Engine, text

from holdfast.store import sqlite

_CHUNK = 1 << 20


def sqlite_files(
    engine: Engine, path: Path, *, texts: Sequence[str], memory_ids: Sequence[str], space: str
) -> list[str]:
    """Cleans the database, its log and its copies; answers what is left. The caller holds the write lock."""
    left = []
    with engine.connect() as connection:
        connection.exec_driver_sql("INSERT INTO memory_words (memory_words) VALUES ('optimize')")
        connection.commit()
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        driver.execute("VACUUM")
        if not sqlite.checkpoint(connection):
            left.append(
                f"the log {path.name}-wal, which another process is reading: erase again after it ends"
            )
    for copy in copies(path):
        _clean_copy(copy, memory_ids, space)
    for file in (path, path.with_name(path.name + "-wal"), *copies(path)):
        if found_in(file, texts):
            left.append(f"a trace in {file}")
    return left


def postgres(engine: Engine) -> list[str]:
    """Vacuums the tables; answers what can't be reached from here."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM"))
    return ["PostgreSQL's write-ahead log and its archives, replicas, and backups of the server"]


def copies(path: Path) -> list[Path]:
    """Copies of the database that migrations made."""
    return sorted(path.parent.glob(f"{path.name}.before-*.bak"))


def found_in(file: Path, texts: Iterable[str]) -> bool:
    """Whether any of `texts` stands in the file, byte for byte."""
    needles = [needle.encode() for needle in texts if len(needle) >= 4]
    if not needles or not file.exists():
        return False
    overlap = max(len(needle) for needle in needles)
    with file.open("rb") as stream:
        before = b""
        while chunk := stream.read(_CHUNK):
            window = before + chunk
            if any(needle in window for needle in needles):
                return True
            before = window[-overlap:]
    return False


def _clean_copy(copy: Path, memory_ids: Sequence[str], space: str) -> None:
    """Removes memories from an older copy, whatever its tables: all name a memory alike."""
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in names:
            columns = {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}
            column = "id" if table == "memories" else "memory_id"
            if {"space", column} <= columns and table != "memory_docs":
                for memory_id in memory_ids:
                    connection.execute(
                        f'DELETE FROM "{table}" WHERE space = ? AND "{column}" = ?', (space, memory_id)
                    )
        for memory_id in memory_ids:
            mine = "SELECT doc FROM memory_docs WHERE space = ? AND memory_id = ?"
            connection.execute(f"DELETE FROM memory_words WHERE rowid IN ({mine})", (space, memory_id))
        connection.execute("INSERT INTO memory_words (memory_words) VALUES ('optimize')")
        connection.commit()
        connection.execute("VACUUM")
