"""What was archived comes back when it is said again, instead of standing twice.

Only what the upkeep put away, unused or too old: what a person deleted or rejected is the tombstones' matter,
and what is no longer believed is no more believed for being repeated.
"""

from dataclasses import replace
from datetime import datetime

from holdfast.domain.memory import Draft, Memory
from holdfast.engine import changes
from holdfast.engine.neighbours import Surroundings
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
