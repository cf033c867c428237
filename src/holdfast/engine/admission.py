"""Reasons not to add a draft right away: its text was deleted, it is archived, or it needs a review.

Deleted text is refused. A memory that upkeep archived (unused or too old) becomes active again when it is
repeated; one that was deactivated for low confidence does not. Drafts of untrusted origin wait in the inbox,
linked to the memories that they would change.
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
    """The archived memory that says the same as the draft, if the draft may reactivate it.

    An untrusted draft doesn't reactivate a memory of a trusted origin: it would borrow that one's authority.
    """
    for each in around.of("archived"):
        known = each.candidate.found
        assert isinstance(known, Memory)
        borrowed = known.source.trusted and not draft.source.trusted
        if each.verdict.relation == "same" and not borrowed:
            return known
    return None


def brought_back(known: Memory, draft: Draft, tx: Transaction, now: datetime) -> Memory:
    """Reactivates an archived memory and confirms it, so that the next upkeep doesn't archive it again."""
    back = replace(known.confirmed(now), state="active")
    return changes.change(tx, known, back, "restored", source=draft.source, now=now, note=_WHY)


def forbidden(draft: Draft, tx: Transaction, around: JudgedCandidates, anyway: bool) -> Refused | None:
    """The refusal of a draft that repeats a deleted text; None if it may be stored.

    A text that is also an active memory is not refused.
    """
    while (tombstone := find_tombstone(draft, tx, around)) is not None:  # a tombstone for each wording
        if not anyway or draft.source.origin not in PEOPLE:
            return refused(tombstone, tx)
        tx.tombstones.lift(tombstone.hash)
    return None


def refused(tombstone: Tombstone, tx: Transaction) -> Refused:
    restorable = tombstone.reason == "forgotten" and tx.memories.get(tombstone.memory or "") is not None
    deleted = Deletion(tombstone.reason, tombstone.created_at, restorable)
    return Refused(f"this {tombstone.says} and is not stored again", tombstone.memory, deleted)


def protected(known: Memory, draft: Draft, tx: Transaction) -> bool:
    """Whether an untrusted draft would change a memory of the operator."""
    return not draft.source.trusted and tx.journal.vouched_for(known.id)


def why_wait(draft: Draft, findings: DraftRelations, tx: Transaction) -> str | None:
    """The reason why a draft needs a review; None if it doesn't. A duplicate needs none."""
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
    """Puts a draft into the inbox, linked to what it contradicts; only once, however often it is repeated."""
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
    """Puts a draft into the inbox as a replacement of a known memory."""
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
