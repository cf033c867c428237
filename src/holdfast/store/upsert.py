"""Insert unless the key is taken, in the words of either dialect."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table


def insert_new(connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
    """Adds the row; false when its key is taken, and then nothing was changed."""
    statement = _insert(connection, table).values(values).on_conflict_do_nothing()
    # Asked back rather than counted: drivers disagree on the row count of an insert that did nothing.
    return connection.execute(statement.returning(*table.primary_key.columns)).first() is not None


def _insert(connection: Connection, table: Table) -> Any:
    # Imported by need: each dialect takes a tenth of a second to load.
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)
