"""Queries over jobs: background work of one space, taken under a lease."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, func, or_, select, update

from holdfast.engine.ports import Job, JobTally
from holdfast.store.rows import AnyRow
from holdfast.store.schema import jobs, spaces
from holdfast.store.upsert import insert_new


class JobTable:
    """The jobs of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space
        self._mine = jobs.c.space == space

    def add(self, job: Job) -> bool:
        """Adds a job and marks the space as one with work; false when a job of this id is known."""
        values = {
            "space": self._space,
            "id": job.id,
            "kind": job.kind,
            "payload": dict(job.payload),
            "state": job.state,
            "attempts": job.attempts,
            "error": job.error,
            "due_at": job.due_at,
            "leased_until": job.leased_until,
            "created_at": job.created_at,
        }
        new = insert_new(self._connection, jobs, values)
        if new:
            self._mark(has_work=True)
        return new

    def get(self, job_id: str) -> Job | None:
        row = self._connection.execute(select(jobs).where(self._mine, jobs.c.id == job_id)).one_or_none()
        return _job(row) if row else None

    def due(
        self, kinds: Sequence[str], now: datetime, *, latest: bool = False, session: str | None = None
    ) -> Job | None:
        """The oldest job, or the latest, that waits for its time or whose worker's lease ran out.

        Of all jobs, or of those of one session.
        """
        waiting = and_(jobs.c.state == "queued", jobs.c.due_at <= now)
        left_behind = and_(jobs.c.state == "running", jobs.c.leased_until <= now)
        query = (
            select(jobs)
            .where(self._mine, jobs.c.kind.in_(kinds), or_(waiting, left_behind))
            .order_by(jobs.c.due_at.desc() if latest else jobs.c.due_at, jobs.c.id)
            .limit(1 if session is None else None)
        )
        found = (_job(row) for row in self._connection.execute(query).all())
        return next((job for job in found if session in (None, job.payload.get("session"))), None)

    def save(self, job: Job) -> None:
        """Brings what is stored of a job up to date."""
        values = {
            "state": job.state,
            "attempts": job.attempts,
            "error": job.error,
            "due_at": job.due_at,
            "leased_until": job.leased_until,
            "payload": dict(job.payload),
        }
        self._connection.execute(update(jobs).where(self._mine, jobs.c.id == job.id).values(values))
        if job.state == "queued":
            self._mark(has_work=True)
        elif job.state in ("done", "failed") and not self.unfinished():
            self._mark(has_work=False)

    def remove(self, job_id: str) -> None:
        """Takes a job out that left nothing behind to be seen."""
        self._connection.execute(delete(jobs).where(self._mine, jobs.c.id == job_id))
        if not self.unfinished():
            self._mark(has_work=False)

    def of_kind(self, kind: str) -> list[Job]:
        """The jobs of one kind that are not done, given up ones too."""
        query = select(jobs).where(self._mine, jobs.c.kind == kind, jobs.c.state != "done")
        return [_job(row) for row in self._connection.execute(query.order_by(jobs.c.id))]

    def payloads(self, kind: str) -> list[Mapping[str, Any]]:
        """What all jobs of one kind hold, done ones too."""
        query = select(jobs.c.payload).where(self._mine, jobs.c.kind == kind)
        return list(self._connection.execute(query).scalars())

    def unfinished(self) -> int:
        """How many jobs are not done and not given up."""
        open_states = jobs.c.state.in_(("queued", "running"))
        query = select(func.count()).select_from(jobs).where(self._mine, open_states)
        return self._connection.execute(query).scalar_one()

    def in_state(self, state: str, limit: int) -> list[Job]:
        """The jobs in one state, oldest first."""
        query = select(jobs).where(self._mine, jobs.c.state == state)
        rows = self._connection.execute(query.order_by(jobs.c.created_at, jobs.c.id).limit(limit))
        return [_job(row) for row in rows]

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


def _job(row: AnyRow) -> Job:
    return Job(
        id=row.id,
        kind=row.kind,
        payload=row.payload,
        state=row.state,
        attempts=row.attempts,
        error=row.error,
        due_at=row.due_at,
        leased_until=row.leased_until,
        created_at=row.created_at,
    )
