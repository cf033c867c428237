"""A space, the tokens and browsers that open it, and the directory of files that it may be bound to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """The most that may be stored; None: no limit."""

    max_memories: int | None = None
    max_messages: int | None = None
    max_bytes: int | None = None  # of text: every wording of a memory, and every message


NO_QUOTA: Final = Quota()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """How much is stored, in a space or by a token."""

    memories: int = 0
    messages: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One read of a space: who, when, through which door, and what was shown. Never the text."""

    id: str
    at: datetime
    token: str | None  # its id; None: the user of the machine
    door: str
    verb: str  # of `Memories`
    session: str | None = None
    memories: tuple[str, ...] = ()  # ids
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A named, isolated set of memories with one profile."""

    name: str
    profile: str
    profile_text: str | None
    key: str
    keeps_messages: bool = True  # false: messages are not stored
    created_at: datetime
    quota: Quota = NO_QUOTA
    access_log: bool = False  # whether reads are recorded
    access_log_days: int = 90  # how long they are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """An access token; only a hash of the secret is stored."""

    id: str
    name: str | None
    hash: str
    scopes: tuple[str, ...]
    spaces: tuple[str, ...] | None  # None: all spaces, including future ones
    created_at: datetime
    revoked_at: datetime | None = None
    used_at: datetime | None = None  # about when it was last shown
    expires_at: datetime | None = None  # None: never
    rotated_at: datetime | None = None  # when it got its present secret, if not the first
    old_hash: str | None = None  # of the secret before, which works until `old_until`
    old_until: datetime | None = None
    max_requests: int | None = None  # a minute, at each instance of the service; None: no limit
    quota: Quota = NO_QUOTA  # for each space: what it may add
    person: str | None = None  # who uses it: what is written with it says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """A signed-in browser, or a one-time link that signs one in; only a hash of the secret is stored."""

    hash: str
    token: str  # the hash of the token whose rights it has
    link: bool
    notice: Mapping[str, Any] | None = None  # to be shown on its next page
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """The file of a memory."""

    path: str
    memory: str | None  # None: an empty file
    given: str | None = None  # its text, where it is not what we would write
    mark: str | None = None  # of the memory that the text was made of
    hash: str | None = None  # of the file's bytes when both sides last agreed; None: never written
    stat: str | None = None  # what the file looked like then


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The directory that a space is bound to."""

    path: str
    layout: str
    index_hash: str | None = None
    asks: str | None = None  # what a person has to decide first
    refused: Mapping[str, Sequence[str]] = field(default_factory=dict)  # path: its state, and why
    bound_at: datetime
    agreed_at: datetime | None = None
