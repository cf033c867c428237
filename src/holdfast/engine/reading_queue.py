"""What of sessions is still to be read for what is worth keeping: by our reader, then by a language model.

Ours has one job a session, for as long as the session is known: it says how far the session was read, and is
noted in the transaction that keeps the messages. A model has one job a chunk, queued when ours has read it.
What it answered is kept in its job until it is remembered, so that a kill neither loses nor doubles it;
whoever erases a message takes that out too. `reading_state` tells what waits, what was given up and why.
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
    """Figures of one space."""

    space: str
    waiting: int  # pieces that a model is still to read
    failed: int  # pieces that were given up
    error: str | None  # of the last of them
    put_off: str | None  # why pieces wait for another day
    spent: Spent  # since ever


def job_id(session_id: str) -> str:
    """The id of a session's job."""
    return f"capture-{sha256(session_id.encode()).hexdigest()[:32]}"


def read_up_to(job: Job) -> int:
    """The number of the last message that was read."""
    return int(job.payload.get("read", 0))


def skipped(job: Job) -> list[list[int]]:
    """The first and last numbers of messages that were passed over where capture was off."""
    return [[int(first), int(last)] for first, last in job.payload.get("skipped", ())]


def expect(tx: Transaction, session_id: str, now: datetime, *, at_once: bool = False) -> None:
    """Notes that a session has something new: due after some messages, after a while, or at once."""
    known = tx.jobs.get(job_id(session_id))
    new = tx.sessions.last_number(session_id) - (read_up_to(known) if known else 0)
    if new <= 0 or (known is not None and known.state == "running"):
        return  # its worker looks again before it ends
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
    """Queues chunks to be read, each once."""
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
    """The messages that a job is about, in their order."""
    return [*payload.get("before", ()), *payload.get("new", ())]


def forget_answers(tx: Transaction, message_ids: Collection[str]) -> None:
    """Takes out of the jobs what a model made of messages that are erased; the rest is asked again."""
    for job in tx.jobs.of_kind(READING):
        if "facts" in job.payload and not set(cited(job.payload)).isdisjoint(message_ids):
            bare = {name: value for name, value in job.payload.items() if name not in ("facts", "keep")}
            tx.jobs.save(replace(job, payload=bare, attempts=job.attempts + 1))


def reading_state(tx: Transaction) -> ReadingState:
    """How it stands now."""
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
