"""Queries over events."""

from sqlalchemy import Connection, and_, insert, or_, select

from holdfast.domain.operations import Event
from holdfast.domain.query import TimeCursor
from holdfast.store.rows import AnyRow
from holdfast.store.schema import events
from holdfast.store.spellings import is_spelt


class EventTable:
    """The events of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def add(self, event: Event) -> None:
        values = {
            "space": self._space,
            "id": event.id,
            "level": event.level,
            "service": event.service,
            "content": event.content,
            "session_id": event.session,
            "created_at": event.created_at,
        }
        self._connection.execute(insert(events).values(values))

    def find(
        self,
        *,
        level: str | None = None,
        service: str | None = None,
        session: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        after: TimeCursor | None = None,
    ) -> list[Event]:
        """The latest first."""
        query = select(events).where(events.c.space == self._space)
        for column, wanted in ((events.c.level, level), (events.c.session_id, session)):
            if wanted is not None:
                query = query.where(column == wanted)
        if service is not None:
            query = query.where(is_spelt(events.c.service, service, self._space, self._connection))
        if after is not None:
            same = and_(events.c.created_at == after.at, events.c.id > after.id)
            query = query.where(or_(events.c.created_at < after.at, same))
        query = query.order_by(events.c.created_at.desc(), events.c.id).limit(limit).offset(offset)
        return [_event(row) for row in self._connection.execute(query)]


def _event(row: AnyRow) -> Event:
    return Event(
        id=row.id,
        level=row.level,
        service=row.service,
        content=row.content,
        session=row.session_id,
        created_at=row.created_at,
    )
