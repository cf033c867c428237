"""Queries over memories that are files, and over the directory that they stand in."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from holdfast.engine.ports import Bound, FileRow
from holdfast.store.schema import directories, files, memories
from holdfast.store.sql_in import one_of


class FileTable:
    """The files of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def all(self) -> list[FileRow]:
        """By path."""
        query = select(files).where(files.c.space == self._space).order_by(files.c.path)
        return [_file(row) for row in self._connection.execute(query)]

    def get(self, path: str) -> FileRow | None:
        query = select(files).where(files.c.space == self._space, files.c.path == path)
        row = self._connection.execute(query).first()
        return _file(row) if row is not None else None

    def among(self, paths: Collection[str]) -> dict[str, FileRow]:
        """Those of these paths that are known."""
        here = one_of(files.c.path, paths, self._connection)
        query = select(files).where(files.c.space == self._space, here)
        return {row.path: _file(row) for row in self._connection.execute(query)}

    def of(self, memory_id: str) -> FileRow | None:
        query = select(files).where(files.c.space == self._space, files.c.memory_id == memory_id)
        row = self._connection.execute(query.order_by(files.c.path)).first()
        return _file(row) if row is not None else None

    def paths(self) -> dict[str, str]:
        """The path of each memory that has one."""
        query = select(files.c.memory_id, files.c.path).where(
            files.c.space == self._space, files.c.memory_id.is_not(None)
        )
        return {row.memory_id: row.path for row in self._connection.execute(query)}

    def unplaced(self) -> list[str]:
        """The active memories that have no path yet."""
        has_one = select(files.c.path).where(files.c.space == self._space, files.c.memory_id == memories.c.id)
        query = select(memories.c.id).where(
            memories.c.space == self._space, memories.c.state == "active", ~has_one.exists()
        )
        return list(self._connection.execute(query).scalars())

    def unfollowed(self) -> list[str]:
        """The paths where a file is still to be written, or to be taken away."""
        gone = files.c.memory_id.is_(None) & files.c.given.is_(None)
        query = select(files.c.path).where(files.c.space == self._space, gone | files.c.stat.is_(None))
        return list(self._connection.execute(query).scalars())

    def count(self) -> int:
        query = select(func.count()).select_from(files).where(files.c.space == self._space)
        return int(self._connection.execute(query).scalar_one())

    def put(self, *rows: FileRow) -> None:
        """Stores files, in place of what was known of their paths."""
        if not rows:
            return
        known = one_of(files.c.path, [row.path for row in rows], self._connection)
        self._connection.execute(delete(files).where(files.c.space == self._space, known))
        values = [
            {
                "space": self._space,
                "path": row.path,
                "memory_id": row.memory,
                "given": row.given,
                "mark": row.mark,
                "hash": row.hash,
                "stat": row.stat,
            }
            for row in rows
        ]
        self._connection.execute(insert(files), values)

    def remove(self, path: str) -> None:
        self._connection.execute(delete(files).where(files.c.space == self._space, files.c.path == path))

    def strike(self, memory_id: str) -> None:
        """Takes a memory's text out. Without a directory nothing waits for the file to go: the row goes."""
        mine = (files.c.space == self._space, files.c.memory_id == memory_id)
        self._connection.execute(update(files).where(*mine).values(given=None, mark=None))
        self._connection.execute(delete(files).where(*mine, files.c.hash.is_(None)))

    def bound(self) -> Bound | None:
        query = select(directories).where(directories.c.space == self._space)
        row = self._connection.execute(query).first()
        if row is None:
            return None
        return Bound(
            path=row.path,
            layout=row.layout,
            index_hash=row.index_hash,
            asks=row.asks,
            refused=row.refused,
            bound_at=row.bound_at,
            agreed_at=row.agreed_at,
        )

    def bind(self, bound: Bound) -> None:
        """Stores the binding, in place of the one that was there."""
        self._connection.execute(delete(directories).where(directories.c.space == self._space))
        values = {
            "space": self._space,
            "path": bound.path,
            "layout": bound.layout,
            "index_hash": bound.index_hash,
            "asks": bound.asks,
            "refused": dict(bound.refused),
            "bound_at": bound.bound_at,
            "agreed_at": bound.agreed_at,
        }
        self._connection.execute(insert(directories).values(values))

    def unbind(self) -> None:
        """Lets go of the directory; the files keep their paths."""
        self._connection.execute(delete(directories).where(directories.c.space == self._space))
        here = files.c.space == self._space
        self._connection.execute(update(files).where(here).values(hash=None, stat=None))


def _file(row: Sequence[Any]) -> FileRow:
    # Taken apart at once: asking a row for each column by name costs twice.
    _, path, memory, given, mark, digest, stat = row
    return FileRow(path=path, memory=memory, given=given, mark=mark, hash=digest, stat=stat)
