"""Queries over memories that are files, and over the directory that they stand in."""

from collections.abc import Collection

from sqlalchemy import select

from holdfast.domain.access import Reader
from holdfast.domain.space import Bound, FileRow
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import directories, files, memories
from holdfast.store.sql_filters import seen


class FileTable(SpaceRows):
    """The files of one space."""

    def all(self) -> list[FileRow]:
        """By path."""
        return self._values(FileRow, self._select(FileRow).order_by(files.c.path))

    def get(self, path: str) -> FileRow | None:
        return self._value(FileRow, self._select(FileRow, files.c.path == path))

    def among(self, paths: Collection[str]) -> dict[str, FileRow]:
        """Those of these paths that are known."""
        found = self._values(FileRow, self._select(FileRow, self._one_of(files.c.path, paths)))
        return {row.path: row for row in found}

    def of(self, memory_id: str) -> FileRow | None:
        query = self._select(FileRow, files.c.memory_id == memory_id)
        return self._value(FileRow, query.order_by(files.c.path))

    def paths(self, among: Collection[str] | None = None) -> dict[str, str]:
        """The path of each memory, or of those `among` them, that has one."""
        query = select(files.c.memory_id, files.c.path).where(
            files.c.space == self._space,
            files.c.memory_id.is_not(None) if among is None else self._one_of(files.c.memory_id, among),
        )
        return {row.memory_id: row.path for row in self._connection.execute(query)}

    def unplaced(self) -> list[str]:
        """The active memories that have no path yet; private ones get none."""
        has_one = select(files.c.path).where(files.c.space == self._space, files.c.memory_id == memories.c.id)
        query = select(memories.c.id).where(
            memories.c.space == self._space,
            memories.c.state == "active",
            *seen(Reader()),
            ~has_one.exists(),
        )
        return list(self._connection.execute(query).scalars())

    def unfollowed(self) -> list[str]:
        """The paths where a file is still to be written, or to be taken away."""
        gone = files.c.memory_id.is_(None) & files.c.given.is_(None)
        query = select(files.c.path).where(files.c.space == self._space, gone | files.c.stat.is_(None))
        return list(self._connection.execute(query).scalars())

    def count(self) -> int:
        return self._count(files)

    def put(self, *rows: FileRow) -> None:
        """Stores files, in place of what was known of their paths."""
        if rows:
            self._remove(files, self._one_of(files.c.path, [row.path for row in rows]))
            self._add(rows)

    def remove(self, path: str) -> None:
        self._remove(files, files.c.path == path)

    def strike(self, memory_id: str) -> None:
        """Takes a memory's text out. Without a directory nothing waits for the file to go: the row goes."""
        self._change(files, {"given": None, "mark": None}, files.c.memory_id == memory_id)
        self._remove(files, files.c.memory_id == memory_id, files.c.hash.is_(None))

    def bound(self) -> Bound | None:
        return self._value(Bound, self._select(Bound))

    def bind(self, bound: Bound) -> None:
        """Stores the binding, in place of the one that was there."""
        self._remove(directories)
        self._add([bound])

    def unbind(self) -> None:
        """Lets go of the directory; the files keep their paths."""
        self._remove(directories)
        self._change(files, {"hash": None, "stat": None})
