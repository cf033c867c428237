"""Background jobs: queued with a payload, taken with a lease, repeated if the worker died.

The kind of a job names the work; running it twice must have the same result as once.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from holdfast.domain.jobs import Job, JobState
from holdfast.engine.intake import safe
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid, QuotaExceeded

LEASE = timedelta(minutes=5)
MOST_ATTEMPTS = 5
_FIRST_PAUSE = timedelta(seconds=30)  # doubled with each failure
_FULL = timedelta(hours=1)
_MOST_ERROR = 2_000
_LONGEST_WAIT = 3_600.0  # seconds, even if a server asks for more


def take(kind: str, *, ctx: SpaceContext, latest: bool = False, session_id: str | None = None) -> Job | None:
    """Takes the next due job of this kind for the time of a lease; None if there is none.

    The oldest, or the `latest`; if `session_id` is given, of that session.
    """
    with ctx.read() as tx:  # mostly there is nothing, and no need for the lock
        if tx.jobs.due(kind, ctx.now(), latest=latest, session=session_id) is None:
            return None
    with ctx.write() as tx:
        job = tx.jobs.due(kind, ctx.now(), latest=latest, session=session_id)
        if job is None:
            return None
        if job.attempts >= MOST_ATTEMPTS:  # its worker died each time
            tx.jobs.save(
                replace(job, state="failed", error=job.error or "its worker process died", leased_until=None)
            )
            return None
        job = replace(job, state="running", attempts=job.attempts + 1, leased_until=ctx.now() + LEASE)
        tx.jobs.save(job)
        return job


def listed(state: JobState, *, ctx: SpaceContext, limit: int) -> list[Job]:
    """The jobs in one state, oldest first.

    Raises: Invalid.
    """
    if limit < 0:
        raise Invalid(f"limit {limit} is negative: give 0 or more", field="limit")
    with ctx.read() as tx:
        return tx.jobs.in_state(state, limit)


def fail(job: Job, error: str, *, ctx: SpaceContext, wait: float | None = None) -> None:
    """Puts a job back for later, or gives it up after many attempts; stores the error.

    `wait` is the least number of seconds until the next attempt.
    """
    with ctx.write() as tx:
        if not still_ours(tx, job):
            return
        given_up = job.attempts >= MOST_ATTEMPTS
        tx.jobs.save(
            replace(
                job,
                state="failed" if given_up else "queued",
                error=safe(error)[:_MOST_ERROR],
                due_at=ctx.now() + max(_FIRST_PAUSE * 2 ** (job.attempts - 1), _bounded(wait)),
                leased_until=None,
            )
        )


def put_off(job: Job, until: datetime, reason: str | None, *, ctx: SpaceContext) -> None:
    """Postpones a job without counting the attempt."""
    with ctx.write() as tx:
        if still_ours(tx, job):
            later = replace(job, state="queued", attempts=job.attempts - 1, due_at=until, leased_until=None)
            tx.jobs.save(replace(later, error=safe(reason)[:_MOST_ERROR] if reason else None))


def wait_for_room(job: Job, full: QuotaExceeded, *, ctx: SpaceContext) -> None:
    """Postpones a job that could not store its results; it continues when there is room again."""
    put_off(job, ctx.now() + _FULL, str(full), ctx=ctx)


def note(job: Job, payload: Mapping[str, Any], *, ctx: SpaceContext) -> Job | None:
    """Stores the progress of a job in its payload; returns None if another worker has the job."""
    with ctx.write() as tx:
        if not still_ours(tx, job):
            return None
        job = replace(job, payload=payload, leased_until=ctx.now() + LEASE)
        tx.jobs.save(job)
        return job


def clear(job: Job, *, ctx: SpaceContext) -> None:
    """Deletes a finished job."""
    with ctx.write() as tx:
        if still_ours(tx, job):
            tx.jobs.remove(job.id)


def again(kind: str, *, ctx: SpaceContext, drop: bool = False) -> int:
    """Requeues every failed job of a kind, or deletes them; returns how many."""
    with ctx.write() as tx:
        given_up = [job for job in tx.jobs.of_kind(kind) if job.state == "failed"]
        for job in given_up:
            if drop:
                tx.jobs.remove(job.id)
            else:
                tx.jobs.save(job.queued(ctx.now()))
    return len(given_up)


def _bounded(wait: float | None) -> timedelta:
    return timedelta(seconds=min(max(wait or 0.0, 0.0), _LONGEST_WAIT))


def still_ours(tx: Transaction, job: Job) -> bool:
    """Whether no other worker has taken the job since."""
    stored = tx.jobs.get(job.id)
    return stored is not None and stored.state == "running" and stored.attempts == job.attempts
