"""Lists of memories in any order, a page at a time; how doors write down where a page ended is theirs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select, text

from holdfast.domain.memory import Memory, State
from holdfast.domain.query import Filter, Group, Order, Place, in_order
from holdfast.engine.ports import CountedBy
from holdfast.store.rows import to_memory
from holdfast.store.schema import memories


@dataclass(frozen=True, slots=True)
class _Key:
    """One thing that an order goes by, up or down."""

    column: Any
    name: str  # of the same in a `Place`
    down: bool = False

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


_ID = _Key(memories.c.id, "id")
_CREATED = _Key(memories.c.created_at, "created_at")
_CATEGORY = _Key(memories.c.category, "category")
_ORDERS: dict[Order, tuple[_Key, ...]] = {
    "category": (_CATEGORY, _CREATED, _ID),
    "recent": (
        _Key(memories.c.updated_at, "updated_at", down=True),
        _Key(memories.c.created_at, "created_at", down=True),
        _ID,
    ),
    "confidence": (_Key(memories.c.confidence, "confidence", down=True), _CREATED, _ID),
    "created": (_CREATED, _ID),
}
_GROUPS: dict[Group, _Key] = {
    "subject": _Key(func.coalesce(memories.c.subject, ""), "subject"),
    "category": _CATEGORY,
}


def listed(
    query: Select[Any],
    where: Filter,
    connection: Connection,
    *,
    order: Order,
    group: Group | None,
    limit: int | None,
    offset: int,
    after: Place | None,
) -> list[Memory]:
    """The memories of `query`, which holds all conditions but the states, in order."""
    keys = (*((_GROUPS[group],) if group else ()), *_ORDERS[order])
    if after is not None:
        query = query.where(_behind(keys, after))
    query = query.order_by(*(key.ordered for key in keys))
    column = memories.c.state
    if limit is None or offset or len(where.states) == 1 or group or order != "recent":
        query = query.where(column.in_(where.states)).limit(limit).offset(offset or None)
        return [to_memory(row) for row in connection.execute(query)]
    # One state at a time: each is read in its index's order, where all together would have to be sorted.
    found = [
        to_memory(row)
        for state in where.states
        for row in connection.execute(query.where(column == state).limit(limit))
    ]
    return in_order(found, order, group)[:limit]


def _behind(keys: Sequence[_Key], place: Place) -> ColumnElement[bool]:
    """What comes after `place`; the first key stands alone too, so that its index finds the start."""
    values = [getattr(place, key.name) for key in keys]
    values = ["" if value is None else value for value in values]
    pairs = list(zip(keys, values, strict=True))
    steps = [
        and_(*(key.column == value for key, value in pairs[:at]), pairs[at][0].beyond(pairs[at][1]))
        for at in range(len(pairs))
    ]
    first, value = pairs[0]
    return and_(first.beyond(value, level=True), or_(*steps))


def subjects(connection: Connection, space: str, limit: int) -> list[tuple[str | None, int]]:
    """What memories in use are about, and how many of each; what most are about first."""
    amount = func.count()
    query = (
        select(memories.c.subject, amount)
        .where(memories.c.space == space, memories.c.state.in_(("active", "inactive", "waiting")))
        .group_by(memories.c.subject)
        .order_by(amount.desc(), memories.c.subject)
        .limit(limit)
    )
    return [(row[0], int(row[1])) for row in connection.execute(query)]


def counted(
    connection: Connection, space: str, by: CountedBy, states: Sequence[State]
) -> list[tuple[Any, int]]:
    """How many memories in these states have each value, in the order of values."""
    value = memories.c.message_id.is_not(None) if by == "from_message" else memories.c[by]
    query = (
        select(value.label("value"), func.count())
        .where(memories.c.space == space, memories.c.state.in_(states))
        .group_by(text("1"))
    )
    return sorted((row[0], int(row[1])) for row in connection.execute(query))


def most_used(query: Select[Any], connection: Connection, limit: int) -> list[Memory]:
    """The memories of `query` that were recalled most often, none that never was."""
    column = memories.c
    query = (
        query.where(column.state.in_(("active", "inactive")), column.accesses > 0)
        .order_by(column.accesses.desc(), column.accessed_at.desc(), column.id)
        .limit(limit)
    )
    return [to_memory(row) for row in connection.execute(query)]
