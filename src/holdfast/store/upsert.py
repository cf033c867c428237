"""Insert unless the key is taken, in the words of either dialect."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table


def insert_new(connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
    """Adds the row; false when its key is taken, and then nothing was changed."""
    # The values go in beside the statement, not inside: building one for each row costs six times as much.
    return connection.execute(_insert(connection.dialect.name, table), values).first() is not None


@cache
def _insert(dialect: str, table: Table) -> Any:
    # Imported by need: each dialect takes a tenth of a second to load.
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
    # Asked back rather than counted: drivers disagree on the row count of an insert that did nothing.
    return insert(table).on_conflict_do_nothing().returning(*table.primary_key.columns)
