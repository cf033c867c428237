"""Figures over the memories of a space: what they are about, how many have a value, which are used most."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select, text

from holdfast.domain.memory import Memory, State
from holdfast.domain.query import Filter
from holdfast.domain.subjects import subject_key
from holdfast.engine.ports import CountedBy
from holdfast.store.rows import to_memory
from holdfast.store.schema import memories
from holdfast.store.sql_filters import row_by_row

_IN_AN_INDEX: Final = ("confidence", "state")  # so that no row has to be read


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
    counts: dict[str | None, list[Any]] = {}  # by key: how it is spelt mostly, and how many have it in all
    for subject, found in connection.execute(query):
        counts.setdefault(None if subject is None else subject_key(subject), [subject, 0])[1] += int(found)
    return sorted(((name, count) for name, count in counts.values()), key=lambda one: (-one[1], one[0] or ""))


def counted(
    connection: Connection, space: str, by: Sequence[CountedBy], states: Sequence[State]
) -> list[tuple[tuple[Any, ...], int]]:
    """How many memories in these states share each combination of values, in their order."""
    values = [_value(name) for name in by]
    query = (
        select(*(value.label(f"value_{place}") for place, value in enumerate(values)), func.count())
        .where(memories.c.space == space, memories.c.state.in_(states))
        .group_by(*(text(str(place)) for place in range(1, len(values) + 1)))
    )
    if tuple(by) != _IN_AN_INDEX:
        query = row_by_row(query, Filter(states=tuple(states)), space, connection)
    return sorted((tuple(row[:-1]), int(row[-1])) for row in connection.execute(query))


def having(
    connection: Connection, space: str, values: Sequence[tuple[CountedBy, Any]], states: Sequence[State]
) -> list[int]:
    """How many memories in these states have each of these values; of accesses, as many or more.

    All in one reading of the space, and without the sort that SQLite groups by.
    """
    conditions = [
        memories.c.accesses >= value if name == "accesses" else _value(name) == value
        for name, value in values
    ]
    counts: list[Any] = [func.count().filter(condition) for condition in conditions]
    query: Select[Any] = select(*counts).where(memories.c.space == space, memories.c.state.in_(states))
    query = row_by_row(query, Filter(states=tuple(states)), space, connection)
    return [int(amount) for amount in connection.execute(query).one()]


def _value(name: CountedBy) -> Any:
    return memories.c.message_id.is_not(None) if name == "from_message" else memories.c[name]


def most_used(query: Select[Any], space: str, connection: Connection, limit: int) -> list[Memory]:
    """The memories of `query` that were recalled most often, none that never was."""
    column, in_use = memories.c, Filter(states=("active", "inactive"))
    query = (
        row_by_row(query, in_use, space, connection)
        .where(column.state.in_(in_use.states), column.accesses > 0)
        .order_by(column.accesses.desc(), column.accessed_at.desc(), column.id)
        .limit(limit)
    )
    return [to_memory(row) for row in connection.execute(query)]
