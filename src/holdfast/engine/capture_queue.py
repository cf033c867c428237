"""When a session is to be read for what is worth keeping, and where that belongs: its project and category.

One job a session, for as long as the session is known: it says how far the session was read. It is noted in
the transaction that keeps the messages. Reading itself is `capture`'s.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

from holdfast.domain.profile import Profile
from holdfast.engine.ports import Job, Transaction

KIND = "capture"
EVERY_MESSAGES = 10
EVERY = timedelta(seconds=120)


# How our reader and the models begin what a person says of himself.
_THE_PERSON = re.compile(r"The user\b(?! interface)")
# What points at where it was said.
_OF_THIS_PLACE = re.compile(r"\b(?:we|our|here|this project)\b", re.IGNORECASE)

#: What a kind becomes in a profile that has no category of its name: the first one that there is.
_NEAREST: Mapping[str, tuple[str, ...]] = {
    "decision": ("decision", "project", "context"),
    "insight": ("insight", "fact", "context", "project"),
    "fact": ("fact", "context", "project"),
    "preference": ("preference", "feedback"),
    "feedback": ("feedback", "preference"),
    "project": ("project", "decision", "context"),
    "person": ("person", "user", "fact", "context"),
    "context": ("context", "fact", "user"),
}


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
        tx.jobs.save(replace(known, state="queued", attempts=0, due_at=due_at, leased_until=None))


def captured_project(content: str, category: str, project: str | None, profile: Profile) -> str | None:
    """The project that it was said in; none for what is about the person or how to answer them.

    In doubt it belongs to the project: a person can promote it.
    """
    if profile.policy.space_wide:
        return None
    personal = bool(_THE_PERSON.match(content)) and not _OF_THIS_PLACE.search(content)
    return None if personal and profile.holds_everywhere(category) else project


def category_for(kind: str, profile: Profile) -> str | None:
    """The profile's category for what our reader found; none where it keeps nothing of the kind."""
    if profile.policy.subject_is_key:  # one name, one memory: nothing may be overwritten by a guess at a name
        return None
    known = profile.category_names
    return next((name for name in _NEAREST.get(kind, ()) if name in known), profile.default_category)
