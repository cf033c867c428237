"""Queries over what goes on in a space: events, actions on services, jobs, and what models cost."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, or_, select, text

from holdfast.domain.jobs import Job, JobTally
from holdfast.domain.operations import Attempt, Event
from holdfast.domain.query import TimeCursor
from holdfast.domain.spend import GroupedBy, ModelCall, Spent, Usage
from holdfast.store.mapping import row_of
from holdfast.store.rows import AnyRow, SpaceRows
from holdfast.store.schema import cooldowns, events, jobs, spend
from holdfast.store.sql_filters import is_spelt

_TOKENS = ("input_tokens", "output_tokens", "cached_tokens")


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
        since: datetime | None = None,
        before: datetime | None = None,
        limit: int | None = None,
        offset: int = 0,
        after: TimeCursor | None = None,
    ) -> list[Event]:
        """The latest first."""
        query = self._select(Event)
        for column, wanted in ((events.c.level, level), (events.c.session_id, session)):
            if wanted is not None:
                query = query.where(column == wanted)
        query = query.where(events.c.created_at >= since) if since is not None else query
        query = query.where(events.c.created_at < before) if before is not None else query
        if service is not None:
            query = query.where(is_spelt(events.c.service, service, self._sql))
        if after is not None:
            same = and_(events.c.created_at == after.at, events.c.id > after.id)
            query = query.where(or_(events.c.created_at < after.at, same))
        query = query.order_by(events.c.created_at.desc(), events.c.id).limit(limit).offset(offset)
        return self._values(Event, query)

    def by_day(self, since: datetime, service: str | None = None) -> list[tuple[str, str, int]]:
        """How many events of each level there were on each day (UTC) from `since` on."""
        day = self._sql.day(events.c.created_at).label("day")
        mine = [events.c.space == self._space, events.c.created_at >= since]
        if service is not None:
            mine.append(is_spelt(events.c.service, service, self._sql))
        query = select(day, events.c.level, func.count()).where(*mine).group_by(text("1"), events.c.level)
        return [(str(row[0]), row[1], int(row[2])) for row in self._connection.execute(query)]


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


class JobTable(SpaceRows):
    """The background work of one space, taken under a lease."""

    def add(self, job: Job) -> bool:
        """Adds a job; false when one of this id is known."""
        return self._add_new(job)

    def get(self, job_id: str) -> Job | None:
        return self._value(Job, self._select(Job, jobs.c.id == job_id))

    def due(
        self, kind: str, now: datetime, *, latest: bool = False, session: str | None = None
    ) -> Job | None:
        """The oldest job, or the latest, that waits for its time or whose worker's lease ran out.

        Of all jobs, or of those of one session.
        """
        waiting = and_(jobs.c.state == "queued", jobs.c.due_at <= now)
        left_behind = and_(jobs.c.state == "running", jobs.c.leased_until <= now)
        query = (
            self._select(Job, jobs.c.kind == kind, or_(waiting, left_behind))
            .order_by(jobs.c.due_at.desc() if latest else jobs.c.due_at, jobs.c.id)
            .limit(1 if session is None else None)
        )
        found = self._values(Job, query)
        return next((job for job in found if session in (None, job.payload.get("session"))), None)

    def save(self, job: Job) -> None:
        """Brings what is stored of a job up to date."""
        values = row_of(job, self._space)
        changing = ("state", "attempts", "error", "due_at", "leased_until", "payload")
        self._change(jobs, {name: values[name] for name in changing}, jobs.c.id == job.id)

    def remove(self, job_id: str) -> None:
        """Takes a job out that left nothing behind to be seen."""
        self._remove(jobs, jobs.c.id == job_id)

    def of_kind(self, kind: str) -> list[Job]:
        """The jobs of one kind that are not done, given up ones too."""
        query = self._select(Job, jobs.c.kind == kind, jobs.c.state != "done")
        return self._values(Job, query.order_by(jobs.c.id))

    def payloads(self, kind: str) -> list[Mapping[str, Any]]:
        """What all jobs of one kind hold, done ones too."""
        query = select(jobs.c.payload).where(jobs.c.space == self._space, jobs.c.kind == kind)
        return list(self._connection.execute(query).scalars())

    def overdue(self, kind: str, now: datetime) -> int:
        """How many jobs of one kind are due or being done."""
        due = and_(jobs.c.state == "queued", jobs.c.due_at <= now)
        return self._count(jobs, jobs.c.kind == kind, or_(jobs.c.state == "running", due))

    def in_state(self, state: str, limit: int) -> list[Job]:
        """The jobs in one state, oldest first."""
        query = self._select(Job, jobs.c.state == state)
        return self._values(Job, query.order_by(jobs.c.created_at, jobs.c.id).limit(limit))

    def tallies(self) -> list[JobTally]:
        """How many there are of each kind and state; done ones are left out, for they pile up."""
        query = (
            select(jobs.c.kind, jobs.c.state, func.count(), func.min(jobs.c.due_at))
            .where(jobs.c.space == self._space, jobs.c.state != "done")
            .group_by(jobs.c.kind, jobs.c.state)
        )
        return [JobTally(*row) for row in self._connection.execute(query)]


class SpendTable(SpaceRows):
    """The calls of one space."""

    def add(self, call: ModelCall) -> None:
        self._add([call])

    def save(self, call: ModelCall) -> None:
        """Brings what is stored of a call up to date: its tokens, its money and what came of it."""
        values = row_of(call, self._space)
        settled = {name: values[name] for name in (*_TOKENS, "micro_dollars", "outcome")}
        self._change(spend, settled, spend.c.id == call.id)

    def total(self, *, since: datetime | None = None, session: str | None = None) -> Spent:
        """All calls, or those since a moment, or those of a session."""
        query = select(*_sums()).where(*self._where(since))
        if session is not None:
            query = query.where(spend.c.session_id == session)
        return _spent(self._connection.execute(query).one())

    def grouped(self, by: GroupedBy, *, since: datetime | None = None) -> list[tuple[str | None, Spent]]:
        """Sums by a label, in the label's order; calls for no session come last."""
        label = self._label(by).label("name")
        query = select(label, *_sums()).where(*self._where(since)).group_by(text("1"))
        rows = self._connection.execute(query).all()
        found = [(None if row.name is None else str(row.name), _spent(row)) for row in rows]
        return sorted(found, key=lambda pair: (pair[0] is None, pair[0] or ""))

    def _where(self, since: datetime | None) -> list[ColumnElement[bool]]:
        mine = [spend.c.space == self._space]
        return mine if since is None else [*mine, spend.c.created_at >= since]

    def _label(self, by: GroupedBy) -> ColumnElement[Any]:
        match by:
            case "purpose":
                return spend.c.purpose
            case "model":
                return spend.c.model
            case "session":
                return spend.c.session_id
            case "day":
                return self._sql.day(spend.c.created_at)


def _sums() -> list[ColumnElement[Any]]:
    unpriced = spend.c.micro_dollars.is_(None)
    return [
        func.count().label("calls"),
        *(_sum(spend.c[name]).label(name) for name in _TOKENS),
        _sum(spend.c.micro_dollars).label("micro_dollars"),
        _sum(case((unpriced, 1), else_=0)).label("unpriced_calls"),
        *(_sum(case((unpriced, spend.c[name]), else_=0)).label(f"unpriced_{name}") for name in _TOKENS),
    ]


def _sum(what: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(what), 0)


def _spent(row: AnyRow) -> Spent:
    return Spent(
        calls=int(row.calls),
        usage=Usage(*(int(row._mapping[name]) for name in _TOKENS)),
        micro_dollars=int(row.micro_dollars),
        unpriced_calls=int(row.unpriced_calls),
        unpriced=Usage(*(int(row._mapping[f"unpriced_{name}"]) for name in _TOKENS)),
    )
