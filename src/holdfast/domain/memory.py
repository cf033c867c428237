"""Memories with versions, sources and links; sessions with messages. Ids and times are passed in."""
# budget: the values that all other packages are about, in one place.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, get_args

State = Literal["active", "inactive", "waiting", "forgotten"]
Origin = Literal["operator", "user", "assistant", "tool", "import", "file"]
LinkKind = Literal["related", "supersedes", "contradicts", "elaborates"]

STATES: tuple[State, ...] = get_args(State)
ORIGINS: tuple[Origin, ...] = get_args(Origin)
LINK_KINDS: tuple[LinkKind, ...] = get_args(LinkKind)

#: The roles of messages in a session.
ROLES = ("user", "assistant", "system", "tool")
_ROLES = {role: role for role in ROLES} | {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
}

#: Origins that are a person's own word: they alone confirm by an edit and bring back what was deleted.
PEOPLE: frozenset[Origin] = frozenset({"operator", "user"})

#: Origins of unverified text: labelled in prompts, and never above an operator's.
UNTRUSTED: frozenset[Origin] = frozenset({"tool", "import", "file"})


def known_role(role: str) -> str | None:
    """The role for a client's name of it; None if unknown."""
    return _ROLES.get(role.strip().casefold())


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Origin, session and message of a memory."""

    origin: Origin = "operator"
    session: str | None = None
    message: str | None = None  # the message that it was taken from
    tier: int | None = None  # of the session, for agents that run in tiers
    person: str | None = field(default=None, repr=False)  # who wrote it, if the token or a setting says so
    #: The cited words, each with its message. None: where the text is in the message,
    #: else all of it. Only known while it is written: kept as citations.
    taken_from: tuple[tuple[str, str | None], ...] = field(default=(), repr=False, compare=False)

    @property
    def trusted(self) -> bool:
        return self.origin not in UNTRUSTED


class DraftFields(TypedDict, total=False):
    """The optional fields of a draft; a missing one has the default of `Draft`."""

    category: str | None
    subject: str | None
    summary: str | None
    project: str | None
    confidence: float | None
    importance: int | None
    tags: Sequence[str]
    doubtful: str | None
    private: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A new memory as a caller wants it stored. `None` means: the profile's default."""

    content: str
    category: str | None = None
    subject: str | None = None
    summary: str | None = None
    project: str | None = None
    confidence: float | None = None
    importance: int | None = None
    tags: tuple[str, ...] = ()
    source: Source = field(default_factory=Source)
    doubtful: str | None = None  # why a person should look first; sends it to the inbox
    private: bool = field(default=False, repr=False)  # only its person sees it

    @property
    def private_to(self) -> str | None:
        """The only person who may see it; None: it is shared."""
        return self.source.person if self.private else None

    @classmethod
    def of(cls, content: str, source: Source, **fields: Unpack[DraftFields]) -> "Draft":
        """A draft of the fields that a caller gave."""
        return cls(content=content, source=source, **_with_tuples(fields))


class RevisionFields(TypedDict, total=False):
    """The fields of a memory, besides its text, that a caller may change; a missing one stays."""

    category: str | None
    subject: str | None
    summary: str | None
    project: str | None
    tags: Sequence[str] | None
    add_tags: Sequence[str]
    drop_tags: Sequence[str]
    confidence: float | None
    importance: int | None
    pinned: bool | None
    version: int | None
    private: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A change of a memory; None leaves a field. An empty text removes subject, summary or project."""

    content: str | None = None
    category: str | None = None
    subject: str | None = None
    summary: str | None = None
    project: str | None = None
    tags: tuple[str, ...] | None = None
    add_tags: tuple[str, ...] = ()  # to the current ones, so that concurrent additions are kept
    drop_tags: tuple[str, ...] = ()
    confidence: float | None = None
    importance: int | None = None
    pinned: bool | None = None
    version: int | None = None  # the number of an earlier wording to go back to
    private: bool | None = None

    @classmethod
    def of(cls, content: str | None, **fields: Unpack[RevisionFields]) -> "Revision":
        """A revision of the fields that a caller gave."""
        return cls(content=content, **_with_tuples(fields))

    @property
    def empty(self) -> bool:
        return self == Revision()


def _with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as a frozen value holds them: tags in whatever sequence they came."""
    tags = {name: fields[name] for name in ("tags", "add_tags", "drop_tags") if fields.get(name) is not None}
    return {**fields, **{name: tuple(given) for name, given in tags.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing worth knowing later, in its current version."""

    id: str
    space: str
    category: str
    subject: str | None = None  # the service, person or file it is about; None = general
    content: str
    version: int = 1
    created_at: datetime
    updated_at: datetime
    confidence: float = 0.7
    importance: int = 3
    tags: tuple[str, ...] = ()
    state: State = "active"
    source: Source = field(default_factory=Source)
    project: str | None = None
    summary: str | None = None  # one line for indexes
    pinned: bool = False
    waiting_for: str | None = None  # what a person has to decide, while it waits
    confirmed_at: datetime  # what decay counts from
    decayed_weeks: int = 0  # weeks since then that decay has already taken off
    accessed_at: datetime | None = None
    accesses: int = 0
    private: bool = False  # only its person sees it
    #: The active memory that leads in its place. Not stored: found by links, where memories are shown.
    superseded_by: str | None = field(default=None, compare=False)

    @classmethod
    def of(cls, draft: Draft, now: datetime, *, memory_id: str, space: str, state: State) -> "Memory":
        """A checked draft as a new memory, known to hold from now on."""
        said: dict[str, Any] = {each.name: getattr(draft, each.name) for each in fields(draft)}
        del said["doubtful"]
        times: dict[str, Any] = dict.fromkeys(("created_at", "updated_at", "confirmed_at"), now)
        return cls(id=memory_id, space=space, state=state, **said, **times)

    @property
    def active(self) -> bool:
        return self.state == "active"

    @property
    def private_to(self) -> str | None:
        """The only person who may see it; None: it is shared."""
        return self.source.person if self.private else None

    @property
    def redacted(self) -> tuple[str, ...]:
        """The kinds of secrets that were taken out of it before it was stored."""
        from holdfast.domain.secrets import marks_in

        return tuple(marks_in(self.content, self.subject, self.summary, *self.tags))

    def worded(self, content: str, *, summary: str | None, now: datetime) -> "Memory":
        """The same memory in its next wording."""
        return replace(self, content=content, summary=summary, version=self.version + 1, updated_at=now)

    def as_in(self, other: "Draft | Memory", now: datetime) -> "Memory":
        """The same memory with the labels of another; in its wording too, if that is another one."""
        labels = ("category", "subject", "project", "tags", "importance")
        after = replace(self, **{name: getattr(other, name) for name in labels})
        if (other.content, other.summary) == (self.content, self.summary):
            return after
        return after.worded(other.content, summary=other.summary, now=now)

    def confirmed(self, now: datetime) -> "Memory":
        """The same memory, known to hold at `now`: decay starts anew."""
        return replace(self, updated_at=now, confirmed_at=now, decayed_weeks=0)

    def unconfirmed_for(self, now: datetime) -> timedelta:
        """The time since the last confirmation."""
        return now - self.confirmed_at

    def last_used(self, shown: datetime | None = None) -> datetime:
        """The time of the last recall, use in a prompt (`shown`) or confirmation; else of its creation."""
        moments = (self.created_at, self.confirmed_at, self.accessed_at, shown)
        return max(moment for moment in moments if moment is not None)


class MemoryText(NamedTuple):
    """The part of a memory that a draft is compared with."""

    id: str
    category: str
    subject: str | None
    project: str | None
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One text of a memory; versions are only ever added."""

    memory: str
    number: int
    content: str
    summary: str | None
    source: Source
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """A wording that was taken for a repetition of a memory; it can be split off again."""

    memory: str
    number: int
    content: str
    category: str
    subject: str | None = None
    project: str | None = None
    source: Source
    created_at: datetime

    @property
    def note(self) -> str:
        """The journal's note for a change of confidence with this version."""
        return f"wording {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link between two memories of the same space."""

    from_id: str
    to_id: str
    kind: LinkKind
    session: str | None = None
    created_at: datetime


class SessionFields(TypedDict, total=False):
    """The optional fields of a session."""

    name: str | None
    client: str | None
    directory: str | None
    project: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A run of an agent."""

    id: str
    space: str
    name: str | None = None
    client: str | None = None
    directory: str | None = None
    project: str | None = None
    tier: int | None = None
    started_at: datetime
    ended_at: datetime | None = None
    exit_code: int | None = None
    usage: Mapping[str, Any] | None = None  # tokens and cost, as the agent reports them
    person: str | None = None  # whose it is, if the token that opened it says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of a session."""

    id: str
    session: str
    number: int
    role: str
    speaker: str | None
    content: str | None  # None after it was erased
    said_at: datetime
    off_record: bool = False  # kept for the session's story alone

    @property
    def redacted(self) -> tuple[str, ...]:
        """The kinds of secrets that were taken out of it before it was stored."""
        from holdfast.domain.secrets import marks_in

        return tuple(marks_in(self.content))

    @property
    def findable(self) -> bool:
        """Whether recall may quote it: by people and agents on the record, not by tools and systems."""
        spoken = self.role in ("user", "assistant") or self.speaker is not None
        said = spoken and self.role not in ("tool", "system") and not self.off_record
        return said and bool(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The characters of a message that a memory was taken from; kept after the memory is erased."""

    message: str
    memory: str
    begins: int = 0
    ends: int | None = None  # None: the whole message
    reworded: bool = False  # found later by its meaning, not the source itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A value that may not come back. After an erase only the keyed hash is left."""

    hash: str
    reason: Literal["forgotten", "rejected", "erased", "undone"]
    memory: str | None
    category: str | None
    subject: str | None
    content: str | None
    created_at: datetime

    @property
    def says(self) -> str:
        """The action and its time, as the predicate of a sentence."""
        how = {"forgotten": "deleted", "undone": "undone with its session"}.get(self.reason, self.reason)
        return f"was {how} on {self.created_at.date().isoformat()}"
