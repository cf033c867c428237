"""What was put away and is said again: an archived memory comes back, what was deleted is refused.

Only what the upkeep put away, unused or too old, comes back instead of standing twice; what is no longer
believed is no more believed for being repeated. A refusal tells the facts about the deletion.
"""

from dataclasses import replace
from datetime import datetime

from holdfast.domain.memory import PEOPLE, Draft, Memory, Tombstone
from holdfast.domain.outcomes import Deletion, Refused
from holdfast.engine import changes
from holdfast.engine.neighbours import Surroundings, find_tombstone
from holdfast.engine.ports import Transaction

_WHY = "repeated after it was archived"


def archived_before(draft: Draft, around: Surroundings) -> Memory | None:
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


def forbidden(draft: Draft, tx: Transaction, around: Surroundings, anyway: bool) -> Refused | None:
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
