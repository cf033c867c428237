"""Queries over events, and over the actions that were taken on services."""

from datetime import datetime

from sqlalchemy import and_, or_

from holdfast.domain.operations import Attempt, Event
from holdfast.domain.query import TimeCursor
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import cooldowns, events
from holdfast.store.sql_filters import is_spelt


class EventTable(SpaceRows):
    """The events of one space."""

    def add(self, event: Event) -> None:
        self._add([event])

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
        query = self._select(Event)
        for column, wanted in ((events.c.level, level), (events.c.session_id, session)):
            if wanted is not None:
                query = query.where(column == wanted)
        if service is not None:
            query = query.where(is_spelt(events.c.service, service, self._sql))
        if after is not None:
            same = and_(events.c.created_at == after.at, events.c.id > after.id)
            query = query.where(or_(events.c.created_at < after.at, same))
        query = query.order_by(events.c.created_at.desc(), events.c.id).limit(limit).offset(offset)
        return self._values(Event, query)


class CooldownTable(SpaceRows):
    """The actions of one space."""

    def add(self, attempt: Attempt) -> None:
        self._add([attempt])

    def since(self, moment: datetime, *, service: str | None = None) -> list[Attempt]:
        """What was done after `moment`, the latest first."""
        query = self._select(Attempt, cooldowns.c.created_at > moment)
        if service is not None:
            query = query.where(is_spelt(cooldowns.c.service, service, self._sql))
        return self._values(Attempt, query.order_by(cooldowns.c.created_at.desc(), cooldowns.c.id))

    def of_session(self, session_id: str) -> list[Attempt]:
        """What a session did, in order."""
        query = self._select(Attempt, cooldowns.c.session_id == session_id)
        return self._values(Attempt, query.order_by(cooldowns.c.created_at, cooldowns.c.id))
