"""Queries over answers that were given under an idempotency key."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Text, delete, insert, select, type_coerce

from holdfast.store.schema import calls


class CallTable:
    """The answered calls of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def get(self, key: str) -> tuple[str, dict[str, Any]] | None:
        """The call's fingerprint and its answer."""
        query = select(calls.c.fingerprint, calls.c.outcome).where(
            calls.c.space == self._space, calls.c.key == key
        )
        row = self._connection.execute(query).one_or_none()
        return (row.fingerprint, row.outcome) if row else None

    def put(self, key: str, fingerprint: str, outcome: dict[str, Any], now: datetime) -> None:
        self._connection.execute(
            insert(calls).values(
                space=self._space, key=key, fingerprint=fingerprint, outcome=outcome, created_at=now
            )
        )

    def strike(self, memory_id: str) -> None:
        """Removes the answers that name a memory."""
        names_it = type_coerce(calls.c.outcome, Text).contains(f'"{memory_id}"', autoescape=True)
        self._connection.execute(delete(calls).where(calls.c.space == self._space, names_it))
