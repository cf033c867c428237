"""Which memories a brief could show, in its order, and when each fades next.

Derived from memories, links and the profile. Whoever writes those says so here, and the rows follow before
they are read or the transaction ends. So a brief reads about as many rows as it shows, in any space.
"""
# budget: what makes ranks, keeps and reads them is one thing.

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select, and_, select, text

from holdfast.domain.access import ALL_MEMORIES, Reader
from holdfast.domain.confidence import next_step_at
from holdfast.domain.memory import Memory
from holdfast.domain.profile import Profile
from holdfast.domain.query import in_order, successors
from holdfast.domain.space import Space
from holdfast.profiles import profile_named
from holdfast.store.queries import queries_of
from holdfast.store.relations import superseding
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import brief_ranks, brief_totals, heads, memories
from holdfast.store.sql_filters import brief_place, project_in

_PINNED = "9"  # the ranks of all that is pinned are below
_MOST_SMALL = 200  # memories that are looked at to fill what is left of a brief
_AT_ONCE = 1_000
_COUNT = text(
    "INSERT INTO brief_totals (space, project, amount, changes) VALUES (:space, :project, :amount, :changes) "
    "ON CONFLICT (space, project) DO UPDATE SET amount = brief_totals.amount + excluded.amount, "
    "changes = brief_totals.changes + excluded.changes"
)
_MOVE = text("UPDATE brief_ranks SET rank = :rank WHERE space = :space AND memory_id = :id")
_MOVED = text(
    "UPDATE brief_totals SET changes = changes + 1 WHERE space = :space AND project = "
    "(SELECT shown_in FROM brief_ranks WHERE space = :space AND memory_id = :id)"
)


class RankTable(SpaceRows):
    """The ranks of one space. A project of none is the empty text.

    What is private stands in a place of its own. There are rows of all memories, whoever reads.
    """

    def __init__(self, connection: Connection, space: Space, reader: Reader = ALL_MEMORIES) -> None:
        super().__init__(connection, space.name, reader)
        self._shown_sql = queries_of(connection, space.name, Reader(reader.person))
        self._named = (space.profile, space.profile_text)
        self._changed: dict[str, Memory] = {}
        self._new: set[str] = set()
        self._linked: set[str] = set()
        self._private: frozenset[str] | None = None  # the places of private memories where there are any

    @cached_property
    def _profile(self) -> Profile:
        return profile_named(*self._named)

    # ------------------------------------------------------------------------------------------- followed

    def added(self, *new: Memory) -> None:
        """These memories were put in."""
        self._new.update(memory.id for memory in new)
        self.changed(*new)

    def changed(self, *values: Memory) -> None:
        """These are what memories are now."""
        self._changed.update((memory.id, memory) for memory in values)

    def linked(self, *memory_ids: str) -> None:
        """What supersedes these memories, or is superseded by them, may be another."""
        self._linked.update(memory_ids)

    def touched(self, touched: Iterable[Memory]) -> None:
        """These memories were recalled once more; where that counts, it does so at every doubling."""
        if self._profile.block.layout != "rules-first":
            return
        found = [each for each in touched if each.accesses.bit_count() == 1]
        self.changed(*(each for each in found if each.id in self._changed))
        # Nothing but the rank depends on it: neither whether a memory is shown nor when it fades.
        if only := [each for each in found if each.id not in self._changed]:
            from holdfast.domain.render import rank_of

            rows = [
                {"space": self._space, "id": each.id, "rank": rank_of(each, self._profile)} for each in only
            ]
            self._connection.execute(_MOVE, rows)
            self._connection.execute(_MOVED, rows)

    def removing(self, memory_id: str) -> None:
        """A memory is about to be removed."""
        self.settle()
        self._linked.update(self._ends([memory_id]) - {memory_id})
        self._tally((project, -1) for project in self._shown([memory_id]).values())

    def settle(self) -> None:
        """Brings the rows up to date."""
        ids = self._changed.keys() | self._linked
        if not ids:
            return
        led: set[str] = set()
        hides = not self._profile.block.shows_superseded and (self._linked or ids - self._new)
        if hides and (ends := self._ends(ids)):
            ids = ids | ends
            led = set(successors(superseding(self._sql, ids)))
        known = list(ids - self._new)
        values = self._changed | {
            memory.id: memory for memory in self._sql.many(Memory, ids - self._changed.keys())
        }
        self._changed, self._new, self._linked, self._private = {}, set(), set(), None
        before = self._shown(known) if known else {}
        if known:
            self._remove(brief_ranks, self._one_of(brief_ranks.c.memory_id, known))
        rows = self._put(values.values(), led)
        shown = [(row["shown_in"], 1) for row in rows if row["shown_in"] is not None]
        self._tally([*((project, -1) for project in before.values()), *shown])

    def is_current(self) -> bool:
        """Whether the ranks were made by the rules of this release."""
        query = select(heads.c.ranked_by).where(heads.c.space == self._space)
        return bool(self._connection.execute(query).scalar_one() == self._profile.rank_rules)

    def needs_upkeep(self, now: datetime) -> bool:
        """Whether something has to be written before a brief is made."""
        return not self.is_current() or bool(self.fading(now, limit=1))

    def rank_all(self) -> None:
        """Makes all ranks anew."""
        self._changed, self._new, self._linked = {}, set(), set()
        self.clear()
        led = set() if self._profile.block.shows_superseded else set(successors(superseding(self._sql)))
        ids = select(memories.c.id).where(memories.c.space == self._space, memories.c.state == "active")
        found = self._connection.execute(ids).scalars().all()
        for start in range(0, len(found), _AT_ONCE):
            rows = self._put(self._sql.many(Memory, found[start : start + _AT_ONCE]), led)
            self._tally([(row["shown_in"], 1) for row in rows if row["shown_in"] is not None])
        self._change(heads, {"ranked_by": self._profile.rank_rules})

    def clear(self) -> None:
        """Removes all ranks."""
        self._remove(brief_ranks)
        self._change(brief_totals, {"amount": 0})
        self._tally([("", 0)])
        self._drop_empty()

    def _put(self, values: Iterable[Memory], led: Collection[str]) -> list[dict[str, Any]]:
        rows = [row for memory in values if (row := self._row(memory, memory.id in led)) is not None]
        self._sql.insert(brief_ranks, rows)
        return rows

    def _row(self, memory: Memory, led: bool) -> dict[str, Any] | None:
        """None for a memory that is neither shown nor fades."""
        policy = self._profile.policy
        fades = next_step_at(memory, policy)
        shown = memory.active and memory.confidence >= policy.floor and not led
        if not shown and fades is None:
            return None
        from holdfast.domain.render import folded, rank_of, size_of

        return {
            "space": self._space,
            "memory_id": memory.id,
            "shown_in": brief_place(memory.project, memory.private_to) if shown else None,
            "rank": rank_of(memory, self._profile),
            "size": size_of(memory, self._profile),
            "subject": folded(memory.subject) if memory.subject else "",
            "created_at": memory.created_at,
            "next_step_at": fades,
        }

    def _ends(self, memory_ids: Collection[str]) -> set[str]:
        """Both ends of the `supersedes` links of these memories."""
        return {end for link in self._sql.superseding(memory_ids) for end in (link.from_id, link.to_id)}

    def _shown(self, memory_ids: Sequence[str]) -> dict[str, str]:
        """Those that are shown, with their project."""
        column = brief_ranks.c
        query = select(column.memory_id, column.shown_in).where(
            column.space == self._space,
            column.shown_in.is_not(None),
            self._one_of(column.memory_id, memory_ids),
        )
        return {row.memory_id: row.shown_in for row in self._connection.execute(query)}

    def _tally(self, amounts: Iterable[tuple[str, int]]) -> None:
        sums: dict[str, int] = {}
        for project, amount in amounts:
            sums[project] = sums.get(project, 0) + amount
        if sums:
            rows = [{"project": name, "amount": sums[name], "changes": 1} for name in sorted(sums)]
            self._connection.execute(_COUNT, [{"space": self._space, **row} for row in rows])
        if any(amount < 0 for amount in sums.values()):
            self._drop_empty()

    def _drop_empty(self) -> None:
        """Forgets projects without memories, whose names may be a secret; their changes go on counting."""
        column = brief_totals.c
        empty = and_(column.space == self._space, column.amount == 0, column.project != "")
        if found := self._connection.execute(select(column.changes).where(empty)).scalars().all():
            row = {"space": self._space, "project": "", "amount": 0, "changes": sum(found) + 1}
            self._connection.execute(_COUNT, row)
            self._remove(brief_totals, empty)

    # ---------------------------------------------------------------------------------------------- asked

    def total(self, project: str | None) -> int:
        """How many memories a brief of the project could show."""
        self.settle()
        column = brief_totals.c
        mine = (column.space == self._space, column.project.in_(self._places(project)))
        rows = self._connection.execute(select(column.project, column.amount).where(*mine))
        amounts = {row.project: int(row.amount) for row in rows}
        self._private = frozenset(name for name, amount in amounts.items() if amount)
        return sum(amounts.values())

    def changes(self) -> dict[str, int]:
        """For each project a number that grows when something changes that its briefs could show."""
        column = brief_totals.c
        query = select(column.project, column.changes).where(column.space == self._space)
        return {row.project: row.changes for row in self._connection.execute(query)}

    def projects(self) -> set[str]:
        """The projects whose briefs could show the reader something, now or before."""
        return set(filter(None, (project_in(place, self._reader) for place in self.changes())))

    def first(self, project: str | None, limit: int, subjects: Sequence[str] = ()) -> list[Memory]:
        """The most urgent of the memories that a brief could show.

        Those about the first of `subjects`, as folded names, go before those about the second and the rest;
        all that is pinned goes first.
        """
        self.settle()
        column, found = brief_ranks.c, dict[str, None]()
        of_subjects: list[Any] = [(column.subject == subject,) for subject in subjects]
        pins: list[Any] = [(column.rank < _PINNED,)] if subjects else []
        for pinned in (*pins, ()):
            for about in (*of_subjects, ()):
                some = self._in_order(project, limit, *pinned, *about)
                found.update(dict.fromkeys(some))
                if len(found) >= limit:
                    return self._by_id(Memory, list(found)[:limit], self._shown_sql)
        return self._by_id(Memory, list(found), self._shown_sql)

    def small(self, project: str | None, size: int, besides: Collection[str]) -> list[Memory]:
        """More of them that take at most so many tokens: all, or the most urgent where they are many."""
        column, found = brief_ranks.c, list[str]()
        for name in self._places(project):
            few = self._of_project(name, column.size <= size).order_by(column.size).limit(_MOST_SMALL)
            some = self._connection.execute(few).scalars().all()
            if len(some) == _MOST_SMALL:
                fits = self._sql.by_no_index(column.size <= size)
                query = self._of_project(name, fits).order_by(column.rank)
                some = self._connection.execute(query.limit(_MOST_SMALL + len(besides))).scalars().all()
            found += some
        return self._by_id(Memory, [one for one in found if one not in besides], self._shown_sql)

    def first_spellings(self, project: str | None, subjects: Collection[str]) -> dict[str, str]:
        """How each of these subjects, folded names, was spelt first in memories that could be shown."""
        if not subjects:
            return {}
        column, given = brief_ranks.c, self._sql.given(subjects)
        oldest = (
            select(column.memory_id)
            .where(column.space == self._space, column.subject == given.c.value)
            .where(column.shown_in.in_(self._places(project)))
            .order_by(column.created_at, column.memory_id)
            .limit(1)
            .scalar_subquery()
        )
        rows = self._connection.execute(select(given.c.value, oldest.label("oldest")))
        found = {row.value: row.oldest for row in rows}
        spelt = {memory.id: memory.subject for memory in self._sql.many(Memory, list(found.values()))}
        return {subject: spelt[one] or "" for subject, one in found.items() if one in spelt}

    def fading(self, now: datetime, limit: int | None = None) -> list[Memory]:
        """The memories that decay has something to take off by now."""
        self.settle()
        column = brief_ranks.c
        query = select(column.memory_id).where(column.space == self._space, column.next_step_at <= now)
        found = self._connection.execute(query.order_by(column.next_step_at).limit(limit)).scalars().all()
        return in_order(self._by_id(Memory, found), "category")

    def _in_order(self, project: str | None, limit: int, *where: Any) -> Iterator[str]:
        # One project at a time: each is read in its index's order, where both together would be sorted.
        found = list[tuple[str, str]]()
        for name in self._places(project):
            query = self._of_project(name, *where).add_columns(brief_ranks.c.rank)
            rows = self._connection.execute(query.order_by(brief_ranks.c.rank).limit(limit))
            found += [(rank, memory_id) for memory_id, rank in rows]
        return (memory_id for _, memory_id in sorted(found)[:limit])

    def _of_project(self, project: str, *where: Any) -> Select[Any]:
        column = brief_ranks.c
        return select(column.memory_id).where(column.space == self._space, column.shown_in == project, *where)

    def _places(self, project: str | None) -> tuple[str, ...]:
        """Where memories of a project and of none stand, but for empty places of private ones."""
        projects = ("",) if project is None else ("", project)
        if self._reader.person is None:
            return projects
        private = [brief_place(one, self._reader.person) for one in projects]
        return (*projects, *(one for one in private if self._private is None or one in self._private))
