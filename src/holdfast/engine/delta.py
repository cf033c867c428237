"""delta: what is new for a session that was briefed before, as a small block to go after its brief."""

from holdfast.domain.history import Receipt, ReceiptItem
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.domain.render import Block, render
from holdfast.engine.optional_receipts import without_receipt
from holdfast.engine.ports import Transaction
from holdfast.engine.sessions import project_of
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.supersession import mark

BUDGET = 400  # tokens
_MOST = 200  # memories that are looked at, newest first


def delta(session: str, *, ctx: SpaceContext, project: str | None = None, budget: int = BUDGET) -> str:
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
            tx.receipts.add(_receipt(block, session, ctx))
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


def _receipt(block: Block, session: str, ctx: SpaceContext) -> Receipt:
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
