"""tend: the upkeep of a space.

Unconfirmed memories decay, memories are archived by the profile's rules (restorable), merges are proposed,
missing vectors are made. Nothing is deleted, and nothing is merged without a person.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import TypeVar

from holdfast import engine
from holdfast.domain.access import ALL_MEMORIES, Reader
from holdfast.domain.confidence import SETTLED, clock_doubt, decayed
from holdfast.domain.memory import Memory, Session, Source
from holdfast.domain.query import UPKEEP, Filter
from holdfast.domain.retention import Due, due, has_rules, maybe_due
from holdfast.engine import changes, consolidate, rewordings
from holdfast.engine.embedding import embed_missing
from holdfast.engine.find import memory_pages
from holdfast.engine.models_in_use import EmbeddingProgress, embedding_progress
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.consolidation import Proposal

_AT_ONCE = 512  # texts between two reports
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Faded:
    """The memories that decayed, before and after."""

    decayed: tuple[tuple[Memory, Memory], ...]

    @property
    def faded(self) -> tuple[Memory, ...]:
        """The memories as they are after the decay."""
        return tuple(after for _, after in self.decayed)

    @property
    def deactivated(self) -> int:
        return sum(before.active and not after.active for before, after in self.decayed)


@dataclass(frozen=True, slots=True)
class Tended(_Faded):
    """What the upkeep changed."""

    archived: tuple[tuple[Memory, str], ...] = ()  # with the reasons
    proposed: tuple[Memory, ...] = ()  # in the inbox
    embedded: int = 0  # memories and messages that were embedded
    trouble: str | None = None  # why others were not
    clock_doubt: str | None = None  # why nothing decayed although it was due by this clock
    session: str | None = None  # session of the decay, for `undo-session`

    @property
    def reasons(self) -> tuple[Due, ...]:
        """What was archived, in the form of the preview."""
        return tuple(Due(memory, reason) for memory, reason in self.archived)

    def seen_by(self, reader: Reader) -> "Tended":
        """What a reader is told of it."""
        return replace(
            self,
            decayed=tuple(each for each in self.decayed if reader.sees(each[0])),
            archived=tuple(each for each in self.archived if reader.sees(each[0])),
            proposed=tuple(filter(reader.sees, self.proposed)),
        )

    def with_step(self, step: "Tended") -> "Tended":
        """The sum of this and one more step."""
        return replace(
            self,
            decayed=self.decayed + step.decayed,
            archived=self.archived + step.archived,
            proposed=self.proposed + step.proposed,
            clock_doubt=self.clock_doubt or step.clock_doubt,
            session=self.session or step.session,
        )


@dataclass(frozen=True, slots=True)
class Preview(_Faded):
    """What the upkeep would change now."""

    archived: tuple[Due, ...]
    proposed: tuple[Proposal, ...]
    clock_doubt: str | None = None


_AT_A_TIME = 25  # memories per transaction
_FEW_ENTRIES = 1_000  # of the journal, which the figures read each time
_COUNTED = 5_000  # entries per transaction
Item = TypeVar("Item")
_UPKEEP = Source(origin="operator")


def tend(
    *,
    ctx: SpaceContext,
    report: Callable[[EmbeddingProgress], None] | None = None,
    clock_is_right: bool = False,
) -> Tended:
    """Runs the upkeep; running it again at the same moment changes nothing.

    `report` is called with the progress of the vectors. After a long pause nothing decays, unless somebody
    confirms that `clock_is_right`.
    """
    done = Tended(())
    for step in upkeep(ctx=ctx, clock_is_right=clock_is_right):
        done = done.with_step(step)
    ctx = replace(ctx, reader=ALL_MEMORIES)
    while rewordings.look_due(ctx=ctx):
        pass
    try:
        while more := embed_missing(ctx, limit=_AT_ONCE, changing=_AT_ONCE):
            done = replace(done, embedded=done.embedded + more)
            if report is not None:
                report(_vectors(ctx))
    except Unavailable as trouble:
        _log.warning("vectors are still missing: %s", trouble)
        return replace(done, trouble=str(trouble))
    return done


def upkeep(*, ctx: SpaceContext, clock_is_right: bool = False) -> Iterator[Tended]:
    """All of `tend` except the vectors, in small steps; each yields its changes.

    No transaction is open between steps, so the caller may stop or do more urgent work. The rest is found
    again the next time. It is about all memories, and the caller is told of those that it sees.
    """
    everything = replace(ctx, reader=ALL_MEMORIES)
    for step in _steps(everything, clock_is_right=clock_is_right):
        yield step.seen_by(ctx.reader)


def _steps(ctx: SpaceContext, *, clock_is_right: bool) -> Iterator[Tended]:
    now = ctx.now()
    if ctx.profile.policy.decay_by > 0:
        yield from _fade_all(ctx, now, clock_is_right=clock_is_right)
    for archived in archive(ctx, now):
        yield Tended((), archived=tuple(archived))
    yield from _count_growth(ctx)
    engine.access_log.drop_old(ctx, now)
    yield Tended(())
    for proposed in chain(engine.left_open.judge_left_open(ctx=ctx), consolidate.consolidate(ctx=ctx)):
        yield Tended((), proposed=tuple(proposed))


def _count_growth(ctx: SpaceContext) -> Iterator[Tended]:
    """Adds the journal's new entries to the sums per day, so that the curve is drawn from few rows."""
    while True:
        with ctx.read() as tx:
            if tx.journal.uncounted() < _FEW_ENTRIES:
                return
        with ctx.write() as tx:
            tx.journal.count_growth(_COUNTED)
        yield Tended(())


def _fade_all(ctx: SpaceContext, now: datetime, *, clock_is_right: bool) -> Iterator[Tended]:
    """Applies all decay that is due, a few memories per transaction; none if the clock is in doubt."""
    with ctx.read() as tx:
        more = tx.ranks.needs_upkeep(now)
    while more:
        with ctx.write() as tx:
            step = decay(tx, ctx, now, most=_AT_A_TIME, clock_is_right=clock_is_right)
        yield step
        more = bool(step.decayed)
        if step.clock_doubt is not None:
            _log.warning("space %s: %s", ctx.space, step.clock_doubt)


def preview(*, ctx: SpaceContext) -> Preview:
    """What `tend` would do now, except for vectors."""
    now = ctx.now()
    make_current(ctx)
    with ctx.read() as tx:
        fading = tuple(each for each in _fading(tx, ctx, now) if ctx.reader.sees(each[0]))
        doubt = doubt_about(tx, now) if fading else None
    fading = fading if doubt is None else ()
    gone = {before.id for before, after in fading if not after.active}
    found = (each for step in overdue(ctx, now) for each in step)
    due = tuple(each for each in found if each.memory.id not in gone)
    gone |= {each.memory.id for each in due}
    pairs = (each for each in consolidate.pending(ctx, now) if each and gone.isdisjoint(each.ids))
    return Preview(fading, due, tuple(islice(pairs, consolidate.MOST_WAITING)), doubt)


def _vectors(ctx: SpaceContext) -> EmbeddingProgress:
    with ctx.read() as tx:
        return embedding_progress(ctx.embedder.name if ctx.embedder else None, tx)


def make_current(ctx: SpaceContext) -> None:
    """Rebuilds the ranks if a release changed the rules."""
    with ctx.read() as tx:
        if tx.ranks.is_current():
            return
    with ctx.write() as tx:
        tx.ranks.rank_all()


def doubt_about(tx: Transaction, now: datetime) -> str | None:
    """Why the clock may be wrong; None if nothing is suspicious."""
    return clock_doubt(tx.journal.newest_before(now - SETTLED), now)


def decay(
    tx: Transaction,
    ctx: SpaceContext,
    now: datetime,
    *,
    most: int | None = None,
    clock_is_right: bool = False,
) -> Tended:
    """Lowers the confidence of unconfirmed memories, of at most `most` ones, in a session that can be undone.

    Not if the clock may be far ahead: wrong decay would take memories out of use.
    """
    if not tx.ranks.is_current():
        tx.ranks.rank_all()
    if not tx.ranks.fading(now, limit=1):
        return Tended(())
    if not clock_is_right and (doubt := doubt_about(tx, now)) is not None:
        return Tended((), clock_doubt=doubt)
    steps = _fading(tx, ctx, now, most)
    session = f"fade-{now:%Y-%m-%d-%H%M%S}"
    told = Session(id=session, space=ctx.space, name="confidence decay", client=UPKEEP, started_at=now)
    tx.sessions.save(replace(told, ended_at=now))
    source = Source(origin="operator", session=session)
    for memory, older in steps:
        weeks = older.decayed_weeks - memory.decayed_weeks
        note = f"{weeks} week{'s' if weeks > 1 else ''} without confirmation"
        changes.change(tx, memory, older, "decayed", source=source, now=now, note=note)
    return Tended(tuple(steps), session=session)


def _fading(
    tx: Transaction, ctx: SpaceContext, now: datetime, most: int | None = None
) -> list[tuple[Memory, Memory]]:
    found = tx.ranks.fading(now, most)
    return [(memory, decayed(memory, ctx.profile.policy, now)) for memory in found]


def overdue(ctx: SpaceContext, now: datetime) -> Iterator[list[Due]]:
    """What the profile's rules would archive now; empty lists are small steps without a result."""
    if not has_rules(ctx.profile):
        return
    active: list[Memory] = []
    for page in memory_pages(ctx, Filter(created_before=_youngest(ctx, now))):
        active += page
        yield []
    shown: dict[str, datetime] = {}
    for batch in _batches(maybe_due(active, ctx.profile, now)):
        with ctx.read() as tx:
            uses = {memory.id: tx.receipts.uses(memory.id) for memory in batch}
        shown |= {each: max(use.created_at for use in found) for each, found in uses.items() if found}
        yield []
    yield due(active, ctx.profile, now, shown)


def _youngest(ctx: SpaceContext, now: datetime) -> datetime | None:
    """The time before which a memory can be due; None if a category has a maximum, so that all matter."""
    categories = ctx.profile.categories
    if any(each.keep_most for each in categories):
        return None
    rules = [ctx.profile.policy.unused_days]
    rules += [days for each in categories for days in (each.unused_days, each.keep_days)]
    return now - timedelta(days=min(days for days in rules if days)) + timedelta(microseconds=1)


def archive(ctx: SpaceContext, now: datetime) -> Iterator[list[tuple[Memory, str]]]:
    """Archives what is due, in small steps; each yields the memories as they are now, with the reasons."""
    for found in overdue(ctx, now):
        yield []
        for batch in _batches(found):
            with ctx.write() as tx:
                done = [_archived(tx, each, now) for each in batch]
            yield [each for each in done if each is not None]


def _archived(tx: Transaction, each: Due, now: datetime) -> tuple[Memory, str] | None:
    if tx.memories.get(each.memory.id) != each.memory:
        return None  # it changed meanwhile: left for the next time
    after = replace(each.memory, state="inactive")
    changes.change(tx, each.memory, after, "archived", source=_UPKEEP, now=now, note=each.reason)
    return after, each.reason


def _batches(found: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (found[start : start + _AT_A_TIME] for start in range(0, len(found), _AT_A_TIME))
