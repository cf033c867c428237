"""find, show and why: lists of memories, one memory in full, and its history."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.domain.memory import Link, Memory, Message, Version
from holdfast.domain.query import Filter, Group, MemoryCursor, Order, admits, in_order, newer_first
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext, existing
from holdfast.engine.supersession import mark, mark_past
from holdfast.errors import Conflict, Invalid, NotFound

if TYPE_CHECKING:
    from holdfast.domain.history import Story

MOST = 10_000  # memories in one page
_FARTHEST = 2**62
_LEAST_OF_ID = 4  # characters by which a memory is found
_NAMED = 3  # ids in an error


@dataclass(frozen=True, slots=True)
class Page:
    """Some memories in order, and the total number."""

    memories: tuple[Memory, ...]
    total: int
    more: bool = False  # whether there are more: counting was stopped

    @property
    def shown(self) -> list[Memory]:
        """The memories as people and agents see them: superseded ones directly below their successors."""
        return newer_first(self.memories)


@dataclass(frozen=True, slots=True)
class Details:
    """One memory with its versions and links."""

    memory: Memory
    versions: tuple[Version, ...]
    links: tuple[Link, ...]


_PAGE = 200


def find(
    where: Filter,
    *,
    ctx: SpaceContext,
    order: Order = "category",
    group: Group | None = None,
    limit: int | None = None,
    offset: int = 0,
    after: MemoryCursor | None = None,
    as_of: datetime | None = None,
    exact: bool = True,
) -> Page:
    """The memories that match `where`, now or as of a past moment.

    A page starts after the cursor `after`, which only works for the present; its cost doesn't grow with its
    place. Unless `exact`, a total that no index has is counted up to 10,000.
    """
    if (limit is not None and limit < 0) or not 0 <= offset <= _FARTHEST:
        raise Invalid("limit and offset must be 0 or more, and not too large", field="limit")
    labels = (where.category, where.subject, where.project, where.session, where.person)
    if any(text is not None and "\0" in text for text in (*labels, where.text, *where.tags)):
        raise Invalid("a filter contains a NUL character", field="filter")
    limit = MOST if limit is None else min(limit, MOST)
    with ctx.read() as tx:
        if as_of is None:
            among, many = _sought(where, tx)
            found = tx.memories.find(
                where if among is None else replace(where, text=None, tags=()),
                order=order, group=group, limit=limit, offset=offset, after=after, among=among,
            )  # fmt: skip
            found = mark(found, tx)
            if among is not None:
                return Page(tuple(found), len(among))
            if many and not exact:
                return Page(tuple(found), MOST, more=True)
            whole = after is None and not offset and len(found) < limit
            return Page(tuple(found), len(found) if whole else tx.memories.count(where))
        then = mark_past(believed_at(as_of, tx), as_of, tx)
        past = in_order([memory for memory in then if admits(where, memory)], order, group)
        return Page(tuple(past[offset : offset + limit]), len(past))


def _sought(where: Filter, tx: Transaction) -> tuple[list[str] | None, bool]:
    """The ids of all matches if no index has them; and whether there are too many for that.

    One scan then gives both the page and the total. Of very many, the first are found soon in any order.
    """
    if not (where.text or where.tags or where.origin or where.person):
        return None, False
    found = tx.memories.matching(where, MOST + 1)
    return (found, False) if len(found) <= MOST else (None, True)


def linked(memory_id: str, *, ctx: SpaceContext) -> list[tuple[Link, Memory]]:
    """The links of a memory, each with the linked memory."""
    with ctx.read() as tx:
        links = tx.links.of(memory_id)
        others = [link.to_id if link.from_id == memory_id else link.from_id for link in links]
        found = {memory.id: memory for memory in mark(tx.memories.many(list(dict.fromkeys(others))), tx)}
        return [(link, found[other]) for link, other in zip(links, others, strict=True) if other in found]


def find_memory(words: str, *, ctx: SpaceContext) -> str:
    """The id that is given, or the one that begins so; as it is given where there is none.

    Raises: Conflict, if several begin so; Invalid, if too little of the one is given.
    """
    with ctx.read() as tx:
        if not words.isprintable() or not words or tx.memories.get(words) is not None:
            return words
        found = tx.memories.beginning(words, _NAMED + 1)
    if not found:
        return words
    if len(words) < _LEAST_OF_ID:
        raise Invalid(f"{words!r} is too short for an id: give its first {_LEAST_OF_ID} characters or more")
    if len(found) > 1:
        more = " and more" if len(found) > _NAMED else ""
        raise Conflict(
            f"several ids begin with {words!r}: {', '.join(found[:_NAMED])}{more}; give more of one"
        )
    return found[0]


def show(memory_id: str, *, ctx: SpaceContext) -> Details:
    """Raises: NotFound."""
    with ctx.read() as tx:
        [memory] = mark([existing(tx, memory_id, forgotten=True)], tx)
        return Details(memory, tuple(tx.versions.of(memory_id)), tuple(tx.links.of(memory_id)))


def why(memory_id: str, *, ctx: SpaceContext, to_agent: bool = False) -> "Story":
    """Where a memory comes from, how its confidence changed, and which prompts contained it.

    A person sees everything, an agent only memories in use, and what may be quoted.
    Raises: NotFound.
    """
    from holdfast.domain.history import Story

    with ctx.read() as tx:
        [memory] = mark([existing(tx, memory_id, forgotten=not to_agent)], tx)
        if to_agent and not memory.active:
            raise NotFound(f"memory {memory_id} is {memory.state}: only a person can view it")
        versions = tx.versions.of(memory_id)
        messages = _sources(versions, tx)
        if to_agent:
            quotations = engine.quote_rules.Quotations(ctx.profile.policy, tx)
            messages = list(filter(None, map(quotations.of, messages)))
        return Story(
            memory=memory,
            versions=tuple(versions),
            entries=tuple(tx.journal.of(memory_id)),
            links=tuple(tx.links.of(memory_id)),
            session=tx.sessions.get(memory.source.session) if memory.source.session else None,
            messages=tuple(messages),
            uses=tuple(tx.receipts.uses(memory_id)),
            repetitions=tuple(tx.repetitions.of(memory_id)),
        )


def believed_at(moment: datetime, tx: Transaction) -> list[Memory]:
    """All memories as they were at `moment`, except those that were erased since."""
    from holdfast.domain.history import recollected

    past = []
    for entry in tx.journal.latest_before(moment):
        memory = tx.memories.get(entry.memory or "")
        if memory is None or entry.after is None:
            continue
        then = replace(memory, **recollected(entry.after))
        wording = tx.versions.get(memory.id, then.version)
        if wording is not None:
            past.append(replace(then, content=wording.content, summary=wording.summary))
    return past


def _sources(versions: Sequence[Version], tx: Transaction) -> list[Message]:
    ids = dict.fromkeys(version.source.message for version in versions if version.source.message)
    return tx.sessions.messages_by_id(list(ids))


def memory_pages(ctx: SpaceContext, where: Filter) -> Iterator[Sequence[Memory]]:
    """The matches in pages, oldest first. After a full last page comes an empty one."""
    after: MemoryCursor | None = None
    while True:
        with ctx.read() as tx:
            page = tx.memories.find(where, order="created", limit=_PAGE, after=after)
        yield page
        if len(page) < _PAGE:
            return
        after = MemoryCursor.of(page[-1])
