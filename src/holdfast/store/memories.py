"""Queries over memories. Every one carries the space."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, Text, delete, func, select, type_coerce, update

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, Order
from holdfast.store import sqlite
from holdfast.store.chosen import one_of
from holdfast.store.rows import from_memory, same_or_none, to_memory, to_memory_from_file
from holdfast.store.schema import memories
from holdfast.store.upsert import insert_new
from holdfast.store.vector_rows import VectorTable

_ORDERS: dict[Order, tuple[Any, ...]] = {
    "category": (memories.c.category, memories.c.created_at, memories.c.id),
    "recent": (memories.c.updated_at.desc(), memories.c.created_at.desc(), memories.c.id),
    "confidence": (memories.c.confidence.desc(), memories.c.created_at, memories.c.id),
    "created": (memories.c.created_at, memories.c.id),
}


_MANY = (
    f"SELECT {', '.join(column.name for column in memories.columns)} FROM memories "
    "WHERE space = ? AND id IN (SELECT value FROM json_each(?))"
)


class MemoryTable:
    """The memories of one space."""

    def __init__(self, connection: Connection, space: str, vectors: VectorTable[Memory]) -> None:
        self._connection = connection
        self._space = space
        self._vectors = vectors

    def get(self, memory_id: str) -> Memory | None:
        row = self._connection.execute(self._all().where(memories.c.id == memory_id)).one_or_none()
        return to_memory(row) if row else None

    def many(self, memory_ids: Sequence[str]) -> list[Memory]:
        """Those of the memories that there are, in the order of `memory_ids`."""
        if self._connection.dialect.name == "sqlite":  # past SQLAlchemy, which takes half of the time
            values = (self._space, json.dumps(memory_ids))
            rows = map(to_memory_from_file, sqlite.driver_of(self._connection).execute(_MANY, values))
        else:
            query = self._all().where(one_of(memories.c.id, memory_ids, self._connection))
            rows = map(to_memory, self._connection.execute(query).all())
        found = {memory.id: memory for memory in rows}
        return [found[memory_id] for memory_id in memory_ids if memory_id in found]

    def find(
        self, where: Filter, *, order: Order = "category", limit: int | None = None, offset: int = 0
    ) -> list[Memory]:
        query = narrowed(self._all(), where).order_by(*_ORDERS[order]).limit(limit).offset(offset or None)
        return [to_memory(row) for row in self._connection.execute(query)]

    def count(self, where: Filter) -> int:
        query = select(func.count()).select_from(memories).where(memories.c.space == self._space)
        return int(self._connection.execute(narrowed(query, where)).scalar_one())

    def about(self, category: str, subject: str | None, project: str | None, limit: int) -> list[Memory]:
        """Active memories, newest first, that a new draft on this subject could repeat or contradict.

        No subject means general knowledge, a subject of its own, not "any subject". A project's drafts
        meet the project's memories and those of none.
        """
        query = (
            self._all()
            .where(
                memories.c.category == category,
                memories.c.state == "active",
                same_or_none(memories.c.subject, subject),
            )
            .order_by(memories.c.created_at.desc(), memories.c.id)
            .limit(limit)
        )
        query = narrowed(query, Filter(states=("active",), project=project, other_projects=False))
        return [to_memory(row) for row in self._connection.execute(query)]

    def named(self, subject: str, project: str | None) -> list[Memory]:
        """The memories in use under this subject in a project."""
        query = self._all().where(
            memories.c.subject == subject,
            same_or_none(memories.c.project, project),
            memories.c.state.in_(("active", "inactive")),
        )
        return [to_memory(row) for row in self._connection.execute(query.order_by(memories.c.created_at))]

    def forgotten_from(self, message_ids: Collection[str]) -> set[str]:
        """Those of the messages that a memory was taken from which is forgotten now."""
        query = select(memories.c.message_id).where(
            memories.c.space == self._space,
            memories.c.state == "forgotten",
            one_of(memories.c.message_id, message_ids, self._connection),
        )
        return set(self._connection.execute(query).scalars())

    def add(self, memory: Memory) -> bool:
        """Adds it; false when the id is taken, and then nothing was changed."""
        return insert_new(self._connection, memories, from_memory(memory))

    def save(self, memory: Memory) -> None:
        values = {key: value for key, value in from_memory(memory).items() if key not in ("space", "id")}
        self._connection.execute(update(memories).where(self._is(memory.id)).values(values))

    def touch(self, memory_ids: Iterable[str], now: datetime) -> None:
        """Counts an access of each."""
        self._connection.execute(
            update(memories)
            .where(memories.c.space == self._space, memories.c.id.in_(list(memory_ids)))
            .values(accesses=memories.c.accesses + 1, accessed_at=now)
        )

    def remove(self, memory_id: str) -> None:
        """Removes the row; versions, links and vectors go with it."""
        self._vectors.drop([memory_id])
        self._connection.execute(delete(memories).where(self._is(memory_id)))

    def _all(self) -> Select[Any]:
        return select(memories).where(memories.c.space == self._space)

    def _is(self, memory_id: str) -> Any:
        return (memories.c.space == self._space) & (memories.c.id == memory_id)


def narrowed(query: Select[Any], where: Filter) -> Select[Any]:
    """`query` with the conditions of `where`."""
    column = memories.c
    query = query.where(column.state.in_(where.states))
    exact = {
        column.category: where.category,
        column.subject: where.subject,
        column.origin: where.origin,
        column.session_id: where.session,
        column.importance: where.importance,
    }
    query = query.where(*(name == value for name, value in exact.items() if value is not None))
    if where.general:
        query = query.where(column.subject.is_(None))
    if not where.other_projects:
        query = query.where(column.project.is_(None) | (column.project == where.project))
    elif where.project is not None:
        query = query.where(column.project == where.project)
    if where.least_confidence is not None:
        query = query.where(column.confidence >= where.least_confidence)
    if where.created_after is not None:
        query = query.where(column.created_at >= where.created_after)
    if where.created_before is not None:
        query = query.where(column.created_at < where.created_before)
    for tag in where.tags:
        # Tags are stored as a JSON list, so a tag is found as its JSON text, quotes included.
        quoted = json.dumps(tag, ensure_ascii=False)
        # Not LIKE: on SQLite it does not tell upper from lower case.
        tags = type_coerce(column.tags, Text)
        query = query.where(func.replace(tags, quoted, "") != tags)
    return query
