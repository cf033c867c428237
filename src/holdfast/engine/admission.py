"""What keeps a draft from simply being added: it was deleted, it was put away, or a person has to look first.

What was deleted is refused, with the facts about the deletion. Of what was put away, only what the upkeep
archived, unused or too old, comes back instead of standing twice; what is no longer believed is no more
believed for being repeated. What nobody vouched for waits in the inbox, beside what it stands against.
"""

from dataclasses import replace
from datetime import datetime

from holdfast.domain.memory import PEOPLE, Draft, Memory, Tombstone
from holdfast.domain.outcomes import Deletion, Refused, Waiting
from holdfast.engine import changes
from holdfast.engine.neighbours import DraftRelations, JudgedCandidates, find_tombstone, look_beside
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext

_WHY = "repeated after it was archived"


def archived_before(draft: Draft, around: JudgedCandidates) -> Memory | None:
    """The archived memory that says the same as a draft, if the draft may bring it back.

    What nobody vouched for brings nothing back that somebody did, so as not to borrow his word.
    """
    for each in around.of("archived"):
        known = each.candidate.found
        assert isinstance(known, Memory)
        borrowed = known.source.trusted and not draft.source.trusted
        if each.verdict.relation == "same" and not borrowed:
            return known
    return None


def brought_back(known: Memory, draft: Draft, tx: Transaction, now: datetime) -> Memory:
    """The memory in use again and known to hold as of now; else the next upkeep would archive it again."""
    back = replace(known.confirmed(now), state="active")
    return changes.change(tx, known, back, "restored", source=draft.source, now=now, note=_WHY)


def forbidden(draft: Draft, tx: Transaction, around: JudgedCandidates, anyway: bool) -> Refused | None:
    """Why a draft may not come back; what is known and active was not deleted, whatever was beside it."""
    while (tombstone := find_tombstone(draft, tx, around)) is not None:  # each wording has one
        if not anyway or draft.source.origin not in PEOPLE:
            return refused(tombstone, tx)
        tx.tombstones.lift(tombstone.hash)
    return None


def refused(tombstone: Tombstone, tx: Transaction) -> Refused:
    restorable = tombstone.reason == "forgotten" and tx.memories.get(tombstone.memory or "") is not None
    deleted = Deletion(tombstone.reason, tombstone.created_at, restorable)
    return Refused(f"this {tombstone.says} and is not stored again", tombstone.memory, deleted)


def protected(known: Memory, draft: Draft, tx: Transaction) -> bool:
    """Whether a draft comes from where nobody vouched for it, and meets what an operator stands for."""
    return not draft.source.trusted and tx.journal.vouched_for(known.id)


def why_wait(draft: Draft, findings: DraftRelations, tx: Transaction) -> str | None:
    """Why a person has to look first, if so. What is known already need not wait."""
    if findings.same is not None:
        return None
    if draft.doubtful:
        return draft.doubtful
    owned = [known.id for known in findings.contradicted if protected(known, draft, tx)]
    if not owned:
        return None
    return f"it came from {draft.source.origin} and contradicts the operator's memory {', '.join(owned)}"


def wait(
    reason: str,
    draft: Draft,
    findings: DraftRelations,
    tx: Transaction,
    ctx: SpaceContext,
    now: datetime,
    around: JudgedCandidates,
) -> Waiting:
    """Puts a draft into the inbox, beside what it stands against; once, however often it is said."""
    if findings.contradicted and ctx.profile.policy.on_contradiction == "suggest":
        return propose(findings.contradicted[0], draft, tx, ctx, now, reason, around)
    against = findings.contradicted + findings.related
    if there := _waiting_already(draft, around):
        return Waiting(there, there.waiting_for or reason, against)
    memory = changes.add(tx, ctx, draft, now=now, waiting_for=reason)
    for known in findings.contradicted:
        changes.connect(tx, memory.id, known.id, "contradicts", source=draft.source, now=now)
    for known in findings.related:
        changes.connect(tx, memory.id, known.id, "related", source=draft.source, now=now)
    return Waiting(memory, reason, against)


def propose(
    known: Memory,
    draft: Draft,
    tx: Transaction,
    ctx: SpaceContext,
    now: datetime,
    reason: str | None = None,
    around: JudgedCandidates | None = None,
) -> Waiting:
    """Leaves it to a person whether a draft may take the place of a known memory."""
    reason = (
        draft.doubtful
        or reason
        or f"{draft.source.origin} proposes it in place of the operator's memory {known.id}"
    )
    if there := _waiting_already(draft, around or look_beside(draft, tx, ctx)):
        return Waiting(there, there.waiting_for or reason, (known,))
    memory = changes.add(tx, ctx, draft, now=now, waiting_for=reason)
    changes.connect(tx, memory.id, known.id, "supersedes", source=draft.source, now=now)
    return Waiting(memory, reason, (known,))


def _waiting_already(draft: Draft, around: JudgedCandidates) -> Memory | None:
    for each in around.of("waiting"):
        waiting = each.candidate.found
        assert isinstance(waiting, Memory)
        alike = (waiting.project, waiting.confidence) == (draft.project, draft.confidence)
        if alike and each.verdict.relation == "same":
            return waiting
    return None
