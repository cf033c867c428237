"""What a person needs to decide about the inbox: what waits, where it came from, and what it stands beside.

Looks and changes nothing; the decision is `inbox`'s.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.domain.memory import LinkKind, Memory, Message, Session
from holdfast.domain.query import Filter, MemoryCursor
from holdfast.engine.memory_search import search
from holdfast.engine.merge import proposal_of
from holdfast.engine.ports import Transaction
from holdfast.engine.query_prepare import PreparedQuery, ask
from holdfast.engine.space_context import SpaceContext, existing
from holdfast.errors import Invalid
from holdfast.language.consolidation import Proposal

MOST_BESIDE = 3
_ASKED = 1_000  # characters of a waiting text that are searched with
_WAITING = Filter(states=("waiting",))


@dataclass(frozen=True, slots=True)
class Beside:
    """A known memory, and how the waiting one stands to it; `near`: nobody linked them, it only is alike."""

    memory: Memory
    how: LinkKind | Literal["near"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiter:
    """A waiting memory with what is to be known about it."""

    memory: Memory
    session: Session | None
    message: Message | None  # that it was taken from
    beside: tuple[Beside, ...]  # what it would change first, then what is nearest
    proposal: Proposal | None  # what it would make one; none, when it is an ordinary memory


@dataclass(frozen=True, slots=True)
class Pile:
    """Some of what waits, oldest first, and how much there is."""

    waiters: tuple[Waiter, ...]
    total: int
    more: bool  # whether others follow these


def review(*, ctx: SpaceContext, limit: int = 20, after: MemoryCursor | None = None) -> Pile:
    """What waits, oldest first, from where the last look ended.

    Raises: Invalid.
    """
    if not 1 <= limit <= 200:
        raise Invalid(f"limit must be 1 to 200, not {limit}", field="limit")
    with ctx.store.read(ctx.space) as tx:
        found = tx.memories.find(_WAITING, order="created", limit=limit + 1, after=after)
        total = tx.memories.count(_WAITING)
    waiting = found[:limit]
    asked = _asked(waiting, ctx)
    with ctx.store.read(ctx.space) as tx:
        pairs = zip(waiting, asked, strict=True)
        return Pile(tuple(_waiter(*pair, tx) for pair in pairs), total, more=len(found) > limit)


def stakes(memory_ids: Sequence[str], *, ctx: SpaceContext) -> list[Waiter]:
    """The same about these memories, with what a decision would change alone: nothing near is looked for.

    Raises: NotFound.
    """
    with ctx.store.read(ctx.space) as tx:
        return [_waiter(existing(tx, memory_id), None, tx) for memory_id in memory_ids]


def _asked(waiting: Sequence[Memory], ctx: SpaceContext) -> Sequence[PreparedQuery]:
    if not waiting:
        return []
    texts = [memory.content[:_ASKED] for memory in waiting]
    return ask(texts, ctx=ctx, asked_at=ctx.now(), messages=False)


def _waiter(memory: Memory, asked: PreparedQuery | None, tx: Transaction) -> Waiter:
    source = memory.source
    linked = _linked(memory, tx)
    near = _near(memory, asked, {one.memory.id for one in linked}, tx) if asked is not None else []
    return Waiter(
        memory=memory,
        session=tx.sessions.get(source.session) if source.session else None,
        message=tx.sessions.message(source.message) if source.message else None,
        beside=tuple((linked + near)[: max(MOST_BESIDE, len(linked))]),
        proposal=proposal_of(memory, tx),
    )


def _near(memory: Memory, asked: PreparedQuery, known: Collection[str], tx: Transaction) -> list[Beside]:
    where = Filter(project=memory.project, other_projects=False)
    alike = [found for found in search(asked, where, tx, MOST_BESIDE) if found.answers()]
    return [Beside(found.memory, "near") for found in alike if found.memory.id not in known]


def _linked(memory: Memory, tx: Transaction) -> list[Beside]:
    """What an approval would change stands first."""
    found = []
    for link in tx.links.of(memory.id):
        other = tx.memories.get(link.to_id) if link.from_id == memory.id else None
        if other is not None and other.state != "forgotten":
            found.append(Beside(other, link.kind))
    order = ("supersedes", "contradicts", "elaborates", "related")
    return sorted(found, key=lambda one: order.index(one.how))
