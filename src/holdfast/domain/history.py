"""The history of a memory: journal entries, receipts, and the story made from them."""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

from holdfast.domain.memory import Link, Memory, Message, Origin, Repetition, Session, Version

Action = Literal[
    "added",
    "reinforced",
    "contradicted",
    "merged",
    "revised",
    "decayed",
    "forgotten",
    "restored",
    "erased",
    "waiting",
    "approved",
    "rejected",
    "linked",
    "unlinked",
    "imported",
    "undone",
    "purged",
    "archived",
    "split",
    "renamed",
    "synced",
]

#: The fields of a memory in the journal. The texts are in its versions.
REMEMBERED = (
    "category",
    "subject",
    "project",
    "tags",
    "confidence",
    "importance",
    "state",
    "waiting_for",
    "pinned",
    "version",
    "updated_at",
    "confirmed_at",
    "decayed_weeks",
)

#: Those of them that are times.
REMEMBERED_TIMES = ("updated_at", "confirmed_at")

LEFT_OPEN: Final = "not judged beside "  # in `judged`, before ids: the upkeep judges them
_TOLD_APART = re.compile(r"(?:distinct from|contradicts|nearly the same as) (\w+) \(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change of a memory."""

    seq: int
    action: Action
    memory: str | None
    origin: Origin
    session: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    note: str | None
    judged: str | None = None  # which model judged, what and how surely
    person: str | None = None  # who did it, beside the origin
    created_at: datetime

    @property
    def left_open(self) -> list[str]:
        """The memories that no model compared it with."""
        return [one for one in (self.judged or "").partition(LEFT_OPEN)[2].split(", ") if one]

    @property
    def told_apart(self) -> list[str]:
        """The memories that an added one does not repeat."""
        return _TOLD_APART.findall(self.judged or "") if self.action == "added" else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of a memory in a prompt."""

    receipt: str
    kind: str
    session: str | None
    query: str | None
    version: int
    score: float | None
    parts: dict[str, float] | None
    unhelpful_at: datetime | None = None  # when somebody said that it did not help with this prompt
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A record that a brief or a recall showed a memory in a session, and why."""

    id: str
    kind: Literal["brief", "recall"]
    session: str | None
    query: str | None
    text: str | None
    sha256: str
    tokens: int
    left_out: int
    created_at: datetime
    items: tuple["ReceiptItem", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptItem:
    """A memory or message of a receipt, with its score."""

    memory: str | None = None
    version: int | None = None  # of the memory
    message: str | None = None
    score: float | None = None
    parts: dict[str, float] | None = None
    unhelpful_at: datetime | None = None  # when somebody said that it did not help with this prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """The source of a memory, the changes of its confidence, and its uses."""

    memory: Memory
    versions: tuple[Version, ...]
    entries: tuple[Entry, ...]
    links: tuple[Link, ...]
    session: Session | None
    messages: tuple[Message, ...]
    uses: tuple[Use, ...] = field(default=())
    repetitions: tuple[Repetition, ...] = ()


def remembered(memory: Memory) -> dict[str, Any]:
    """The journal's copy of `memory`, as JSON values."""
    kept: dict[str, Any] = {}
    for name in REMEMBERED:
        value = getattr(memory, name)
        if isinstance(value, datetime):
            value = value.isoformat()
        kept[name] = list(value) if isinstance(value, tuple) else value
    return kept | ({"private": True} if memory.private else {})


def recollected(kept: dict[str, Any]) -> dict[str, Any]:
    """The inverse: field values as a memory has them."""
    values = {name: kept[name] for name in REMEMBERED if name in kept}
    for name in REMEMBERED_TIMES:
        values[name] = datetime.fromisoformat(values[name])
    values["tags"] = tuple(values["tags"])
    values["private"] = kept.get("private", False)
    return values


def without_confirmation(memory: Memory, before: dict[str, Any], after: dict[str, Any]) -> Memory | None:
    """The memory without the confirmation between `before` and `after`; None if a later one counts."""
    if recollected(after)["confirmed_at"] != memory.confirmed_at:
        return None
    was = recollected(before)
    return replace(memory, **{name: was[name] for name in ("updated_at", "confirmed_at", "decayed_weeks")})
