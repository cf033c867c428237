"""Queries over jobs: background work of one space, taken under a lease."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, or_, select, update

from holdfast.engine.ports import Job, JobTally
from holdfast.store.mapping import row_of
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import jobs, spaces


class JobTable(SpaceRows):
    """The jobs of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        super().__init__(connection, space)
        self._mine = jobs.c.space == space

    def add(self, job: Job) -> bool:
        """Adds a job and marks the space as one with work; false when a job of this id is known."""
        new = self._add_new(job)
        if new:
            self._mark(has_work=True)
        return new

    def get(self, job_id: str) -> Job | None:
        return self._value(Job, self._select(Job, jobs.c.id == job_id))

    def due(
        self, kinds: Sequence[str], now: datetime, *, latest: bool = False, session: str | None = None
    ) -> Job | None:
        """The oldest job, or the latest, that waits for its time or whose worker's lease ran out.

        Of all jobs, or of those of one session.
        """
        waiting = and_(jobs.c.state == "queued", jobs.c.due_at <= now)
        left_behind = and_(jobs.c.state == "running", jobs.c.leased_until <= now)
        query = (
            self._select(Job, jobs.c.kind.in_(kinds), or_(waiting, left_behind))
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
        if job.state == "queued":
            self._mark(has_work=True)
        elif job.state in ("done", "failed") and not self.unfinished():
            self._mark(has_work=False)

    def remove(self, job_id: str) -> None:
        """Takes a job out that left nothing behind to be seen."""
        self._remove(jobs, jobs.c.id == job_id)
        if not self.unfinished():
            self._mark(has_work=False)

    def of_kind(self, kind: str) -> list[Job]:
        """The jobs of one kind that are not done, given up ones too."""
        query = self._select(Job, jobs.c.kind == kind, jobs.c.state != "done")
        return self._values(Job, query.order_by(jobs.c.id))

    def payloads(self, kind: str) -> list[Mapping[str, Any]]:
        """What all jobs of one kind hold, done ones too."""
        query = select(jobs.c.payload).where(self._mine, jobs.c.kind == kind)
        return list(self._connection.execute(query).scalars())

    def unfinished(self) -> int:
        """How many jobs are not done and not given up."""
        return self._count(jobs, jobs.c.state.in_(("queued", "running")))

    def in_state(self, state: str, limit: int) -> list[Job]:
        """The jobs in one state, oldest first."""
        query = self._select(Job, jobs.c.state == state)
        return self._values(Job, query.order_by(jobs.c.created_at, jobs.c.id).limit(limit))

    def tallies(self) -> list[JobTally]:
        """How many there are of each kind and state; done ones are left out, for they pile up."""
        query = (
            select(jobs.c.kind, jobs.c.state, func.count(), func.min(jobs.c.due_at))
            .where(self._mine, jobs.c.state != "done")
            .group_by(jobs.c.kind, jobs.c.state)
        )
        return [JobTally(*row) for row in self._connection.execute(query)]

    def _mark(self, *, has_work: bool) -> None:
        self._connection.execute(update(spaces).where(spaces.c.name == self._space).values(has_work=has_work))
