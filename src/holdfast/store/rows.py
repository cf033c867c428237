"""What the tables of a space share: rows of that space alone, read and written as values."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    delete,
    func,
    select,
    update,
)

from holdfast.domain.access import ALL_MEMORIES, Reader
from holdfast.domain.memory import Memory, Message, Session
from holdfast.store.mapping import row_of, table_of, value_of, values_of
from holdfast.store.queries import Queries, queries_of
from holdfast.store.schema import heads
from holdfast.store.types import UtcTime, to_text

AnyRow = Row[Any]
Value = TypeVar("Value")
Known = TypeVar("Known", Memory, Message, Session)


def plain_row(row: Mapping[str, Any], left_out: Collection[str] = ()) -> dict[str, Any]:
    """A row in JSON's terms, without some columns."""
    return {
        name: to_text(value) if isinstance(value, datetime) else value
        for name, value in row.items()
        if name not in left_out
    }


def stored_row(table: Table, row: Mapping[str, Any], left_out: Collection[str] = ()) -> dict[str, Any]:
    """The reverse: the values of those columns that the table has."""
    values = {}
    for column in table.columns:
        if column.name in row and column.name not in left_out:
            value = row[column.name]
            is_time = isinstance(column.type, UtcTime) and isinstance(value, str)
            values[column.name] = datetime.fromisoformat(value) if is_time else value
    return values


class SpaceRows:
    """Tables that can't be asked about another space."""

    def __init__(self, connection: Connection, space: str, reader: Reader = ALL_MEMORIES) -> None:
        self._connection = connection
        self._space = space
        self._reader = reader
        self._sql = queries_of(connection, space)

    def _select(self, kind: type[Any], *where: ColumnElement[bool]) -> Select[Any]:
        """A query for the values of a class."""
        table = table_of(kind)
        return select(table).where(table.c.space == self._space, *where)

    def _values(self, kind: type[Value], query: Select[Any]) -> list[Value]:
        return values_of(kind, self._connection.execute(query))

    def _one(self, kind: type[Known], wanted: str) -> Known | None:
        """The value with this id, if there is one."""
        return next(iter(self._sql.many(kind, [wanted])), None)

    def _value(self, kind: type[Value], query: Select[Any]) -> Value | None:
        """The first value, if there is any."""
        row = self._connection.execute(query).first()
        return value_of(kind, row) if row is not None else None

    def _add(self, values: Sequence[Any]) -> None:
        """Adds values of one class, whose keys are free."""
        if values:
            self._sql.insert(table_of(type(values[0])), [row_of(value, self._space) for value in values])

    def _add_new(self, value: Any) -> bool:
        """Adds it; false when its key is taken, and then nothing was changed."""
        return self._sql.insert_new(table_of(type(value)), row_of(value, self._space))

    def _by_id(self, kind: type[Known], ids: Sequence[str], sql: Queries | None = None) -> list[Known]:
        """Those of the values that there are, in the order of their ids."""
        found = {one.id: one for one in (sql or self._sql).many(kind, ids)}
        return [found[one] for one in ids if one in found]

    def _save(self, value: Any) -> int:
        """Brings the row of a value that has an id up to date; answers how many there are of it."""
        table, row = table_of(type(value)), row_of(value, self._space)
        changing = {name: stored for name, stored in row.items() if name not in ("space", "id")}
        return self._change(table, changing, table.c.id == value.id)

    def _is_any(self, table: Table, *where: ColumnElement[bool]) -> bool:
        query = select(table.c.space).where(table.c.space == self._space, *where)
        return self._connection.execute(query.limit(1)).first() is not None

    def _change(self, table: Table, values: dict[str, Any], *where: ColumnElement[bool]) -> int:
        """Changes rows of the space; answers how many."""
        mine = update(table).where(table.c.space == self._space, *where)
        return self._connection.execute(mine.values(values)).rowcount

    def _remove(self, table: Table, *where: ColumnElement[bool]) -> int:
        """Removes rows of the space; answers how many."""
        mine = delete(table).where(table.c.space == self._space, *where)
        return self._connection.execute(mine).rowcount

    def _count(self, table: Table, *where: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(table.c.space == self._space, *where)
        return int(self._connection.execute(query).scalar_one())

    def _head(self, counter: Column[int]) -> int:
        """One of the numbers that were given out last in the space."""
        found = self._connection.execute(select(counter).where(heads.c.space == self._space))
        return int(found.scalar_one())

    def _one_of(self, column: Column[Any], values: Iterable[str]) -> ColumnElement[bool]:
        return self._sql.one_of(column, values if isinstance(values, Collection) else list(values))


def same_or_none(column: Column[str], value: str | None) -> ColumnElement[bool]:
    """`column` has this value, or none if none is asked for; worded so that both databases use an index."""
    return column.is_(None) if value is None else column == value
