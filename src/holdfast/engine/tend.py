"""tend: the upkeep while nobody looks: what is not confirmed fades, what has no vector gets one."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.belief import decayed
from holdfast.domain.memory import Memory, Source
from holdfast.domain.query import Filter
from holdfast.engine import changes
from holdfast.engine.desk import Desk
from holdfast.engine.embedding import embed_missing
from holdfast.engine.embedding_progress import EmbeddingProgress, embedding_progress
from holdfast.engine.ports import Transaction
from holdfast.errors import Unavailable

_AT_ONCE = 512  # texts that are embedded between two reports
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tended:
    """What the upkeep changed: each memory before and after."""

    decayed: tuple[tuple[Memory, Memory], ...]
    embedded: int = 0  # memories and messages that got their vector
    trouble: str | None = None  # why others did not

    @property
    def deactivated(self) -> int:
        return sum(before.active and not after.active for before, after in self.decayed)


def tend(*, desk: Desk, report: Callable[[EmbeddingProgress], None] | None = None) -> Tended:
    """Brings the space up to date; running it again at the same moment changes nothing.

    `report` is told now and then how far the vectors are.
    """
    with desk.store.write(desk.space) as tx:
        done = decay(tx, desk, desk.now())
    try:
        while more := embed_missing(desk, limit=_AT_ONCE, changing=_AT_ONCE):
            done = replace(done, embedded=done.embedded + more)
            if report is not None:
                report(_vectors(desk))
    except Unavailable as trouble:
        _log.warning("vectors are still missing: %s", trouble)
        return replace(done, trouble=str(trouble))
    return done


def _vectors(desk: Desk) -> EmbeddingProgress:
    with desk.store.read(desk.space) as tx:
        return embedding_progress(desk.embedder.name if desk.embedder else None, tx)


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
