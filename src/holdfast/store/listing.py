"""Figures over the memories of a space: what they are about, how many have a value, which are used most."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, func, select, text

from holdfast.domain.memory import Memory, State
from holdfast.domain.query import Filter
from holdfast.engine.ports import CountedBy
from holdfast.store.narrowing import row_by_row
from holdfast.store.rows import to_memory
from holdfast.store.schema import memories


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
    if by in ("accesses", "from_message"):  # no index holds them
        query = row_by_row(query, Filter(states=tuple(states)), space, connection)
    return sorted((row[0], int(row[1])) for row in connection.execute(query))


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
