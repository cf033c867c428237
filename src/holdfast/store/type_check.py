"""Finds values of another kind than their column has: SQLite takes any kind, so only damage leaves one there.

One flipped bit makes a text into bytes. Nobody looks for that while all goes well; it is asked where reading
went wrong, and by `holdfast doctor`.
"""

import sqlite3

from sqlalchemy import Boolean, Float, Integer, LargeBinary
from sqlalchemy.sql.schema import Column
from sqlalchemy.types import TypeDecorator

from holdfast.store.schema import metadata

_KINDS = (  # what SQLite calls the kinds of a column
    (LargeBinary, ("blob",)),
    (Boolean | Integer, ("integer",)),
    (Float, ("real", "integer")),
)


def of_another_kind(connection: sqlite3.Connection) -> list[str]:
    """The columns that hold such a value, as table.column.

    Raises: sqlite3.Error.
    """
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    found = []
    for table in metadata.sorted_tables:
        if table.name not in there:
            continue
        columns = list(table.columns)
        wrong = ", ".join(f"max({_is_wrong(column)})" for column in columns)
        answer = connection.execute(f'SELECT {wrong} FROM "{table.name}"').fetchone()
        found += [f"{table.name}.{column.name}" for column, bad in zip(columns, answer, strict=True) if bad]
    return found


def _is_wrong(column: Column[object]) -> str:
    kind = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    allowed = next((names for family, names in _KINDS if isinstance(kind, family)), ("text",))
    kinds = ", ".join(f"'{name}'" for name in (*allowed, "null"))
    return f'typeof("{column.name}") NOT IN ({kinds})'
