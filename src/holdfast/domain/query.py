"""Queries: filters, orders and cursors, as data for the store, and the same rules in Python."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypedDict, TypeVar

from holdfast.domain.memory import Link, Memory, Message, Origin, State
from holdfast.domain.subjects import same_subject

Order = Literal["category", "recent", "confidence", "created"]
Group = Literal["subject", "category"]  # memories are grouped by this before the order applies


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Every given part must hold; what is left empty does not matter."""

    states: tuple[State, ...] = ("active",)
    category: str | None = None
    subject: str | None = None
    general: bool = False  # only memories without a subject
    tags: tuple[str, ...] = ()  # all of them
    project: str | None = None
    other_projects: bool = True  # false: only `project`'s memories and those of none
    origin: Origin | None = None
    person: str | None = None  # who wrote it
    session: str | None = None
    least_confidence: float | None = None
    importance: int | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    changed_after: datetime | None = None  # worded or confirmed then or later
    text: str | None = None  # each of its words is in the text or a label, also as part of a word
    proposals: bool = True  # false: not what upkeep proposes to make one, in words of memories that are there


UPKEEP: Final = "tend"  # the client of the sessions that upkeep records


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """The same for sessions."""

    words: str | None = None  # a part of its name; of its first prompt if it has no name
    client: str | None = None
    project: str | None = None
    tier: int | None = None
    failed: bool = False  # only those that ended with an exit code
    upkeep: bool = True  # also those of upkeep: proposals and decay
    since: datetime | None = None
    before: datetime | None = None


EVERY_SESSION = SessionFilter()


class QueryFields(TypedDict, total=False):
    """The optional fields of a query; a missing one has the default of `Query`."""

    limit: int
    threshold: float | None
    where: Filter | None
    project: str | None
    as_of: datetime | None
    asked_at: datetime | None
    messages: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query."""

    text: str
    limit: int = 5
    threshold: float | None = None  # takes the place of the calibrated floors
    where: Filter | None = None  # None: of `project` and of none
    project: str | None = None  # None: the session's
    as_of: datetime | None = None  # the state at that time; None: now
    asked_at: datetime | None = None  # the time that "last week" refers to; None: now
    messages: bool = True  # false: memories alone
    session: str | None = None  # the session that asks: its own messages are left out


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCursor:
    """The last memory of a page, with its sort keys, so that it stays valid when that memory is deleted."""

    id: str
    category: str
    subject: str | None
    confidence: float
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, memory: Memory) -> "MemoryCursor":
        return cls(
            id=memory.id,
            category=memory.category,
            subject=memory.subject,
            confidence=memory.confidence,
            created_at=memory.created_at,
            updated_at=memory.updated_at,
        )


@dataclass(frozen=True, slots=True)
class TimeCursor:
    """The last item of a page of a list by time, latest first."""

    at: datetime
    id: str


class ListFields(TypedDict, total=False):
    """Which part of a list of memories is shown, and how."""

    order: Order
    group: Group | None
    limit: int | None
    offset: int
    after: MemoryCursor | None  # where the last page ended
    as_of: datetime | None  # the state at that time; None: now
    exact: bool  # false: a total that would take long to count may be 10,000 and `more`


class EventFields(TypedDict, total=False):
    """Filters of events; None: any."""

    level: str | None
    service: str | None
    session: str | None
    since: datetime | None
    before: datetime | None
    limit: int | None
    offset: int
    after: TimeCursor | None  # where the last page ended


EVERYTHING = Filter(states=("active", "inactive", "waiting", "forgotten"))


Item = TypeVar("Item")


def admits(where: Filter, memory: Memory) -> bool:
    """The filter in Python, for memories at a past time; the store has it in SQL."""
    exact = (
        (where.category, memory.category),
        (where.origin, memory.source.origin),
        (where.person, memory.source.person),
        (where.session, memory.source.session),
        (where.importance, memory.importance),
    )
    if memory.state not in where.states or any(asked not in (None, has) for asked, has in exact):
        return False
    if where.subject is not None and not same_subject(where.subject, memory.subject):
        return False
    if where.general and memory.subject is not None:
        return False
    if not where.other_projects:
        in_project = memory.project in (None, where.project)
    else:
        in_project = where.project in (None, memory.project)
    return (
        in_project
        and set(where.tags) <= set(memory.tags)
        and (where.least_confidence is None or memory.confidence >= where.least_confidence)
        and (where.created_after is None or memory.created_at >= where.created_after)
        and (where.created_before is None or memory.created_at < where.created_before)
        and (where.changed_after is None or memory.updated_at >= where.changed_after)
        and (where.text is None or _says(memory, where.text))
    )


def _says(memory: Memory, text: str) -> bool:
    return says((memory.content, memory.subject, memory.summary, *memory.tags), text)


def says(parts: Iterable[str | None], text: str) -> bool:
    """Whether each word of `text` is in one of the parts, ignoring case."""
    whole = "\n".join(part for part in parts if part).casefold()
    return all(word in whole for word in text.casefold().split())


def of_memories_only(where: Filter) -> bool:
    """Whether `where` asks for what only memories have, so that no message can be meant."""
    asked = (
        where.category, where.subject, where.origin, where.person, where.least_confidence, where.importance,
        where.text,
    )  # fmt: skip
    return where.general or bool(where.tags) or "active" not in where.states or asked != (None,) * len(asked)


def admits_message(where: Filter, message: Message, project: str | None) -> bool:
    """Of a filter the parts that messages have: session, its project, and time."""
    if where.other_projects:
        in_project = where.project in (None, project)
    else:
        in_project = project in (None, where.project)
    return (
        in_project
        and where.session in (None, message.session)
        and (where.created_after is None or message.said_at >= where.created_after)
        and (where.created_before is None or message.said_at < where.created_before)
    )


def in_order(memories: Iterable[Memory], order: Order, group: Group | None = None) -> list[Memory]:
    """Sorts as the store does; memories without a subject come first."""
    match group:
        case "subject":
            return sorted(in_order(memories, order), key=lambda memory: memory.subject or "")
        case "category":
            return sorted(in_order(memories, order), key=lambda memory: memory.category)
    found = sorted(memories, key=lambda memory: memory.id)
    match order:
        case "category":
            return sorted(found, key=lambda memory: (memory.category, memory.created_at))
        case "created":
            return sorted(found, key=lambda memory: memory.created_at)
        case "recent":
            return sorted(found, key=lambda memory: (memory.updated_at, memory.created_at), reverse=True)
        case "confidence":
            return sorted(found, key=lambda memory: (-memory.confidence, memory.created_at))


def successors(links: Iterable[Link]) -> dict[str, str]:
    """The latest successor of each superseded memory, by `supersedes` links, oldest first."""
    latest = {frozenset((link.from_id, link.to_id)): link for link in links}
    ordered = sorted(latest.values(), key=lambda link: (link.created_at, link.from_id, link.to_id))
    return {link.to_id: link.from_id for link in ordered}


def successors_first(
    items: Sequence[Item],
    superseded: Mapping[str, str],
    owner: Callable[[Item], str],
    beside: Callable[[Item, Item], bool] = lambda older, newer: True,
) -> list[Item]:
    """The items, but each successor directly above the first that it supersedes, if `beside` allows."""
    if not superseded:
        return list(items)
    found = {owner(item): item for item in items}
    placed: dict[str, Item] = {}
    for item in items:
        chain = {owner(item): item}
        older = item
        while (newer := found.get(superseded.get(owner(older), ""))) is not None:
            if owner(newer) in placed or owner(newer) in chain or not beside(older, newer):
                break
            chain[owner(newer)] = older = newer
        for name, one in reversed(chain.items()):
            placed.setdefault(name, one)
    return list(placed.values())


def newer_first(memories: Sequence[Memory]) -> list[Memory]:
    """A list with each superseded memory below the one that leads in its place."""
    superseded = {memory.id: memory.superseded_by for memory in memories if memory.superseded_by}
    return successors_first(memories, superseded, lambda memory: memory.id)
