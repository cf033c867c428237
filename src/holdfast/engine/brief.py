"""brief: the block for the start of a session, within a token budget; it never changes within a session.

delta: a small block after the brief, with what others added since.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from holdfast import engine
from holdfast.domain.budget import DELTA_BUDGET, estimate_tokens
from holdfast.domain.file_paths import assigned
from holdfast.domain.history import Receipt, ReceiptItem
from holdfast.domain.memory import PEOPLE, Memory, Source
from holdfast.domain.query import Filter
from holdfast.domain.render import Block, folded, render
from holdfast.domain.subjects import same_subject
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext, project_of, without_receipt
from holdfast.engine.supersession import as_said, mark, superseded_by
from holdfast.errors import Invalid


@dataclass(frozen=True, slots=True)
class Brief:
    """A block of text for a prompt; empty if there is nothing to say."""

    text: str
    sha256: str
    tokens: int
    included: tuple[str, ...]  # ids
    left_out: int
    frozen: bool = False  # true: the same bytes that this session was given before


_MOST = 200  # memories that are considered, newest first


def brief(
    *,
    ctx: SpaceContext,
    session: str | None = None,
    project: str | None = None,
    subject: str | None = None,
    budget: int | None = None,
    tools: bool = True,
) -> Brief:
    """The memories of the project and the global ones that a session should start with.

    `tools` says whether the agent can call the profile's tools. The first brief of a session is returned
    again for the rest of the session, whatever is remembered meanwhile.
    """
    if budget is not None and budget < 0:
        raise Invalid(f"budget must be 0 or more tokens, not {budget}", field="budget")
    ctx = ctx.for_prompts()
    with ctx.read() as tx:
        if session is not None and (given := tx.receipts.brief_of(session)) is not None:
            return _again(given)
        if session is None and not tx.ranks.needs_upkeep(ctx.now()):
            return _made(rendered(tx, ctx, project=project, subject=subject, budget=budget, tools=tools))
    block = None
    with without_receipt(ctx.space), ctx.write(urgent=True) as tx:
        now = ctx.now()
        if session is not None:
            engine.sessions.known_session(tx, Source(session=session, person=ctx.person), now)
            if (given := tx.receipts.brief_of(session)) is not None:
                return _again(given)
        engine.tend.decay(tx, ctx, now)
        project = project or project_of(session, tx)
        block = rendered(tx, ctx, project=project, subject=subject, budget=budget, tools=tools)
        if session is not None:
            tx.receipts.add(_receipt("brief", block, session, ctx))
    if block is None:  # the store takes no writes now
        with ctx.read() as tx:
            project = project or project_of(session, tx)
            block = rendered(tx, ctx, project=project, subject=subject, budget=budget, tools=tools)
    return _made(block)


_LINE = 24  # the least tokens of an average line: determines how many memories are read first


def rendered(
    tx: Transaction,
    ctx: SpaceContext,
    *,
    project: str | None = None,
    subject: str | None = None,
    budget: int | None = None,
    tools: bool = True,
) -> Block:
    """The brief as it would be now; the caller applies decay first.

    Reads the highest-ranked memories, as many as fill the block, and then those that are small enough for the
    remaining budget: no other memory can be in the block.
    """
    budget = budget if budget is not None else ctx.budget
    most = ctx.profile.block.budget if budget is None else budget
    total = tx.ranks.total(project)
    limit = most // _LINE + _LINE if ctx.estimate is estimate_tokens else total
    while True:
        found = tx.ranks.first(project, limit, _asked_subjects(subject, ctx))
        block = _block(tx, ctx, found, total, project, subject, budget, tools)
        if len(found) >= total:
            return block
        if len(block.included) < len(found):
            break
        limit *= 2
    more = tx.ranks.small(project, most - block.tokens + 1, {memory.id for memory in found})
    return _block(tx, ctx, [*found, *more], total, project, subject, budget, tools) if more else block


def _asked_subjects(subject: str | None, ctx: SpaceContext) -> tuple[str, ...]:
    """The subjects whose memories come first; in some layouts, the general ones follow."""
    if not folded(subject):
        return ()
    general = ("", folded(ctx.profile.block.general)) if ctx.profile.block.layout == "by-subject" else ()
    return (folded(subject), *general)


def _block(
    tx: Transaction,
    ctx: SpaceContext,
    memories: Sequence[Memory],
    total: int,
    project: str | None,
    subject: str | None,
    budget: int | None,
    tools: bool,
) -> Block:
    layout = ctx.profile.block.layout
    memories = as_said(memories, tx)
    paths = _paths(memories, tx, project) if layout == "index" else None
    return render(
        _as_spelt_first(memories, tx, ctx, project),
        ctx.profile,
        budget=budget,
        subject=subject,
        estimate=ctx.estimate,
        paths=paths,
        tools=tools,
        superseded=superseded_by(tx, [memory.id for memory in memories]) if layout == "by-subject" else None,
        reworded=_reworded(memories, tx, ctx),
        among=total,
        person=ctx.person,
    )


def _as_spelt_first(
    memories: Sequence[Memory], tx: Transaction, ctx: SpaceContext, project: str | None
) -> Sequence[Memory]:
    """The memories, with each subject in its first spelling among all that could be shown."""
    if ctx.profile.policy.subject_is_key:
        return memories
    subjects = {folded(memory.subject) for memory in memories if memory.subject}
    first = tx.ranks.first_spellings(project, subjects)
    spelt = ((memory, first.get(folded(memory.subject), memory.subject)) for memory in memories)
    return [
        replace(memory, subject=name)
        if name != memory.subject and same_subject(name, memory.subject)
        else memory
        for memory, name in spelt
    ]


def _reworded(memories: Sequence[Memory], tx: Transaction, ctx: SpaceContext) -> set[str]:
    """The ids of rules that were reworded by an origin that is not a person."""
    rules = (one for one in memories if one.version > 1 and ctx.profile.is_rule(one.category))
    wordings = (tx.versions.get(one.id, one.version) for one in rules)
    return {one.memory for one in wordings if one is not None and one.source.origin not in PEOPLE}


def _paths(memories: Sequence[Memory], tx: Transaction, project: str | None) -> Mapping[str, str]:
    """The file names of the memories. Notes are read by these names, so they are the ones in the index."""
    known = tx.files.paths([memory.id for memory in memories])
    if len(known) == len(memories):
        return known
    # A name is free if no other memory has it.
    return assigned(tx.ranks.first(project, tx.ranks.total(project)), tx.files.paths())


def _made(block: Block) -> Brief:
    return Brief(
        text=block.text,
        sha256=block.sha256,
        tokens=block.tokens,
        included=tuple(memory.id for memory in block.included),
        left_out=block.left_out,
    )


def _receipt(kind: Literal["brief", "recall"], block: Block, session: str, ctx: SpaceContext) -> Receipt:
    return Receipt(
        id=ctx.new_id(),
        kind=kind,
        session=session,
        query=None,
        text=block.text,
        sha256=block.sha256,
        tokens=block.tokens,
        left_out=block.left_out,
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
    """Memories that others added since the session's brief and that it has not been given; empty if none.

    Each is given once. A session without a brief has no delta.
    """
    ctx = ctx.for_prompts()
    with ctx.read() as tx:
        block = _delta_block(session, project, budget, tx, ctx)
    if block.included:
        with without_receipt(ctx.space), ctx.write() as tx:
            block = _delta_block(session, project, budget, tx, ctx)
            if block.included:
                tx.receipts.add(_receipt("recall", block, session, ctx))
    return block.text


def _delta_block(session: str, project: str | None, budget: int, tx: Transaction, ctx: SpaceContext) -> Block:
    found = _new(session, project, tx, ctx)
    reworded = _reworded(found, tx, ctx)
    return render(
        found, ctx.profile, budget=budget, estimate=ctx.estimate, reworded=reworded, person=ctx.person
    )


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
