"""Insert unless the key is taken, in the words of either dialect."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_new(connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
    """Adds the row; false when its key is taken, and then nothing was changed."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table).values(values).on_conflict_do_nothing()
    # Asked back rather than counted: drivers disagree on the row count of an insert that did nothing.
    return connection.execute(statement.returning(*table.primary_key.columns)).first() is not None
