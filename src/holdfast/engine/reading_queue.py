"""Queues messages for capture: by the built-in finder, then by a language model.

The finder has one job per session, for as long as the session exists: it records how far the session was
read, and is queued in the transaction that stores the messages. A language model has one job per chunk,
queued after the finder. Its answer is kept in the job until it is remembered, so that a kill neither loses
nor repeats it; erasing a message removes the answer, too.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from holdfast.domain.jobs import Job
from holdfast.domain.spend import Spent
from holdfast.engine.ports import Transaction
from holdfast.language.chunks import Chunk

CAPTURE = "capture"  # a kind of job
READING = "extract"
EVERY_MESSAGES = 10
EVERY = timedelta(seconds=120)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingState:
    """The queue of one space, in figures."""

    space: str
    waiting: int  # chunks that a model has not read yet
    failed: int  # chunks that were given up
    error: str | None  # error of the last one
    put_off: str | None  # why chunks wait until another day
    spent: Spent  # in total


def job_id(session_id: str) -> str:
    """The id of a session's job."""
    return f"capture-{sha256(session_id.encode()).hexdigest()[:32]}"


def read_up_to(job: Job) -> int:
    """The number of the last message that was read."""
    return int(job.payload.get("read", 0))


def skipped(job: Job) -> list[list[int]]:
    """The first and last numbers of messages that were skipped because capture was off."""
    return [[int(first), int(last)] for first, last in job.payload.get("skipped", ())]


def expect(tx: Transaction, session_id: str, now: datetime, *, at_once: bool = False) -> None:
    """Queues a session with new messages: due after some messages, after a pause, or at once."""
    known = tx.jobs.get(job_id(session_id))
    new = tx.sessions.last_number(session_id) - (read_up_to(known) if known else 0)
    if new <= 0 or (known is not None and known.state == "running"):
        return  # its worker checks again before it ends
    due_at = now if at_once or new >= EVERY_MESSAGES else now + EVERY
    if known is None:
        payload = {"session": session_id, "read": 0}
        tx.jobs.add(Job(id=job_id(session_id), kind=CAPTURE, payload=payload, due_at=due_at, created_at=now))
    elif known.state == "queued":
        if due_at < known.due_at:
            tx.jobs.save(replace(known, due_at=due_at))
    else:
        tx.jobs.save(known.queued(due_at))


def expect_chunks(tx: Transaction, session_id: str, chunks: Sequence[Chunk], now: datetime) -> None:
    """Queues chunks, each once."""
    for chunk in chunks:
        named = f"{session_id}\n{chunk.new[0].number}\n{chunk.new[-1].number}"
        payload = {
            "session": session_id,
            "before": [message.id for message in chunk.context],
            "new": [message.id for message in chunk.new],
        }
        job_id = f"{READING}-{sha256(named.encode()).hexdigest()[:32]}"
        tx.jobs.add(Job(id=job_id, kind=READING, payload=payload, due_at=now, created_at=now))


def cited(payload: Mapping[str, Any]) -> list[str]:
    """The messages of a job, in their order."""
    return [*payload.get("before", ()), *payload.get("new", ())]


def forget_answers(tx: Transaction, message_ids: Collection[str]) -> None:
    """Removes a model's answers about erased messages from the jobs; the rest is asked again."""
    for job in tx.jobs.of_kind(READING):
        if "facts" in job.payload and not set(cited(job.payload)).isdisjoint(message_ids):
            bare = {name: value for name, value in job.payload.items() if name not in ("facts", "keep")}
            tx.jobs.save(replace(job, payload=bare, attempts=job.attempts + 1))


def reading_state(tx: Transaction) -> ReadingState:
    """The queue as it is now."""
    pieces = tx.jobs.of_kind(READING)
    failed = sorted((job for job in pieces if job.state == "failed"), key=lambda job: (job.due_at, job.id))
    capped = [job.error for job in pieces if job.state == "queued" and job.error and not job.attempts]
    return ReadingState(
        space=tx.space.name,
        waiting=len(pieces) - len(failed),
        failed=len(failed),
        error=failed[-1].error if failed else None,
        put_off=capped[0] if capped else None,
        spent=tx.spend.total(),
    )
