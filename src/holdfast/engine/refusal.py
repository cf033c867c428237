"""What may not come back: a draft that repeats what was deleted is refused, with the facts about that."""

from holdfast.domain.memory import PEOPLE, Draft, Tombstone
from holdfast.domain.outcomes import Deletion, Refused
from holdfast.engine.neighbours import Surroundings, find_tombstone
from holdfast.engine.ports import Transaction


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
