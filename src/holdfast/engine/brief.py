"""brief: the block for a prompt, within its budget, and for a session always the same one.

delta: what is new for a session that was briefed before, as a small block to go after its brief.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.domain.file_paths import assigned
from holdfast.domain.history import Receipt, ReceiptItem
from holdfast.domain.memory import Memory, Source
from holdfast.domain.query import Filter
from holdfast.domain.render import Block, render
from holdfast.engine.ports import Transaction
from holdfast.engine.sessions import known_session, project_of
from holdfast.engine.space_context import SpaceContext, without_receipt
from holdfast.engine.supersession import mark, superseded_by
from holdfast.engine.tend import decay
from holdfast.errors import Invalid


@dataclass(frozen=True, slots=True)
class Brief:
    """A block of text for a prompt; the empty text when there is nothing to say."""

    text: str
    sha256: str
    tokens: int
    included: tuple[str, ...]  # ids
    left_out: int
    frozen: bool = False  # true: what this session was given before, byte for byte


DELTA_BUDGET = 400  # tokens
_MOST = 200  # memories that are looked at, newest first


def brief(
    *,
    ctx: SpaceContext,
    session: str | None = None,
    project: str | None = None,
    subject: str | None = None,
    budget: int | None = None,
    tools: bool = True,
) -> Brief:
    """What a session should know from the start: its project's memories and those of none.

    `tools` says whether whoever reads it can call the profile's tools. The first brief of a session stays
    its brief, whatever is remembered meanwhile.
    """
    if budget is not None and budget < 0:
        raise Invalid(f"budget must be 0 or more tokens, not {budget}", field="budget")
    if session is not None:
        with ctx.store.read(ctx.space) as tx:
            given = tx.receipts.brief_of(session)
        if given is not None:
            return _again(given)
    with without_receipt(ctx.space), ctx.store.write(ctx.space) as tx:
        now = ctx.now()
        if session is not None:
            known_session(tx, Source(session=session), now)
            given = tx.receipts.brief_of(session)
            if given is not None:
                return _again(given)
        decay(tx, ctx, now)
        project = project or project_of(session, tx)
        block = rendered(tx, ctx, project=project, subject=subject, budget=budget, tools=tools)
        made = _made(block)
        if session is not None:
            tx.receipts.add(_receipt(made, block, session, ctx))
        return made
    with ctx.store.read(ctx.space) as tx:
        project = project or project_of(session, tx)
        return _made(rendered(tx, ctx, project=project, subject=subject, budget=budget))


def rendered(
    tx: Transaction,
    ctx: SpaceContext,
    *,
    project: str | None = None,
    subject: str | None = None,
    budget: int | None = None,
    tools: bool = True,
) -> Block:
    """The block as it would be now; decay is the caller's business."""
    budget = budget if budget is not None else ctx.budget
    where = Filter(least_confidence=ctx.profile.policy.floor, project=project, other_projects=False)
    memories: Iterable[Memory] = tx.memories.find(where)
    superseded = superseded_by(tx)
    if not ctx.profile.block.shows_superseded:
        memories = [memory for memory in memories if memory.id not in superseded]
    if ctx.profile.block.layout == "hits":
        # Nothing was asked yet, so what matters most and changed last stands for what is relevant.
        memories = sorted(memories, key=lambda memory: (memory.importance, memory.updated_at), reverse=True)
    memories = list(memories)
    # Notes are read by the names in the index, so these have to be the ones that they are found under.
    paths = assigned(memories, tx.files.paths()) if ctx.profile.block.layout == "index" else None
    return render(
        memories,
        ctx.profile,
        budget=budget,
        subject=subject,
        estimate=ctx.estimate,
        paths=paths,
        tools=tools,
        superseded=superseded,
    )


def _made(block: Block) -> Brief:
    return Brief(
        text=block.text,
        sha256=hashlib.sha256(block.text.encode()).hexdigest(),
        tokens=block.tokens,
        included=tuple(memory.id for memory in block.included),
        left_out=block.left_out,
    )


def _receipt(made: Brief, block: Block, session: str, ctx: SpaceContext) -> Receipt:
    return Receipt(
        id=ctx.new_id(),
        kind="brief",
        session=session,
        query=None,
        text=made.text,
        sha256=made.sha256,
        tokens=made.tokens,
        left_out=made.left_out,
        created_at=ctx.now(),
        items=tuple(ReceiptItem(memory=memory.id, version=memory.version) for memory in block.included),
    )


def _again(receipt: Receipt) -> Brief:
    return Brief(
        text=receipt.text or "",
        sha256=receipt.sha256,
        tokens=receipt.tokens,
        included=tuple(item.memory for item in receipt.items if item.memory is not None),
        left_out=receipt.left_out,
        frozen=True,
    )


def delta(session: str, *, ctx: SpaceContext, project: str | None = None, budget: int = DELTA_BUDGET) -> str:
    """Memories that others added since the session's brief and that it has not seen; empty without any.

    Its own it knows. What is given here is not given again. A session without a brief has no delta.
    """
    with ctx.store.read(ctx.space) as tx:
        found = _new(session, project, tx, ctx)
    if not found:
        return ""
    block = render(found, ctx.profile, budget=budget, estimate=ctx.estimate)
    with without_receipt(ctx.space), ctx.store.write(ctx.space) as tx:
        block = render(_new(session, project, tx, ctx), ctx.profile, budget=budget, estimate=ctx.estimate)
        if block.included:
            tx.receipts.add(_delta_receipt(block, session, ctx))
    return block.text


def _new(session: str, project: str | None, tx: Transaction, ctx: SpaceContext) -> list[Memory]:
    given = tx.receipts.brief_of(session)
    if given is None:
        return []
    where = Filter(
        least_confidence=ctx.profile.policy.floor,
        project=project or project_of(session, tx),
        other_projects=False,
        created_after=given.created_at,
    )
    shown = tx.receipts.shown_in(session)
    found = mark(tx.memories.find(where, order="recent", limit=_MOST), tx)
    return [
        memory
        for memory in found
        if memory.id not in shown and memory.source.session != session and not memory.superseded_by
    ]


def _delta_receipt(block: Block, session: str, ctx: SpaceContext) -> Receipt:
    return Receipt(
        id=ctx.new_id(),
        kind="recall",
        session=session,
        query=None,
        text=block.text,
        sha256=block.sha256,
        tokens=block.tokens,
        left_out=block.left_out,
        created_at=ctx.now(),
        items=tuple(ReceiptItem(memory=memory.id, version=memory.version) for memory in block.included),
    )
