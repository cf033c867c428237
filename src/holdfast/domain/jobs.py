"""The background jobs of a space, and the progress of its vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from holdfast.domain.memory import Memory, Message

JobState = Literal["queued", "running", "done", "failed"]
Owner_co = TypeVar("Owner_co", bound=Memory | Message, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of background work of one space."""

    id: str
    kind: str
    payload: Mapping[str, Any]
    state: JobState = "queued"
    attempts: int = 0
    error: str | None = None
    due_at: datetime
    leased_until: datetime | None = None  # after this the job is taken by another worker
    created_at: datetime

    def queued(self, due_at: datetime) -> "Job":
        """The same job, to be done from then on as if it were new."""
        return replace(self, state="queued", attempts=0, due_at=due_at, leased_until=None)


@dataclass(frozen=True, slots=True)
class JobTally:
    """The number of jobs of one kind in one state."""

    kind: str
    state: JobState
    count: int
    oldest_due_at: datetime


@dataclass(frozen=True, slots=True)
class Missing(Generic[Owner_co]):
    """The texts to embed next; after the vectors of `owners`, everything up to `upto` is done."""

    owners: Sequence[Owner_co]
    upto: int  # a number of the journal, or a message's position


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of a text's parts."""

    owner: str
    version: int  # of a memory
    parts: Sequence[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorModel:
    """A model that a space has vectors of, and how far they reach."""

    name: str
    memories_to: int  # of `last_change`
    messages_to: int  # of `last_message`
    last_change: int  # the journal's newest number
    last_message: int  # the newest message's position
    ready: bool  # once complete: searched, and kept up with what is new
    calibration: Mapping[str, float] | None
    created_at: datetime
