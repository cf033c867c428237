"""The inbox: what waits for review, with its source and related memories; approve and reject."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from holdfast.domain.confidence import believed
from holdfast.domain.memory import LinkKind, Memory, Message, Session, Source
from holdfast.domain.query import Filter, MemoryCursor
from holdfast.engine import changes
from holdfast.engine.consolidate import keep_apart, merge, proposal_of
from holdfast.engine.forget import bury, unbury
from holdfast.engine.memory_search import search
from holdfast.engine.ports import Transaction
from holdfast.engine.query_prepare import PreparedQuery, ask
from holdfast.engine.remember import weaken
from holdfast.engine.space_context import SpaceContext, existing, of_that_name
from holdfast.errors import Conflict, Invalid
from holdfast.language.consolidation import Proposal


@dataclass(frozen=True, slots=True)
class Item:
    """A waiting memory, and the known ones that it contradicts or would replace."""

    memory: Memory
    known: tuple[Memory, ...]

    @property
    def reason(self) -> str | None:
        return self.memory.waiting_for


MOST_BESIDE = 3
_ASKED = 1_000  # characters of a waiting text that are searched with
_WAITING = Filter(states=("waiting",))


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """A known memory, and its relation to the waiting one; `near`: similar, but not linked."""

    memory: Memory
    how: LinkKind | Literal["near"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """A waiting memory with all that a reviewer needs to know."""

    memory: Memory
    session: Session | None
    message: Message | None  # the message that it was taken from
    beside: tuple[RelatedMemory, ...]  # memories that it would change, then the nearest
    proposal: Proposal | None  # None: it is no proposal to merge


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Some of the waiting memories, oldest first, and their total number."""

    waiters: tuple[ReviewItem, ...]
    total: int
    more: bool  # whether others follow these


def inbox(*, ctx: SpaceContext) -> list[Item]:
    """All waiting memories, oldest first."""
    with ctx.read() as tx:
        waiting = tx.memories.find(_WAITING, order="created")
        return [Item(memory, _known(memory, tx)) for memory in waiting]


def approve(memory_ids: Sequence[str], *, ctx: SpaceContext, source: Source) -> list[Memory]:
    """Approves waiting memories: contradicted ones lose confidence, replaced ones get the new wording, and
    proposed merges are made.

    Raises: NotFound, Conflict; then none was approved.
    """
    approved = []
    with ctx.write() as tx:
        now = ctx.now()
        for memory_id in memory_ids:
            waiting = _waiting(memory_id, tx)
            if (proposal := proposal_of(waiting, tx)) is not None:
                approved.append(merge(proposal, waiting, tx, ctx, source, now))
                continue
            unbury(tx, waiting)
            # A memory that got its name meanwhile is replaced, too.
            superseded = _known(waiting, tx, kinds=("supersedes",)) or of_that_name(waiting, tx, ctx)
            if superseded:
                approved.append(_replaced(superseded[0], waiting, tx, ctx, source, now))
            else:
                approved.append(_let_in(waiting, tx, ctx, source, now))
    return approved


def reject(memory_ids: Sequence[str], *, ctx: SpaceContext, source: Source) -> list[Memory]:
    """Rejects waiting memories for good. Of a rejected merge both memories stay.

    Raises: NotFound, Conflict; then none was rejected.
    """
    rejected = []
    with ctx.write() as tx:
        now = ctx.now()
        for memory_id in memory_ids:
            waiting = _waiting(memory_id, tx)
            if proposal_of(waiting, tx) is not None:
                rejected.append(keep_apart(waiting, tx, source, now))
                continue
            bury(tx, waiting, "rejected", now)
            gone = replace(waiting, state="forgotten", waiting_for=None)
            rejected.append(changes.change(tx, waiting, gone, "rejected", source=source, now=now))
    return rejected


def _let_in(waiting: Memory, tx: Transaction, ctx: SpaceContext, source: Source, now: datetime) -> Memory:
    ready = believed(
        replace(waiting, state="active", waiting_for=None), waiting.confidence, ctx.profile.policy
    )
    memory = changes.change(tx, waiting, ready.confirmed(now), "approved", source=source, now=now)
    for old in _known(waiting, tx, kinds=("contradicts",)):
        if old.active:
            weaken(old, memory, tx, ctx, now)
    return memory


def _replaced(
    known: Memory, waiting: Memory, tx: Transaction, ctx: SpaceContext, source: Source, now: datetime
) -> Memory:
    """Applies a proposed replacement to the known memory, and closes the proposal."""
    done = replace(waiting, state="forgotten", waiting_for=None)
    changes.change(tx, waiting, done, "approved", source=source, now=now, note=f"as {known.id}")
    after = believed(known.confirmed(now).as_in(waiting, now), waiting.confidence, ctx.profile.policy)
    note = f"approved {waiting.id}"
    return changes.change(tx, known, after, "revised", source=waiting.source, now=now, note=note)


def _waiting(memory_id: str, tx: Transaction) -> Memory:
    memory = existing(tx, memory_id)
    if memory.state != "waiting":
        raise Conflict(
            f"memory {memory_id} is {memory.state}, not waiting for review",
            command="`holdfast inbox` lists what is waiting for review",
        )
    return memory


def _known(memory: Memory, tx: Transaction, kinds: Sequence[str] | None = None) -> tuple[Memory, ...]:
    return tuple(one.memory for one in _beside(memory, tx) if kinds is None or one.how in kinds)


def review(*, ctx: SpaceContext, limit: int = 20, after: MemoryCursor | None = None) -> ReviewPage:
    """A page of waiting memories, oldest first.

    Raises: Invalid.
    """
    if not 1 <= limit <= 200:
        raise Invalid(f"limit must be 1 to 200, not {limit}", field="limit")
    with ctx.read() as tx:
        found = tx.memories.find(_WAITING, order="created", limit=limit + 1, after=after)
        total = tx.memories.count(_WAITING)
    waiting = found[:limit]
    asked = _asked(waiting, ctx)
    with ctx.read() as tx:
        pairs = zip(waiting, asked, strict=True)
        return ReviewPage(tuple(_waiter(*pair, tx) for pair in pairs), total, more=len(found) > limit)


def review_items(memory_ids: Sequence[str], *, ctx: SpaceContext) -> list[ReviewItem]:
    """These memories as `review` has them, without similar ones that are not linked.

    Raises: NotFound.
    """
    with ctx.read() as tx:
        return [_waiter(existing(tx, memory_id), None, tx) for memory_id in memory_ids]


def _asked(waiting: Sequence[Memory], ctx: SpaceContext) -> Sequence[PreparedQuery]:
    if not waiting:
        return []
    texts = [memory.content[:_ASKED] for memory in waiting]
    return ask(texts, ctx=ctx, asked_at=ctx.now(), messages=False, waits=False)


def _waiter(memory: Memory, asked: PreparedQuery | None, tx: Transaction) -> ReviewItem:
    source = memory.source
    linked = _linked(memory, tx)
    near = _near(memory, asked, {one.memory.id for one in linked}, tx) if asked is not None else []
    return ReviewItem(
        memory=memory,
        session=tx.sessions.get(source.session) if source.session else None,
        message=tx.sessions.message(source.message) if source.message else None,
        beside=tuple((linked + near)[: max(MOST_BESIDE, len(linked))]),
        proposal=proposal_of(memory, tx),
    )


def _near(
    memory: Memory, asked: PreparedQuery, known: Collection[str], tx: Transaction
) -> list[RelatedMemory]:
    where = Filter(project=memory.project, other_projects=False)
    alike = [found for found in search(asked, where, tx, MOST_BESIDE) if found.answers()]
    return [RelatedMemory(found.memory, "near") for found in alike if found.memory.id not in known]


def _linked(memory: Memory, tx: Transaction) -> list[RelatedMemory]:
    """The linked memories; those that an approval would change come first."""
    order = ("supersedes", "contradicts", "elaborates", "related")
    return sorted(_beside(memory, tx), key=lambda one: order.index(one.how))


def _beside(memory: Memory, tx: Transaction) -> list[RelatedMemory]:
    """The linked memories that still exist."""
    found = []
    for link in tx.links.of(memory.id):
        other = tx.memories.get(link.to_id) if link.from_id == memory.id else None
        if other is not None and other.state != "forgotten":
            found.append(RelatedMemory(other, link.kind))
    return found
