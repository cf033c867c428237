"""tend: the upkeep while nobody looks: what is not confirmed fades, what has no vector gets one."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.belief import decayed
from holdfast.domain.memory import Memory, Source
from holdfast.domain.query import Filter
from holdfast.engine import changes
from holdfast.engine.desk import Desk
from holdfast.engine.embedding import embed_missing
from holdfast.engine.ports import Transaction
from holdfast.errors import Unavailable

_MOST_EMBEDDED = 1_000_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tended:
    """What the upkeep changed: each memory before and after."""

    decayed: tuple[tuple[Memory, Memory], ...]
    embedded: int = 0  # memories that got their vector

    @property
    def deactivated(self) -> int:
        return sum(before.active and not after.active for before, after in self.decayed)


def tend(*, desk: Desk) -> Tended:
    """Brings the space up to date; running it again at the same moment changes nothing."""
    with desk.store.write(desk.space) as tx:
        done = decay(tx, desk, desk.now())
    try:
        return replace(done, embedded=embed_missing(desk, limit=_MOST_EMBEDDED))
    except Unavailable as trouble:
        _log.warning("vectors are still missing: %s", trouble)
        return done


def decay(tx: Transaction, desk: Desk, now: datetime) -> Tended:
    """Takes off what the weeks without confirmation cost."""
    policy = desk.profile.policy
    if policy.decay_by <= 0:
        return Tended(())
    steps = []
    for memory in tx.memories.find(Filter(states=("active",))):
        older = decayed(memory, policy, now)
        if older != memory:
            weeks = older.decayed_weeks - memory.decayed_weeks
            note = f"{weeks} week{'s' if weeks > 1 else ''} without confirmation"
            changes.change(tx, memory, older, "decayed", source=_UPKEEP, now=now, note=note)
            steps.append((memory, older))
    return Tended(tuple(steps))


_UPKEEP = Source(origin="operator")
