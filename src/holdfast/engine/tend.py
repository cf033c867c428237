"""tend: the upkeep while nobody looks.

What is not confirmed fades, what had its time is archived, what could be one is proposed, what has no vector
gets one. Nothing is deleted by it, and nothing is merged before a person says so.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from holdfast.domain.belief import decayed
from holdfast.domain.consolidation import Proposal
from holdfast.domain.memory import Memory, Source
from holdfast.domain.query import Filter
from holdfast.domain.retention import Due
from holdfast.engine import changes, consolidate, retention
from holdfast.engine.desk import Desk
from holdfast.engine.embedding import embed_missing
from holdfast.engine.embedding_progress import EmbeddingProgress, embedding_progress
from holdfast.engine.memory_pages import memory_pages
from holdfast.engine.ports import Transaction
from holdfast.errors import Unavailable

_AT_ONCE = 512  # texts that are embedded between two reports
_FADING = 25  # memories that fade in one transaction
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tended:
    """What the upkeep changed: each memory that faded before and after, and what else it did."""

    decayed: tuple[tuple[Memory, Memory], ...]
    embedded: int = 0  # memories and messages that got their vector
    trouble: str | None = None  # why others did not
    archived: tuple[tuple[Memory, str], ...] = ()  # each with the reason
    proposed: tuple[Memory, ...] = ()  # waiting in the inbox

    @property
    def deactivated(self) -> int:
        return sum(before.active and not after.active for before, after in self.decayed)

    def with_step(self, step: "Tended") -> "Tended":
        """What this and one more step did."""
        return replace(
            self,
            decayed=self.decayed + step.decayed,
            archived=self.archived + step.archived,
            proposed=self.proposed + step.proposed,
        )


@dataclass(frozen=True, slots=True)
class Preview:
    """What the upkeep would change now; nothing was changed."""

    decayed: tuple[tuple[Memory, Memory], ...]
    archived: tuple[Due, ...]
    proposed: tuple[Proposal, ...]


def tend(*, desk: Desk, report: Callable[[EmbeddingProgress], None] | None = None) -> Tended:
    """Brings the space up to date; running it again at the same moment changes nothing.

    `report` is told now and then how far the vectors are.
    """
    done = Tended(())
    for step in upkeep(desk=desk):
        done = done.with_step(step)
    try:
        while more := embed_missing(desk, limit=_AT_ONCE, changing=_AT_ONCE):
            done = replace(done, embedded=done.embedded + more)
            if report is not None:
                report(_vectors(desk))
    except Unavailable as trouble:
        _log.warning("vectors are still missing: %s", trouble)
        return replace(done, trouble=str(trouble))
    return done


def upkeep(*, desk: Desk) -> Iterator[Tended]:
    """All of `tend` but the vectors, in small steps: each tells what it changed.

    Between two steps no transaction is open, so whoever goes through them may stop, or do something more
    urgent first. What was not reached is found again the next time.
    """
    now = desk.now()
    if desk.profile.policy.decay_by > 0:
        for page in memory_pages(desk, Filter(states=("active",))):
            yield from _decayed(page, desk, now)
    for archived in retention.archive(desk, now):
        yield Tended((), archived=tuple(archived))
    for proposed in consolidate.consolidate(desk=desk):
        yield Tended((), proposed=tuple(proposed))


def preview(*, desk: Desk) -> Preview:
    """What `tend` would do now, vectors aside."""
    now = desk.now()
    with desk.store.read(desk.space) as tx:
        fading = tuple(_fading(tx, desk, now))
    gone = {before.id for before, after in fading if not after.active}
    found = (each for step in retention.overdue(desk, now) for each in step)
    due = tuple(each for each in found if each.memory.id not in gone)
    gone |= {each.memory.id for each in due}
    pairs = (each for each in consolidate.pending(desk, now) if each and gone.isdisjoint(each.ids))
    return Preview(fading, due, tuple(islice(pairs, consolidate.MOST_WAITING)))


def _vectors(desk: Desk) -> EmbeddingProgress:
    with desk.store.read(desk.space) as tx:
        return embedding_progress(desk.embedder.name if desk.embedder else None, tx)


def _decayed(page: Sequence[Memory], desk: Desk, now: datetime) -> Iterator[Tended]:
    """Lets a page fade, a few memories in a transaction."""
    ids = [memory.id for memory in page if decayed(memory, desk.profile.policy, now) != memory]
    yield Tended(())
    for start in range(0, len(ids), _FADING):
        with desk.store.write(desk.space) as tx:
            done = decay(tx, desk, now, among=ids[start : start + _FADING])
        yield done


def decay(tx: Transaction, desk: Desk, now: datetime, *, among: Sequence[str] | None = None) -> Tended:
    """Takes off what the weeks without confirmation cost, of all memories or `among` some."""
    steps = _fading(tx, desk, now, among)
    for memory, older in steps:
        weeks = older.decayed_weeks - memory.decayed_weeks
        note = f"{weeks} week{'s' if weeks > 1 else ''} without confirmation"
        changes.change(tx, memory, older, "decayed", source=_UPKEEP, now=now, note=note)
    return Tended(tuple(steps))


def _fading(
    tx: Transaction, desk: Desk, now: datetime, among: Sequence[str] | None = None
) -> list[tuple[Memory, Memory]]:
    policy = desk.profile.policy
    if policy.decay_by <= 0:
        return []
    found = tx.memories.find(Filter(states=("active",))) if among is None else tx.memories.many(among)
    steps = ((memory, decayed(memory, policy, now)) for memory in found)
    return [(memory, older) for memory, older in steps if older != memory]


_UPKEEP = Source(origin="operator")
