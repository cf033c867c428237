"""Queries over memories. Every one carries the space."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Integer,
    Select,
    Text,
    delete,
    func,
    insert,
    select,
    type_coerce,
    update,
)

from holdfast.domain.memory import Memory, State
from holdfast.domain.query import Filter, Group, MemoryCursor, Order
from holdfast.domain.ranking import findable
from holdfast.engine.ports import CountedBy
from holdfast.store import listing, paging, sqlite
from holdfast.store.rows import from_memory, same_or_none, to_memory, to_memory_from_file
from holdfast.store.schema import memories
from holdfast.store.spellings import is_spelt, spellings
from holdfast.store.sql_filters import narrowed, narrowed_in_any_state, row_by_row
from holdfast.store.sql_in import one_of
from holdfast.store.types import to_text
from holdfast.store.upsert import insert_new
from holdfast.store.vector_rows import VectorTable

# Past SQLAlchemy, which takes more than half of the time: these are asked for on every recall.
_COLUMNS = ", ".join(f"memories.{column.name}" for column in memories.columns)
_MANY = f"SELECT {_COLUMNS} FROM memories WHERE space = ? AND id IN (SELECT value FROM json_each(?))"
_WORDINGS = (
    "SELECT id, subject, summary, content, tags FROM memories WHERE space = ? AND state = 'active' "
    "AND id IN (SELECT value FROM json_each(?)) AND (project IS NULL OR project = ?)"
)
_COMPARABLE = (
    f"SELECT {_COLUMNS} FROM json_each(?) CROSS JOIN memories ON space = ? AND memories.id = json_each.value "
    "WHERE category = ? AND coalesce(subject, '') IN (SELECT value FROM json_each(?)) "
    "AND state = 'active' AND (project IS NULL OR project = ?)"
)
_TOUCH = (
    "UPDATE memories SET accesses = accesses + 1, accessed_at = ? "
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
        if self._connection.dialect.name == "sqlite":
            values = (self._space, json.dumps(memory_ids))
            rows = map(to_memory_from_file, sqlite.driver_of(self._connection).execute(_MANY, values))
        else:
            query = self._all().where(one_of(memories.c.id, memory_ids, self._connection))
            rows = map(to_memory, self._connection.execute(query).all())
        found = {memory.id: memory for memory in rows}
        return [found[memory_id] for memory_id in memory_ids if memory_id in found]

    def wordings(
        self, where: Filter, *, among: Sequence[str] | None = None, limit: int | None = None
    ) -> dict[str, str]:
        """What memories that `where` admits can be found by, by id: of those named, or any `limit`."""
        found = {
            memory_id: findable(subject, summary, content, json.loads(tags) if tags != "[]" else ())
            for memory_id, subject, summary, content, tags in self._worded(where, among, limit)
        }
        return found if among is None else {one: found[one] for one in among if one in found}

    def _worded(
        self, where: Filter, among: Sequence[str] | None, limit: int | None
    ) -> Iterable[Sequence[Any]]:
        plain = Filter(project=where.project, other_projects=False)
        if among is not None and where == plain and self._connection.dialect.name == "sqlite":
            values = (self._space, json.dumps(among), where.project)
            return sqlite.driver_of(self._connection).execute(_WORDINGS, values)
        column = memories.c
        tags = type_coerce(column.tags, Text)
        query = select(column.id, column.subject, column.summary, column.content, tags)
        query = narrowed(
            query.where(column.space == self._space), where, self._space, self._connection
        ).limit(limit)
        if among is not None:
            query = query.where(one_of(column.id, among, self._connection))
        return self._connection.execute(query)

    def find(
        self,
        where: Filter,
        *,
        order: Order = "category",
        group: Group | None = None,
        limit: int | None = None,
        offset: int = 0,
        after: MemoryCursor | None = None,
        among: Sequence[str] | None = None,
    ) -> list[Memory]:
        """The memories that `where` admits, in order; with `among`, of those alone."""
        query = narrowed_in_any_state(self._all(), where, self._space, self._connection)
        if among is not None:
            query = query.where(one_of(memories.c.id, among, self._connection))
        return paging.listed(
            query, where, self._connection, space=self._space, order=order, group=group, limit=limit,
            offset=offset, after=after, few=among is not None,
        )  # fmt: skip

    def matching(self, where: Filter, limit: int) -> list[str]:
        """Ids of memories that `where` admits, in no order."""
        query = select(memories.c.id).where(memories.c.space == self._space).limit(limit)
        query = self._row_by_row(narrowed(query, where, self._space, self._connection), where)
        return list(self._connection.execute(query).scalars())

    def subjects(self, limit: int) -> list[tuple[str | None, int]]:
        """What memories in use are about, and how many of each; what most are about first."""
        return listing.subjects(self._connection, self._space, limit)

    def counted(self, by: Sequence[CountedBy], states: Sequence[State]) -> list[tuple[tuple[Any, ...], int]]:
        """How many memories in these states share each combination of values, in their order."""
        return listing.counted(self._connection, self._space, by, states)

    def having(self, values: Sequence[tuple[CountedBy, Any]], states: Sequence[State]) -> list[int]:
        """How many memories in these states have each of these values; of accesses, as many or more."""
        return listing.having(self._connection, self._space, values, states)

    def most_used(self, limit: int) -> list[Memory]:
        """Those in use that were recalled most often, none that never was."""
        return listing.most_used(self._all(), self._space, self._connection, limit)

    def count(self, where: Filter) -> int:
        query = select(func.count()).select_from(memories).where(memories.c.space == self._space)
        query = narrowed(query, where, self._space, self._connection)
        if where.text or where.tags or where.origin:
            query = self._row_by_row(query, where)
        return int(self._connection.execute(query).scalar_one())

    def about(self, category: str, subject: str | None, project: str | None, limit: int) -> list[Memory]:
        """Active memories, newest first, that a new draft on this subject could repeat or contradict.

        No subject means general knowledge, a subject of its own, not "any subject". A project's drafts
        meet the project's memories and those of none.
        """
        of_subject = is_spelt(memories.c.subject, subject, self._space, self._connection)
        if subject is None and self._connection.dialect.name == "sqlite":
            # Most memories have none: not by the index of subjects, but by that of categories, in its order.
            of_subject = type_coerce(of_subject, Integer) == 1
        query = (
            self._all()
            .where(memories.c.category == category, of_subject)
            .order_by(memories.c.created_at.desc(), memories.c.id.desc())
            .limit(limit)
        )
        query = narrowed(query, Filter(project=project, other_projects=False), self._space, self._connection)
        return [to_memory(row) for row in self._connection.execute(query)]

    def comparable(
        self, category: str, subject: str | None, project: str | None, among: Sequence[str]
    ) -> list[Memory]:
        """The same of the memories in `among`, in their order."""
        if self._connection.dialect.name == "sqlite":
            spelt = [""] if subject is None else self.spellings(subject)
            values = (json.dumps(among), self._space, category, json.dumps(spelt), project)
            rows = map(to_memory_from_file, sqlite.driver_of(self._connection).execute(_COMPARABLE, values))
        else:
            where = Filter(category=category, subject=subject, general=subject is None, project=project)
            query = narrowed(self._all(), replace(where, other_projects=False), self._space, self._connection)
            query = query.where(one_of(memories.c.id, among, self._connection))
            rows = map(to_memory, self._connection.execute(query).all())
        found = {memory.id: memory for memory in rows}
        return [found[one] for one in among if one in found]

    def spellings(self, subject: str) -> list[str]:
        """How this subject is spelt in the space."""
        return spellings(memories.c.subject, subject, self._space, self._connection)

    def first_spelling(self, subject: str) -> str:
        """How this subject was spelt first, among memories that are in use; as given where it is new."""
        spelt = self.spellings(subject)
        if not spelt or spelt == [subject]:
            return subject
        query = (
            select(memories.c.subject)
            .where(
                memories.c.space == self._space,
                memories.c.subject.in_(spelt),
                memories.c.state.in_(("active", "inactive", "waiting")),
            )
            .order_by(memories.c.created_at, memories.c.id)
            .limit(1)
        )
        return self._connection.execute(query).scalar() or subject

    def named(self, subject: str, project: str | None) -> list[Memory]:
        """The memories in use under this subject in a project."""
        query = self._all().where(
            memories.c.subject == subject,
            same_or_none(memories.c.project, project),
            memories.c.state.in_(("active", "inactive")),
        )
        return [to_memory(row) for row in self._connection.execute(query.order_by(memories.c.created_at))]

    def names(self, subjects: Collection[str], states: Sequence[State]) -> set[tuple[str, str | None]]:
        """Of these subjects, those that memories in these states are about, each with their project."""
        query = select(memories.c.subject, memories.c.project).where(
            memories.c.space == self._space,
            one_of(memories.c.subject, subjects, self._connection),
            memories.c.state.in_(states),
        )
        return {(row.subject, row.project) for row in self._connection.execute(query)}

    def add(self, memory: Memory) -> bool:
        """Adds it; false when the id is taken, and then nothing was changed."""
        return insert_new(self._connection, memories, from_memory(memory))

    def add_all(self, new: Sequence[Memory]) -> None:
        """Adds memories whose ids are known to be free."""
        if new:
            self._connection.execute(insert(memories), [from_memory(memory) for memory in new])

    def save(self, memory: Memory) -> None:
        values = {key: value for key, value in from_memory(memory).items() if key not in ("space", "id")}
        self._connection.execute(update(memories).where(self._is(memory.id)).values(values))

    def touch(self, memory_ids: Iterable[str], now: datetime) -> None:
        """Counts an access of each."""
        if self._connection.dialect.name == "sqlite":
            values = (to_text(now.astimezone(UTC)), self._space, json.dumps(list(memory_ids)))
            sqlite.driver_of(self._connection).execute(_TOUCH, values)
            return
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

    def _row_by_row(self, query: Select[Any], where: Filter) -> Select[Any]:
        return row_by_row(query, where, self._space, self._connection)

    def _is(self, memory_id: str) -> Any:
        return (memories.c.space == self._space) & (memories.c.id == memory_id)
