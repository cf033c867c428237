"""Queries over links between memories."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, and_, delete, exists, or_, select

from holdfast.domain.memory import Link, LinkKind
from holdfast.store.rows import AnyRow
from holdfast.store.schema import links, memories
from holdfast.store.sql_in import one_of
from holdfast.store.upsert import insert_new


class LinkTable:
    """The links of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def add(self, link: Link) -> bool:
        """Adds it; false when the two are linked so already."""
        values = {
            "space": self._space,
            "from_id": link.from_id,
            "to_id": link.to_id,
            "kind": link.kind,
            "session_id": link.session,
            "created_at": link.created_at,
        }
        return insert_new(self._connection, links, values)

    def of(self, memory_id: str) -> list[Link]:
        """The links that begin or end at a memory, oldest first."""
        return self._links(or_(links.c.from_id == memory_id, links.c.to_id == memory_id))

    def into(self, memory_ids: Collection[str]) -> list[Link]:
        """The links that end at one of these memories, oldest first."""
        return self._links(one_of(links.c.to_id, memory_ids, self._connection))

    def of_session(self, session_id: str) -> list[Link]:
        return self._links(links.c.session_id == session_id)

    def of_kind(self, kind: LinkKind) -> list[Link]:
        """All links of a kind, oldest first."""
        return self._links(links.c.kind == kind)

    def superseding(self, memory_ids: Collection[str] | None = None) -> list[Link]:
        """The `supersedes` links between active memories, of these or of all, oldest first."""
        newer, older = memories.alias(), memories.alias()
        led = exists().where(
            newer.c.space == self._space,
            newer.c.id == links.c.from_id,
            newer.c.state == "active",
            older.c.space == self._space,
            older.c.id == links.c.to_id,
            older.c.state == "active",
            # What another project says leads nothing here.
            or_(newer.c.project.is_(None), newer.c.project == older.c.project),
        )
        condition = and_(links.c.kind == "supersedes", led)
        if memory_ids is not None:
            ends = (one_of(end, memory_ids, self._connection) for end in (links.c.from_id, links.c.to_id))
            condition = and_(or_(*ends), condition)
        return self._links(condition)

    def remove(self, from_id: str, to_id: str, kind: LinkKind | None) -> int:
        """Removes the links from one memory to the other, of one kind or of all; answers how many."""
        statement = delete(links).where(
            links.c.space == self._space, links.c.from_id == from_id, links.c.to_id == to_id
        )
        if kind is not None:
            statement = statement.where(links.c.kind == kind)
        return self._connection.execute(statement).rowcount

    def _links(self, condition: Any) -> list[Link]:
        query = (
            select(links)
            .where(links.c.space == self._space, condition)
            .order_by(links.c.created_at, links.c.from_id, links.c.to_id, links.c.kind)
        )
        return [_link(row) for row in self._connection.execute(query)]


def _link(row: AnyRow) -> Link:
    return Link(
        from_id=row.from_id, to_id=row.to_id, kind=row.kind, created_at=row.created_at, session=row.session_id
    )
