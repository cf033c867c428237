"""Queries over memories. Every one carries the space."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Text, func, select, type_coerce

from holdfast.domain.access import Reader
from holdfast.domain.memory import Memory, MemoryText, State
from holdfast.domain.query import Filter, Group, MemoryCursor, Order
from holdfast.store.memory_lists import MemoryFigures, listed
from holdfast.store.ranks import RankTable
from holdfast.store.rows import same_or_none
from holdfast.store.schema import memories, versions
from holdfast.store.sql_filters import is_spelt, narrowed, narrowed_in_any_state, spellings, spelt_from_now_on
from holdfast.store.usage import UsageTable, size

if TYPE_CHECKING:
    from holdfast.domain.ranking import Wording
    from holdfast.store.vector_rows import VectorTable

_FEW = 20  # come upon soon in any order


class MemoryTable(MemoryFigures):
    """The memories of one space."""

    def __init__(
        self,
        connection: Connection,
        space: str,
        ranks: RankTable,
        vectors: "Callable[[], VectorTable[Memory]]",
        usage: UsageTable,
        reader: Reader,
    ) -> None:
        super().__init__(connection, space, reader)
        self._usage = usage
        self._vectors = vectors
        self._ranks = ranks

    def get(self, memory_id: str) -> Memory | None:
        return self._one(Memory, memory_id)

    def many(self, memory_ids: Sequence[str]) -> list[Memory]:
        """Those of the memories that there are, in the order of `memory_ids`."""
        return self._by_id(Memory, memory_ids)

    def wordings(
        self, where: Filter, *, among: Sequence[str] | None = None, limit: int | None = None
    ) -> "dict[str, Wording]":
        """What memories that `where` admits can be found by, by id: of those named, or any `limit`."""
        from holdfast.domain.ranking import Wording, findable

        found = {
            memory_id: Wording(
                findable(subject, summary, content, json.loads(tags) if tags != "[]" else ()), project
            )
            for memory_id, subject, summary, content, tags, project in self._worded(where, among, limit)
        }
        return found if among is None else {one: found[one] for one in among if one in found}

    def _worded(
        self, where: Filter, among: Sequence[str] | None, limit: int | None
    ) -> Iterable[Sequence[Any]]:
        if among is not None and where == Filter():
            return self._sql.wordings(among)
        column = memories.c
        tags = type_coerce(column.tags, Text)
        query = select(column.id, column.subject, column.summary, column.content, tags, column.project)
        query = narrowed(query.where(*self._mine), where, self._sql).limit(limit)
        if among is not None:
            query = query.where(self._one_of(column.id, among))
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
        if where.states == ("waiting",) and not self._are_waiting:
            return []
        query = narrowed_in_any_state(self._select(Memory, *self._seen), where, self._sql)
        if among is not None:
            query = query.where(self._one_of(memories.c.id, among))
        return listed(
            query, where, self._sql, order=order, group=group, limit=limit, offset=offset, after=after,
            few=among is not None,
        )  # fmt: skip

    @cached_property
    def _are_waiting(self) -> bool:
        """Whether memories of the space wait: asked at every write, and mostly none does."""
        return self._is_any(memories, memories.c.state == "waiting")

    def beginning(self, words: str, limit: int) -> list[str]:
        """Ids that begin so."""
        among = (memories.c.id >= words, memories.c.id < words + chr(0x10FFFF))  # by the index of ids
        query = select(memories.c.id).where(*self._mine, *among)
        return list(self._connection.execute(query.order_by(memories.c.id).limit(limit)).scalars())

    def matching(self, where: Filter, limit: int) -> list[str]:
        """Ids of memories that `where` admits, in no order."""
        query = select(memories.c.id).where(*self._mine).limit(limit)
        query = narrowed(query, where, self._sql)
        if limit > _FEW:
            query = self._sql.in_file_order(query, where)
        return list(self._connection.execute(query).scalars())

    def count(self, where: Filter) -> int:
        query = select(func.count()).select_from(memories).where(*self._mine)
        query = narrowed(query, where, self._sql)
        if where.text or where.tags or where.origin or where.person:
            query = self._sql.in_file_order(query, where)
        return int(self._connection.execute(query).scalar_one())

    def about(self, category: str, subject: str | None, project: str | None, limit: int) -> list[str]:
        """Ids of active memories, newest first, that a new draft on this subject could repeat or contradict.

        No subject means general knowledge, a subject of its own, not "any subject". A project's drafts
        meet the project's memories and those of none.
        """
        of_subject = is_spelt(memories.c.subject, subject, self._sql)
        if subject is None:
            # Most memories have none: not by the index of subjects, but by that of categories, in its order.
            of_subject = self._sql.by_no_index(of_subject)
        query = select(memories.c.id).where(*self._mine)
        query = query.where(memories.c.category == category, of_subject)
        query = query.order_by(memories.c.created_at.desc(), memories.c.id.desc()).limit(limit)
        where = Filter(project=project, other_projects=False)
        return list(self._connection.execute(narrowed(query, where, self._sql)).scalars())

    def texts(self, among: Sequence[str]) -> list[MemoryText]:
        """What a draft is compared with, of those of `among` that are active, in their order."""
        found = {one.id: one for one in self._sql.texts(among)}
        return [found[one] for one in among if one in found]

    def spellings(self, subject: str) -> list[str]:
        """How this subject is spelt in the space."""
        return spellings(memories.c.subject, subject, self._sql)

    def first_spelling(self, subject: str) -> str:
        """How this subject was spelt first, among memories that are in use; as given where it is new."""
        spelt = self.spellings(subject)
        if not spelt or spelt == [subject]:
            return subject
        query = (
            select(memories.c.subject)
            .where(
                *self._mine,
                memories.c.subject.in_(spelt),
                memories.c.state.in_(("active", "inactive", "waiting")),
            )
            .order_by(memories.c.created_at, memories.c.id)
            .limit(1)
        )
        return self._connection.execute(query).scalar() or subject

    def named(self, subject: str, project: str | None) -> list[Memory]:
        """The memories in use under this subject in a project."""
        query = self._select(
            Memory,
            *self._seen,
            memories.c.subject == subject,
            same_or_none(memories.c.project, project),
            memories.c.state.in_(("active", "inactive")),
        )
        return self._values(Memory, query.order_by(memories.c.created_at))

    def names(self, subjects: Collection[str], states: Sequence[State]) -> set[tuple[str, str | None]]:
        """Of these subjects, those that memories in these states are about, each with their project."""
        query = select(memories.c.subject, memories.c.project).where(
            *self._mine,
            self._one_of(memories.c.subject, subjects),
            memories.c.state.in_(states),
        )
        return {(row.subject, row.project) for row in self._connection.execute(query)}

    def add(self, memory: Memory) -> bool:
        """Adds it; false when the id is taken, and then nothing was changed."""
        if not self._add_new(memory):
            return False
        self._noted(memory)
        self._ranks.added(memory)
        self._usage.grow(memories=1)
        return True

    def add_all(self, new: Sequence[Memory]) -> None:
        """Adds memories whose ids are known to be free."""
        self._add(new)
        self._noted(*new)
        self._ranks.added(*new)
        self._usage.grow(memories=len(new))

    def save(self, memory: Memory) -> None:
        self._save(memory)
        self._noted(memory)
        self._ranks.changed(memory)

    def _noted(self, *written: Memory) -> None:
        for memory in written:
            if memory.subject is not None:
                spelt_from_now_on(memory.subject, self._sql)
            if memory.state == "waiting":
                self._are_waiting = True

    def touch(self, memory_ids: Iterable[str], now: datetime) -> None:
        """Counts an access of each."""
        self._ranks.touched(self._sql.touch(list(memory_ids), now))

    def remove(self, memory_id: str) -> None:
        """Removes the row; versions, links and vectors go with it."""
        self._vectors().drop([memory_id])
        self._ranks.removing(memory_id)
        mine = (versions.c.space == self._space, versions.c.memory_id == memory_id)
        texts = self._connection.execute(select(versions.c.content).where(*mine)).scalars()
        freed = sum(map(size, texts))
        if self._remove(memories, memories.c.id == memory_id):
            self._usage.grow(memories=-1, bytes=-freed)
