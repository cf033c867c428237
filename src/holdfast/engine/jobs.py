"""Background work: queued with what it needs, taken under a lease, done again when its worker died.

A job's kind names what is to be done; whoever runs it must be able to do it twice with the same result.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from holdfast.domain.jobs import Job, JobState
from holdfast.engine.intake import safe
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid

LEASE = timedelta(minutes=5)
MOST_ATTEMPTS = 5
_FIRST_PAUSE = timedelta(seconds=30)  # doubled with each failure
_MOST_ERROR = 2_000
_LONGEST_WAIT = 3_600.0  # seconds, whatever a server asks for


def take(kind: str, *, ctx: SpaceContext, latest: bool = False, session_id: str | None = None) -> Job | None:
    """The next job of this kind, which is the caller's until the lease ends; none when there is none.

    The one that waits for the longest time, or else the `latest`; of one session, where it is named.
    """
    with ctx.read() as tx:  # most of the time there is nothing, and no need for the lock
        if tx.jobs.due(kind, ctx.now(), latest=latest, session=session_id) is None:
            return None
    with ctx.write() as tx:
        job = tx.jobs.due(kind, ctx.now(), latest=latest, session=session_id)
        if job is None:
            return None
        if job.attempts >= MOST_ATTEMPTS:  # its worker process died each time
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
    """Puts a job back for later, or gives it up after many attempts; the error can be seen.

    `wait` are the seconds before which it can't succeed.
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
    """Leaves a job for a later time, through no fault of its own: the attempt does not count."""
    with ctx.write() as tx:
        if still_ours(tx, job):
            later = replace(job, state="queued", attempts=job.attempts - 1, due_at=until, leased_until=None)
            tx.jobs.save(replace(later, error=safe(reason)[:_MOST_ERROR] if reason else None))


def note(job: Job, payload: Mapping[str, Any], *, ctx: SpaceContext) -> Job | None:
    """Keeps what a job has come to, for whoever takes it next; none, when another worker has it."""
    with ctx.write() as tx:
        if not still_ours(tx, job):
            return None
        job = replace(job, payload=payload, leased_until=ctx.now() + LEASE)
        tx.jobs.save(job)
        return job


def clear(job: Job, *, ctx: SpaceContext) -> None:
    """Marks a job as done and leaves nothing of it: there may be thousands of its kind."""
    with ctx.write() as tx:
        if still_ours(tx, job):
            tx.jobs.remove(job.id)


def again(kind: str, *, ctx: SpaceContext, drop: bool = False) -> int:
    """Puts back every job of a kind that was given up, or takes it out for good; answers how many."""
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
    """Whether no other worker has taken a job since."""
    stored = tx.jobs.get(job.id)
    return stored is not None and stored.state == "running" and stored.attempts == job.attempts
