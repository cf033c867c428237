"""Which pieces of sessions a model is still to read: one job a chunk, queued when our reader has read it.

What a model answered is kept in its job until it is remembered, so that a kill neither loses nor doubles it;
whoever erases a message takes that out too. `reading_state` tells what waits, what was given up and why.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from holdfast.domain.background import Job
from holdfast.domain.spend import Spent
from holdfast.engine.ports import Transaction
from holdfast.language.chunks import Chunk

KIND = "extract"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingState:
    """Figures of one space."""

    space: str
    waiting: int  # pieces that a model is still to read
    failed: int  # pieces that were given up
    error: str | None  # of the last of them
    put_off: str | None  # why pieces wait for another day
    spent: Spent  # since ever


def expect_chunks(tx: Transaction, session_id: str, chunks: Sequence[Chunk], now: datetime) -> None:
    """Queues chunks to be read, each once."""
    for chunk in chunks:
        named = f"{session_id}\n{chunk.new[0].number}\n{chunk.new[-1].number}"
        payload = {
            "session": session_id,
            "before": [message.id for message in chunk.context],
            "new": [message.id for message in chunk.new],
        }
        job_id = f"{KIND}-{sha256(named.encode()).hexdigest()[:32]}"
        tx.jobs.add(Job(id=job_id, kind=KIND, payload=payload, due_at=now, created_at=now))


def cited(payload: Mapping[str, Any]) -> list[str]:
    """The messages that a job is about, in their order."""
    return [*payload.get("before", ()), *payload.get("new", ())]


def forget_answers(tx: Transaction, message_ids: Collection[str]) -> None:
    """Takes out of the jobs what a model made of messages that are erased; the rest is asked again."""
    for job in tx.jobs.of_kind(KIND):
        if "facts" in job.payload and not set(cited(job.payload)).isdisjoint(message_ids):
            bare = {name: value for name, value in job.payload.items() if name not in ("facts", "keep")}
            tx.jobs.save(replace(job, payload=bare, attempts=job.attempts + 1))


def reading_state(tx: Transaction) -> ReadingState:
    """How it stands now."""
    pieces = tx.jobs.of_kind(KIND)
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
