"""Judges pairs that no model judged when a memory was stored, because it was slow or missing.

The result is the same as it would have been then, except that a merge is only proposed. After a kill it is
repeated without effect.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from holdfast.domain.history import Entry
from holdfast.domain.memory import Draft, Memory
from holdfast.engine import changes
from holdfast.engine.admission import protected
from holdfast.engine.candidates import Candidate, statement_of
from holdfast.engine.consolidate import is_full, looked_at, mark, propose
from holdfast.engine.neighbours import Judged, JudgedCandidates, findings
from holdfast.engine.ports import Transaction
from holdfast.engine.remember import weaken
from holdfast.engine.space_context import SpaceContext
from holdfast.language.consolidation import duplicate, may_be_one
from holdfast.language.judge import NO_MODEL

KIND = "judge"
_SPAN = 1_000  # entries of the journal per step


def judge_left_open(*, ctx: SpaceContext) -> Iterator[list[Memory]]:
    """Judges such pairs in small steps; each step yields the proposals, which wait in the inbox.

    Stops if no model answers, and continues there the next time.
    """
    began = ctx.now()
    reached = int(looked_at(KIND, ctx) or 0)
    while True:
        with ctx.read() as tx:
            last = tx.journal.last()
            upto = min(reached + _SPAN, last)
            entries = tx.journal.left_open(reached, upto)
        for entry in entries:
            around: list[Judged] = []
            for each in _not_compared(entry, ctx):
                around += map(Judged, [each], ctx.judge.compare([(each.known, each.draft)]))
                yield []
            if any(NO_MODEL in one.verdict.reasons for one in around):
                return
            with ctx.write() as tx:
                if is_full(tx):
                    return
                made = _settled(entry, around, tx, ctx, began)
                mark(KIND, str(entry.seq), tx, began)
            yield made
        if upto > reached:
            with ctx.write() as tx:
                mark(KIND, str(upto), tx, began)
        if upto >= last:
            return
        reached = upto
        yield []


def _not_compared(entry: Entry, ctx: SpaceContext) -> list[Candidate]:
    """The memories that an added one was not compared with."""
    with ctx.read() as tx:
        found = tx.memories.many([entry.memory or "", *entry.left_open])
    memory = next((each for each in found if each.id == entry.memory), None)
    if memory is None or not memory.active:
        return []
    new = statement_of(memory)
    return [
        Candidate("known", each, statement_of(each), new, 0.0)
        for each in found
        if each.active and each is not memory and each.private_to == memory.private_to
    ]


def _settled(
    entry: Entry, around: Sequence[Judged], tx: Transaction, ctx: SpaceContext, now: datetime
) -> list[Memory]:
    """Links a memory to those that it contradicts or is related to, and proposes to merge duplicates."""
    memory = tx.memories.get(entry.memory or "")
    if memory is None:
        return []
    here = tx.memories.many(entry.left_open)
    still = tuple(
        each
        for each in around
        if each.candidate.found in here and each.candidate.draft == statement_of(memory)
    )
    draft = Draft(
        content=memory.content,
        category=memory.category,
        subject=memory.subject,
        project=memory.project,
        source=memory.source,
    )
    found = findings(JudgedCandidates(entry.seq, still), draft)
    tx.journal.judged(found.note)
    if found.same is not None:
        [verdict] = [each.verdict for each in still if each.candidate.found == found.same]
        proposal = duplicate(found.same, memory, verdict) if may_be_one(found.same, memory) else None
        return propose(proposal, tx, ctx, now) if proposal else []
    for known in found.contradicted:
        if ctx.profile.policy.on_contradiction in ("weaken", "keep") and not protected(known, draft, tx):
            weaken(known, memory, tx, ctx, now)
        else:  # a person decides; it is proposed when it is old enough
            changes.connect(tx, memory.id, known.id, "contradicts", source=memory.source, now=now)
    for known in found.related:
        changes.connect(tx, memory.id, known.id, "related", source=memory.source, now=now)
    return []
