"""When a session is to be read for what is worth keeping.

One job a session, for as long as the session is known: it says how far the session was read. It is noted in
the transaction that keeps the messages. Reading itself is `capture`'s.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

from holdfast.domain.background import Job
from holdfast.engine.ports import Transaction

KIND = "capture"
EVERY_MESSAGES = 10
EVERY = timedelta(seconds=120)


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
        tx.jobs.add(Job(id=job_id(session_id), kind=KIND, payload=payload, due_at=due_at, created_at=now))
    elif known.state == "queued":
        if due_at < known.due_at:
            tx.jobs.save(replace(known, due_at=due_at))
    else:
        tx.jobs.save(known.queued(due_at))
