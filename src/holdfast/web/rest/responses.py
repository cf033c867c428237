"""What callers get, field by field: the shapes of `holdfast.wire.as_json` as the OpenAPI document shows them.

Routes answer with plain values; a test holds every answer against these.
"""
# budget: a list of shapes; a reader looks for one here and nowhere else.

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from holdfast.domain.memory import LinkKind, Origin, State


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """An error (RFC 9457), with the field at fault and the allowed values."""

    title: str
    status: int
    detail: str
    field: str | None = None


class Memory(Answer):
    id: str
    category: str
    subject: str | None
    content: str
    version: int
    created_at: str
    updated_at: str
    confidence: float
    importance: int
    tags: list[str]
    state: State
    origin: Origin
    session: str | None
    message: str | None
    tier: int | None
    project: str | None
    summary: str | None
    pinned: bool
    waiting_for: str | None
    confirmed_at: str
    accessed_at: str | None
    accesses: int
    redacted: list[str]  # the kinds of secrets that were taken out of it before it was stored
    superseded_by: str | None


class MemoryPage(Answer):
    memories: list[Memory]
    total: int
    next: str | None


class Version(Answer):
    version: int
    content: str
    summary: str | None
    origin: Origin
    session: str | None
    message: str | None
    tier: int | None
    created_at: str


class Link(Answer):
    model_config = ConfigDict(extra="allow")  # `from` is no name in Python

    to: str
    kind: LinkKind
    session: str | None
    created_at: str


class Details(Memory):
    versions: list[Version]
    links: list[Link]


class Created(Memory):
    """The stored memory; `outcome` tells how it was stored."""

    model_config = ConfigDict(extra="allow")

    outcome: Literal["added", "reinforced", "merged", "contradicting", "waiting"]


class Changed(Memory):
    old_content: str
    new_content: str
    previous: Memory


class Deleted(Memory):
    deleted: bool
    restorable: bool


class Deletion(Answer):
    """An earlier deletion of the same text; if `restorable`, the memory can be restored."""

    reason: Literal["forgotten", "rejected", "erased", "undone"]
    at: str
    restorable: bool


class Known(Problem):
    """The known memory: update it instead."""

    outcome: Literal["update_suggested", "refused"] | None = None
    relation: Literal["same", "contradicts"] | None = None
    id: str | None = None
    content: str | None = None
    memory: Memory | None = None
    deleted: Deletion | None = None  # of a refusal: what is said was deleted before


class Versions(Answer):
    versions: list[Version]


class Session(Answer):
    id: str
    name: str | None
    client: str | None
    directory: str | None
    project: str | None
    tier: int | None
    started_at: str
    ended_at: str | None
    exit_code: int | None
    usage: dict[str, Any] | None


class Message(Answer):
    id: str
    session: str
    number: int
    role: str
    speaker: str | None
    content: str | None
    said_at: str
    redacted: list[str]


class Hit(Answer):
    """A memory with its source message, or a message with its session, according to `kind`."""

    kind: Literal["memory", "message"]
    memory: Memory | None = None
    cites: Message | None = None
    message: Message | None = None
    session: Session | None = None
    score: float
    parts: dict[str, float]
    evidence: dict[str, float]
    matched: Literal["meaning", "text"]


class Recall(Answer):
    hits: list[Hit]
    below: int
    matched: Literal["meaning", "text"]
    other_projects: int


class Context(Answer):
    text: str
    sha256: str
    tokens: int
    hits: list[Hit]
    left_out: int


class Brief(Answer):
    text: str
    sha256: str
    tokens: int
    included: list[str]
    left_out: int
    frozen: bool


class Delta(Answer):
    text: str


class Entry(Answer):
    seq: int
    action: str
    origin: Origin
    session: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    note: str | None
    judged: str | None = None
    created_at: str


class Use(Answer):
    receipt: str
    kind: str
    session: str | None
    query: str | None
    version: int | None
    score: float | None
    parts: dict[str, float] | None
    created_at: str


class Repetition(Answer):
    number: int
    content: str
    category: str
    subject: str | None
    project: str | None
    origin: Origin
    session: str | None
    message: str | None
    tier: int | None
    created_at: str


class Split(Answer):
    """The new memory, and the one it was split from, now and before."""

    memory: Memory
    original: Memory
    previous: Memory


class Story(Answer):
    memory: Memory
    versions: list[Version]
    entries: list[Entry]
    links: list[Link]
    session: Session | None
    messages: list[Message]
    uses: list[Use]
    repetitions: list[Repetition]


class SessionPage(Answer):
    sessions: list[Session]
    next: str | None


class Conversation(Session):
    messages: int


class MessagePage(Answer):
    messages: list[Message]
    next: str | None


class Kept(Answer):
    """The new messages and how many they are; all are on disk."""

    session: str
    received: int
    new: int
    messages: list[Message]


class Undone(Answer):
    removed: list[Memory]
    changed: list[Memory]
    kept: list[Memory]
    links: int


class Waiting(Answer):
    memory: Memory
    reason: str | None
    known: list[Memory]


class Inbox(Answer):
    waiting: list[Waiting]
    total: int


class Decided(Answer):
    memories: list[Memory]


class Linked(Answer):
    linked: bool


class Unlinked(Answer):
    removed: int


class Erasure(Answer):
    memories: list[str]
    versions: int
    links: int
    messages: int
    receipts: int
    left: list[str]


class Event(Answer):
    id: str
    level: str
    service: str | None
    content: str
    session: str | None
    created_at: str


class EventPage(Answer):
    events: list[Event]
    next: str | None


class Attempt(Answer):
    id: str
    succeeded: bool
    content: str | None
    session: str | None
    created_at: str


class Standing(Answer):
    service: str
    action: str
    most: int
    hours: float
    allowed: bool
    free_at: str | None
    attempts: list[Attempt]


class Standings(Answer):
    cooldowns: list[Standing]


class Job(Answer):
    id: str
    kind: str
    state: Literal["queued", "running", "done", "failed"]
    attempts: int
    error: str | None
    due_at: str
    created_at: str


class Jobs(Answer):
    jobs: list[Job]


class Spent(Answer):
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    dollars: float
    calls_without_price: int


class SpentBy(Spent):
    name: str | None


class Spend(Answer):
    by: Literal["purpose", "model", "day", "session"]
    groups: list[SpentBy]
    total: Spent
    today: Spent
    daily_cap: float | None
    session_cap: float | None
    stopped: str | None


class Space(Answer):
    name: str
    profile: str
    keeps_messages: bool
    active: int
    inactive: int
    waiting: int
    forgotten: int
    sessions: int
    created_at: str


class Spaces(Answer):
    spaces: list[Space]
    total: int


class Imported(Answer):
    added: int
    known: int
    different: list[str]
    buried: list[str]


class Told(Answer):
    model_config = ConfigDict(extra="allow")

    line: int
    outcome: str
    memory: Memory | None


class ImportReport(Answer):
    archives: list[Imported]
    drafts: list[Told]


class Archived(Answer):
    memory: Memory
    reason: str


class Tended(Answer):
    decayed: list[Memory]
    deactivated: int
    archived: list[Archived]
    proposed: list[Memory]
    embedded: int
    trouble: str | None
    clock_doubt: str | None
    session: str | None


class Proposed(Answer):
    """Two memories that could be merged: `kept` would get the text `content`, `dropped` would be removed."""

    kept: Memory
    dropped: Memory
    content: str
    reason: str


class TendPreview(Answer):
    decayed: list[Memory]
    deactivated: int
    archived: list[Archived]
    proposed: list[Proposed]
    clock_doubt: str | None


class Finding(Answer):
    """One kind of junk; `count` counts pairs for duplicates and contradictions."""

    kind: Literal["duplicates", "undated", "secrets", "contradictions", "never_used", "other_model"]
    count: int
    ids: list[str]
    pairs: list[tuple[str, str]]
    says: str
    advice: str


class Audit(Answer):
    memories: int
    clean: bool
    findings: list[Finding]


class Token(Answer):
    id: str
    name: str | None
    scopes: list[str]
    spaces: list[str] | None
    created_at: str
    revoked_at: str | None
    used_at: str | None


class Tokens(Answer):
    tokens: list[Token]


class Secret(Token):
    """A new token with its secret, which is shown only once."""

    token: str
