"""Lists of memories in any order, a page at a time, and figures over all of a space.

A page costs what it holds, not what its space holds: it is read in the order of an index, or value by value
of what the list goes by first, where few values share many memories. How doors write down where a page
ended is theirs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, or_, select, text

from holdfast.domain.access import Reader
from holdfast.domain.memory import Memory, State
from holdfast.domain.query import Filter, Group, MemoryCursor, Order, in_order
from holdfast.domain.subjects import subject_key
from holdfast.engine.ports import CountedBy
from holdfast.store.mapping import values_of
from holdfast.store.queries import Queries, queries_of
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import memories, receipt_items
from holdfast.store.sql_filters import narrowed, seen

_IN_AN_INDEX: Final = ("confidence", "state")  # so that no row has to be read
_MOST_VALUES: Final = 1_000  # that a page is put together from; behind them, all the rest is sorted
_FEW: Final = 8  # times as many memories as are missing are looked at with the next values


@dataclass(frozen=True, slots=True)
class _Key:
    """One thing that an order goes by, up or down."""

    column: Any
    name: str  # of the same in a `MemoryCursor`
    down: bool = False
    shared: Any = None  # the bare column, where many memories have one value and an index begins with it

    @property
    def ordered(self) -> Any:
        return self.column.desc() if self.down else self.column

    def beyond(self, value: Any, *, level: bool = False) -> ColumnElement[bool]:
        """What comes after `value`, with `level` also what stands beside it."""
        if self.down:
            found = self.column <= value if level else self.column < value
        else:
            found = self.column >= value if level else self.column > value
        return found  # type: ignore[no-any-return]  # the column is any

    def of(self, place: MemoryCursor) -> Any:
        value = getattr(place, self.name)
        return "" if value is None else value

    def among(self, values: Sequence[Any]) -> ColumnElement[bool]:
        """Whether it is one of `values`, so that the index finds them; an empty one stands for none too."""
        if "" in values:
            return or_(self.shared.is_(None), self.shared.in_(values))
        return self.shared.in_(values)  # type: ignore[no-any-return]  # the column is any


_ID = _Key(memories.c.id, "id")
_CREATED = _Key(memories.c.created_at, "created_at")
_UPDATED = _Key(memories.c.updated_at, "updated_at", down=True)
_CATEGORY = _Key(memories.c.category, "category", shared=memories.c.category)
_SUBJECT = _Key(func.coalesce(memories.c.subject, ""), "subject", shared=memories.c.subject)
_CONFIDENCE = _Key(memories.c.confidence, "confidence", down=True, shared=memories.c.confidence)
_ORDERS: dict[Order, tuple[_Key, ...]] = {
    "category": (_CATEGORY, _CREATED, _ID),
    "recent": (_UPDATED, _Key(memories.c.created_at, "created_at", down=True), _ID),
    "confidence": (_CONFIDENCE, _CREATED, _ID),
    "created": (_CREATED, _ID),
}
_GROUPS: dict[Group, _Key] = {"subject": _SUBJECT, "category": _CATEGORY}


def listed(
    query: Select[Any],
    where: Filter,
    sql: Queries,
    *,
    order: Order,
    group: Group | None,
    limit: int | None,
    offset: int,
    after: MemoryCursor | None,
    few: bool = False,
) -> list[Memory]:
    """The memories of `query`, which holds all conditions but the states, in order.

    `few` says that the query finds few of the space, by an index of its own.
    """
    keys = (*((_GROUPS[group],) if group else ()), *_ORDERS[order])
    listing = _Listing(sql, where)
    if limit is None or offset or few:
        return listing.sorted(query, keys, limit, after, offset)
    return listing.page(query, keys, limit, after)


@dataclass(frozen=True, slots=True)
class _Listing:
    """One list of one space."""

    sql: Queries
    where: Filter

    def page(
        self, query: Select[Any], keys: Sequence[_Key], limit: int, after: MemoryCursor | None
    ) -> list[Memory]:
        """The first memories behind `after`, without a sort of all of them."""
        where = self.where
        narrow = where.subject or where.general or where.session or where.created_after or where.changed_after
        if keys[0].shared is not None and tuple(keys) != _ORDERS["category"] and not narrow:
            return self._by_value(query, keys, limit, after)
        if keys[0] is not _UPDATED or len(where.states) == 1:
            return self.sorted(query, keys, limit, after)
        # One state at a time: each is read in its index's order, where all together would have to be sorted.
        found = [
            memory
            for state in where.states
            for memory in self._memories(
                _in_order(query, keys, after).where(memories.c.state == state).limit(limit)
            )
        ]
        return in_order(found, "recent")[:limit]

    def sorted(
        self,
        query: Select[Any],
        keys: Sequence[_Key],
        limit: int | None,
        after: MemoryCursor | None,
        offset: int = 0,
    ) -> list[Memory]:
        """As the database finds best."""
        query = _in_order(query, keys, after).where(memories.c.state.in_(self.where.states))
        return self._memories(query.limit(limit).offset(offset or None))

    def _by_value(
        self, query: Select[Any], keys: Sequence[_Key], limit: int, after: MemoryCursor | None
    ) -> list[Memory]:
        """The memories of the first value, then those of the next, until there are enough."""
        key, found = keys[0], list[Memory]()
        values = self._values(key, after)
        total = self._total()
        for start, stop in _stretches(values, limit):
            missing = limit - len(found)
            amount = sum(count for _, count in values[start:stop])
            value = values[start][0]
            if stop - start == 1 and amount * amount > missing * total:
                # So many that the next key's index comes upon them sooner than they could be sorted.
                level = after if after is not None and key.of(after) == value else None
                apart = self.sql.by_no_index(key.among([value]))
                found += self.page(query.where(apart), keys[1:], missing, level)
            else:
                chosen = query.where(key.among([value for value, _ in values[start:stop]]))
                found += self.sorted(chosen, keys, missing, after)
            if len(found) >= limit:
                return found
        if len(values) == _MOST_VALUES:
            found += self.sorted(query.where(key.beyond(values[-1][0])), keys, limit - len(found), after)
        return found

    def _values(self, key: _Key, after: MemoryCursor | None) -> list[tuple[Any, int]]:
        """What a list goes by first, in its order, and about how many memories have each."""
        column = key.shared
        ordered = column.desc() if key.down else column.nulls_first()
        query = select(column, func.count()).where(memories.c.space == self.sql.space).group_by(column)
        query = query.order_by(ordered).limit(_MOST_VALUES)
        if after is not None and (least := key.of(after)) != "":
            query = query.where(column <= least if key.down else column >= least)
        counts: dict[Any, int] = {}
        for value, count in self.sql.connection.execute(query):
            name = "" if value is None else value
            counts[name] = counts.get(name, 0) + count
        return list(counts.items())

    def _memories(self, query: Select[Any]) -> list[Memory]:
        return values_of(Memory, self.sql.connection.execute(query))

    def _total(self) -> int:
        query = select(func.count()).select_from(memories).where(memories.c.space == self.sql.space)
        return int(self.sql.connection.execute(query).scalar_one())


def _stretches(values: Sequence[tuple[Any, int]], limit: int) -> Iterator[tuple[int, int]]:
    """From where to where values are looked up together: enough for a page, then more and more."""
    wanted, start, amount = limit * _FEW, 0, 0
    for at, (_, count) in enumerate(values):
        if count > wanted and at > start:  # it is worth a look of its own
            yield start, at
            start, amount = at, 0
        amount += count
        if amount >= wanted or at == len(values) - 1:
            yield start, at + 1
            wanted, start, amount = wanted * _FEW, at + 1, 0


def _in_order(query: Select[Any], keys: Sequence[_Key], after: MemoryCursor | None) -> Select[Any]:
    if after is not None:
        query = query.where(_behind(keys, after))
    return query.order_by(*(key.ordered for key in keys))


def _behind(keys: Sequence[_Key], place: MemoryCursor) -> ColumnElement[bool]:
    """What comes after `place`; the first key stands alone too, so that its index finds the start."""
    pairs = [(key, key.of(place)) for key in keys]
    steps = [
        and_(*(key.column == value for key, value in pairs[:at]), pairs[at][0].beyond(pairs[at][1]))
        for at in range(len(pairs))
    ]
    first, value = pairs[0]
    return and_(first.beyond(value, level=True), or_(*steps))


class MemoryFigures(SpaceRows):
    """What memories are about, how many have a value, which are used most: of those that a reader sees."""

    def __init__(self, connection: Connection, space: str, reader: Reader) -> None:
        super().__init__(connection, space, reader)
        self._sql = queries_of(connection, space, reader)
        self._seen = seen(reader)
        self._mine = (memories.c.space == space, *self._seen)

    def subjects(self, limit: int) -> list[tuple[str | None, int]]:
        """What memories in use are about, and how many of each; what most are about first."""
        amount = func.count()
        query = (
            select(memories.c.subject, amount)
            .where(*self._mine, memories.c.state.in_(("active", "inactive", "waiting")))
            .group_by(memories.c.subject)
            .order_by(amount.desc(), memories.c.subject)
            .limit(limit)
        )
        counts: dict[
            str | None, list[Any]
        ] = {}  # by key: how it is spelt mostly, and how many have it in all
        for subject, found in self._connection.execute(query):
            counts.setdefault(None if subject is None else subject_key(subject), [subject, 0])[1] += int(
                found
            )
        named = ((name, count) for name, count in counts.values())
        return sorted(named, key=lambda one: (-one[1], one[0] or ""))

    def group_sizes(self, where: Filter, group: Group, names: Sequence[str]) -> dict[str, int]:
        """How many memories that `where` admits are in each of these groups; an empty name: of no subject."""
        key = _GROUPS[group]
        query = select(key.column, func.count()).where(*self._mine, key.among(names))
        query = narrowed(query, where, self._sql).group_by(key.column)
        return {name: int(amount) for name, amount in self._connection.execute(query)}

    def counted(self, by: Sequence[CountedBy], states: Sequence[State]) -> list[tuple[tuple[Any, ...], int]]:
        """How many memories in these states share each combination of values, in their order."""
        values = [_counted_value(name) for name in by]
        query = (
            select(*(value.label(f"value_{place}") for place, value in enumerate(values)), func.count())
            .where(*self._mine, memories.c.state.in_(states))
            .group_by(*(text(str(place)) for place in range(1, len(values) + 1)))
        )
        if tuple(by) != _IN_AN_INDEX:
            query = self._sql.in_file_order(query, Filter(states=tuple(states)))
        return sorted((tuple(row[:-1]), int(row[-1])) for row in self._connection.execute(query))

    def having(self, values: Sequence[tuple[CountedBy, Any]], states: Sequence[State]) -> list[int]:
        """How many memories in these states have each of these values; of accesses, as many or more.

        All in one reading of the space, and without the sort that SQLite groups by.
        """
        conditions = [
            memories.c.accesses >= value if name == "accesses" else _counted_value(name) == value
            for name, value in values
        ]
        counts: list[Any] = [func.count().filter(condition) for condition in conditions]
        query: Select[Any] = select(*counts).where(*self._mine, memories.c.state.in_(states))
        query = self._sql.in_file_order(query, Filter(states=tuple(states)))
        return [int(amount) for amount in self._connection.execute(query).one()]

    def most_used(self, limit: int) -> list[Memory]:
        """Those in use that were recalled most often, none that never was."""
        column, in_use = memories.c, Filter(states=("active", "inactive"))
        query = (
            self._sql.in_file_order(self._select(Memory, *self._seen), in_use)
            .where(column.state.in_(in_use.states), column.accesses > 0)
            .order_by(column.accesses.desc(), column.accessed_at.desc(), column.id)
            .limit(limit)
        )
        return self._values(Memory, query)


def _counted_value(name: CountedBy) -> Any:
    match name:
        case "from_message":
            return memories.c.message_id.is_not(None)
        case "briefs_only":
            item = receipt_items.c
            shown = exists().where(item.space == memories.c.space, item.memory_id == memories.c.id)
            return and_(memories.c.accesses == 0, shown.correlate(memories))
        case _:
            return memories.c[name]
