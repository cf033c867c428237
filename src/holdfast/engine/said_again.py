"""What was archived comes back when it is said again, instead of standing twice.

Only what the upkeep put away, unused or too old: what a person deleted or rejected is the tombstones' matter,
and what is no longer believed is no more believed for being repeated.
"""

from dataclasses import replace
from datetime import datetime

from holdfast.domain.compare import Statement
from holdfast.domain.memory import Draft, Memory
from holdfast.domain.query import Filter
from holdfast.domain.retention import has_rules
from holdfast.engine import changes
from holdfast.engine.comparing import NEAREST, maybe_same
from holdfast.engine.desk import Desk
from holdfast.engine.ports import Transaction

_WHY = "said again after it was archived"


def archived_before(draft: Draft, tx: Transaction, desk: Desk) -> Memory | None:
    """The archived memory that says the same as a draft, if the draft may bring it back.

    What nobody vouched for brings nothing back that somebody did, so as not to borrow his word.
    """
    if not has_rules(desk.profile) or draft.doubtful:
        return None
    new = Statement(text=draft.content, subject=draft.subject, category=draft.category)
    for known in _candidates(draft, tx, desk):
        borrowed = known.source.trusted and not draft.source.trusted
        if borrowed or not maybe_same(known.content, draft.content):
            continue
        old = Statement(text=known.content, subject=known.subject, category=known.category)
        if desk.judge.compare(old, new).relation == "same":
            return known
    return None


def brought_back(known: Memory, draft: Draft, tx: Transaction, now: datetime) -> Memory:
    """The memory in use again and known to hold as of now; else the next upkeep would archive it again."""
    back = replace(known.confirmed(now), state="active")
    return changes.change(tx, known, back, "restored", source=draft.source, now=now, note=_WHY)


def _candidates(draft: Draft, tx: Transaction, desk: Desk) -> list[Memory]:
    """Those archived last, and those in just these words, however long ago."""
    where = Filter(
        states=("inactive",),
        category=draft.category,
        subject=draft.subject,
        general=draft.subject is None,
        project=draft.project,
        other_projects=False,
        least_confidence=desk.profile.policy.floor,
    )
    latest = tx.memories.find(where, order="recent", limit=NEAREST)
    if len(latest) < NEAREST:
        return latest
    worded = tx.memories.find(replace(where, text=draft.content), order="recent", limit=NEAREST)
    return [*worded, *latest]
