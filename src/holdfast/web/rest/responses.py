"""Response types that are not engine types: pages of lists, reports, errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.domain.jobs import Job
from holdfast.domain.memory import Link, Memory, Message, Session, Version
from holdfast.domain.operations import CooldownStatus, Event
from holdfast.domain.outcomes import Deletion
from holdfast.domain.space import Access, Token
from holdfast.engine.imports import ImportResult
from holdfast.engine.inbox import Item
from holdfast.engine.restore import Imported
from holdfast.engine.spaces import Overview
from holdfast.wire.values import shaped


@shaped(optional=True)
@dataclass(frozen=True, slots=True)
class Problem:
    """An error (RFC 9457), with the field at fault and the allowed values."""

    title: str
    status: int
    detail: str
    field: str | None = None


@shaped(optional=True)
@dataclass(frozen=True, slots=True)
class Known(Problem):
    """The known memory: update it instead."""

    outcome: Literal["update_suggested", "refused"] | None = None
    relation: Literal["same", "contradicts"] | None = None
    id: str | None = None
    content: str | None = None
    memory: Memory | None = None
    deleted: Deletion | None = None  # of a refusal: what is said was deleted before


@dataclass(frozen=True, slots=True)
class MemoryPage:
    memories: Sequence[Memory]
    total: int
    next: str | None


@shaped(inlined=("memory",), schema="Details")
@dataclass(frozen=True, slots=True)
class ShownMemory:
    memory: Memory
    versions: Sequence[Version]
    links: Sequence[Link]


@shaped(inlined=("memory",), open=True)
@dataclass(frozen=True, slots=True)
class Created:
    """The stored memory; `outcome` tells how it was stored."""

    memory: Memory
    outcome: Literal["added", "reinforced", "merged", "contradicting", "waiting"]


@shaped(inlined=("memory",))
@dataclass(frozen=True, slots=True)
class Changed:
    memory: Memory
    old_content: str
    new_content: str
    previous: Memory


@shaped(inlined=("memory",))
@dataclass(frozen=True, slots=True)
class Deleted:
    memory: Memory
    deleted: bool
    restorable: bool


@dataclass(frozen=True, slots=True)
class Versions:
    versions: Sequence[Version]


@dataclass(frozen=True, slots=True)
class Linked:
    linked: bool


@dataclass(frozen=True, slots=True)
class Unlinked:
    removed: int


@dataclass(frozen=True, slots=True)
class Delta:
    text: str


@dataclass(frozen=True, slots=True)
class SessionPage:
    sessions: Sequence[Session]
    next: str | None


@shaped(inlined=("session",), schema="Conversation")
@dataclass(frozen=True, slots=True)
class ShownSession:
    session: Session
    messages: int


@dataclass(frozen=True, slots=True)
class MessagePage:
    messages: Sequence[Message]
    next: str | None


@dataclass(frozen=True, slots=True)
class Kept:
    """The new messages and how many they are; all are on disk."""

    session: str
    received: int
    new: int
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class Inbox:
    waiting: Sequence[Item]
    total: int


@dataclass(frozen=True, slots=True)
class Decided:
    memories: Sequence[Memory]


@dataclass(frozen=True, slots=True)
class EventPage:
    events: Sequence[Event]
    next: str | None


@dataclass(frozen=True, slots=True)
class Standings:
    cooldowns: Sequence[CooldownStatus]


@dataclass(frozen=True, slots=True)
class Jobs:
    jobs: Sequence[Job]


@dataclass(frozen=True, slots=True)
class Spaces:
    spaces: Sequence[Overview]
    total: int


@dataclass(frozen=True, slots=True)
class ImportReport:
    archives: Sequence[Imported]
    drafts: Sequence[ImportResult]


@dataclass(frozen=True, slots=True)
class Accesses:
    accesses: Sequence[Access]


@dataclass(frozen=True, slots=True)
class Tokens:
    tokens: Sequence[Token]


@shaped(inlined=("known",))
@dataclass(frozen=True, slots=True)
class Secret:
    """A new token with its secret, which is shown only once."""

    known: Token
    token: str
