"""Queries over the actions that were taken on services."""

from datetime import datetime

from sqlalchemy import Connection, insert, select

from holdfast.domain.operations import Attempt
from holdfast.store.rows import AnyRow
from holdfast.store.schema import cooldowns
from holdfast.store.spellings import is_spelt


class CooldownTable:
    """The actions of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def add(self, attempt: Attempt) -> None:
        values = {
            "space": self._space,
            "id": attempt.id,
            "action": attempt.action,
            "service": attempt.service,
            "succeeded": attempt.succeeded,
            "content": attempt.content,
            "session_id": attempt.session,
            "created_at": attempt.created_at,
        }
        self._connection.execute(insert(cooldowns).values(values))

    def since(self, moment: datetime, *, service: str | None = None) -> list[Attempt]:
        """What was done after `moment`, the latest first."""
        query = select(cooldowns).where(cooldowns.c.space == self._space, cooldowns.c.created_at > moment)
        if service is not None:
            query = query.where(is_spelt(cooldowns.c.service, service, self._space, self._connection))
        query = query.order_by(cooldowns.c.created_at.desc(), cooldowns.c.id)
        return [_attempt(row) for row in self._connection.execute(query)]

    def of_session(self, session_id: str) -> list[Attempt]:
        """What a session did, in order."""
        mine = (cooldowns.c.space == self._space) & (cooldowns.c.session_id == session_id)
        query = select(cooldowns).where(mine).order_by(cooldowns.c.created_at, cooldowns.c.id)
        return [_attempt(row) for row in self._connection.execute(query)]


def _attempt(row: AnyRow) -> Attempt:
    return Attempt(
        id=row.id,
        action=row.action,
        service=row.service,
        succeeded=bool(row.succeeded),
        content=row.content,
        session=row.session_id,
        created_at=row.created_at,
    )
