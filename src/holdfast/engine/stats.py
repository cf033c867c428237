"""stats: how many memories, of what kind, how they are used, and the state of capture and jobs.

Counted by the store. `audit` finds junk, `spend` has the costs. `figures` are totals over all spaces without
names, which may be private and many.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any, Final

from holdfast.domain.health import ReplicaState
from holdfast.domain.jobs import JobState, JobTally
from holdfast.domain.memory import ORIGINS, STATES, Memory, Origin, State
from holdfast.domain.query import Filter
from holdfast.domain.spend import Spent, total
from holdfast.engine.models_in_use import embedding_progress
from holdfast.engine.ports import CountedBy, Store, Transaction
from holdfast.engine.reading_queue import CAPTURE
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import NotFound

IN_USE: Final[tuple[State, ...]] = ("active", "inactive")
MOST_USED: Final = 8
_TENTHS: Final = 10
#: The least number of recalls of each step.
_STEPS: Final = (0, 1, 3, 10, 50)
_IMPORTANCES: Final = range(1, 6)
#: What is counted in one scan of all memories, with the categories.
_ASKED: Final[tuple[tuple[CountedBy, Any], ...]] = (
    *(("accesses", step) for step in _STEPS),
    *(("importance", value) for value in _IMPORTANCES),
    *(("origin", value) for value in ORIGINS),
    ("from_message", True),
    ("briefs_only", True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """How many messages became memories, step by step."""

    messages: int  # stored
    read: int  # of those, read by the finder
    pieces: int  # passages that were read
    without: int  # of those, without a fact
    taken: int  # drafts, repetitions included
    stored: int  # memories in use that cite a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The figures of one space. Memories are those that are active or inactive."""

    memories: int
    inactive: int  # of them
    growth: tuple[tuple[date, int], ...]  # number at the end of each day with a change
    categories: tuple[tuple[str, int], ...]  # in the profile's order, empty ones too
    confidence: tuple[int, ...]  # in tenths; 1.0 is in the last one
    importance: tuple[int, ...]  # 1 to 5
    origins: tuple[tuple[Origin, int], ...]  # from where they came, empty ones too
    accesses: tuple[tuple[int, int], ...]  # the least number of recalls of each step, and how many are in it
    briefs_only: int  # never recalled, but in a brief
    most_used: tuple[Memory, ...]
    funnel: Funnel
    jobs: tuple[JobTally, ...]  # without finished ones
    now: datetime

    @property
    def active(self) -> int:
        return self.memories - self.inactive

    @property
    def never_used(self) -> int:
        """Neither recalled nor in a brief."""
        return self.accesses[0][1] - self.briefs_only


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Totals over all spaces of a database."""

    spaces: int
    memories: Mapping[State, int]
    sessions: int
    messages: int
    jobs: Mapping[tuple[str, JobState], int]  # by kind and state, without finished ones
    longest_wait: Mapping[str, timedelta]  # by kind: when the oldest due job became due
    not_embedded: int  # changes of memories, and messages, without a vector
    spend: Mapping[str, Spent]  # by model
    copy_followed: bool | None  # none: there is no continuous copy
    replica: ReplicaState | None = None


def stats(*, ctx: SpaceContext) -> Stats:
    """The figures of now."""
    with ctx.read() as tx:
        names = ctx.profile.category_names
        asked = [*_ASKED, *(("category", name) for name in names)]
        found = dict(zip(asked, tx.memories.having(asked, IN_USE), strict=True))
        believed = tx.memories.counted(("confidence", "state"), IN_USE)
        memories = sum(amount for _, amount in believed)
        return Stats(
            memories=memories,
            inactive=_totals(believed, 1)["inactive"],
            growth=_growth(tx.journal.growth()),
            categories=_categories({name: found["category", name] for name in names}, memories, tx),
            confidence=_tenths(_totals(believed, 0)),
            importance=tuple(found["importance", value] for value in _IMPORTANCES),
            origins=tuple((value, found["origin", value]) for value in ORIGINS),
            briefs_only=found["briefs_only", True],
            accesses=_steps([found["accesses", step] for step in _STEPS]),
            most_used=tuple(tx.memories.most_used(MOST_USED)),
            funnel=_funnel(tx, stored=found["from_message", True]),
            jobs=tuple(sorted(tx.jobs.tallies(), key=lambda tally: (tally.kind, tally.state))),
            now=ctx.now(),
        )


def _totals(counts: Sequence[tuple[tuple[Any, ...], int]], place: int) -> Counter[Any]:
    """Counts by the value at `place` of the keys."""
    totals: Counter[Any] = Counter()
    for values, amount in counts:
        totals[values[place]] += amount
    return totals


def _growth(changes: Sequence[tuple[str, int]]) -> tuple[tuple[date, int], ...]:
    days = [date.fromisoformat(day) for day, _ in changes]
    return tuple(zip(days, accumulate(change for _, change in changes), strict=True))


def sampled(growth: Sequence[tuple[date, int]], today: date, most: int) -> list[tuple[date, int]]:
    """The growth at most `most` regular days, from before the first change until today."""
    if not growth:
        return []
    step = (today - growth[0][0]).days // (most - 1) + 1
    days = [today - timedelta(days=step * back) for back in range(most)]
    first = growth[0][0] - timedelta(days=step)
    wanted = sorted(day for day in days if day >= first)
    return [(day, next((count for at, count in reversed(growth) if at <= day), 0)) for day in wanted]


def _categories(counts: Mapping[str, int], memories: int, tx: Transaction) -> tuple[tuple[str, int], ...]:
    """The profile's categories in its order; then unknown ones, if memories have any."""
    if sum(counts.values()) == memories:
        return tuple(counts.items())
    every = _totals(tx.memories.counted(("category",), IN_USE), 0)
    return (*counts.items(), *((name, every[name]) for name in sorted(every.keys() - counts.keys())))


def _tenths(counts: Mapping[float, int]) -> tuple[int, ...]:
    found = [0] * _TENTHS
    for value, amount in counts.items():
        # The tenth of 0.7 is 7, though 0.7 * 10 may fall short of it.
        found[min(int(round(value * 1_000) // 100), _TENTHS - 1)] += amount
    return tuple(found)


def _steps(reached: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The number in each step, from the numbers that reach it."""
    return tuple(
        (step, amount - beyond)
        for step, amount, beyond in zip(_STEPS, reached, [*reached[1:], 0], strict=True)
    )


def _funnel(tx: Transaction, stored: int) -> Funnel:
    payloads = tx.jobs.payloads(CAPTURE)
    without = _sum(payloads, "chunks_without")
    return Funnel(
        messages=tx.sessions.message_count(),
        read=_sum(payloads, "read"),
        # Jobs of earlier releases counted only passages without a fact.
        pieces=max(_sum(payloads, "chunks"), without),
        without=without,
        taken=_sum(payloads, "kept"),
        stored=stored,
    )


def _sum(payloads: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(int(payload.get(name, 0)) for payload in payloads)


def figures(*, store: Store, now: datetime, embedder: str | None) -> Figures:
    """Raises: Unavailable."""
    memories: Counter[State] = Counter(dict.fromkeys(STATES, 0))
    jobs: Counter[tuple[str, JobState]] = Counter()
    waits: dict[str, timedelta] = {}
    spend: dict[str, Spent] = {}
    counted: Counter[str] = Counter()
    for space in store.spaces():
        try:
            with store.read(space.name) as tx:
                counted.update(spaces=1, sessions=tx.sessions.count(), messages=tx.sessions.message_count())
                memories.update({state: tx.memories.count(Filter(states=(state,))) for state in STATES})
                for tally in tx.jobs.tallies():
                    jobs[tally.kind, tally.state] += tally.count
                    wait = max(now - tally.oldest_due_at, timedelta())
                    if tally.state == "queued":
                        waits[tally.kind] = max(wait, waits.get(tally.kind, timedelta()))
                for model, spent in tx.spend.grouped("model"):
                    spend[str(model)] = total([spend.get(str(model), Spent()), spent])
                progress = embedding_progress(embedder, tx)
        except NotFound:  # deleted since it was listed
            continue
        if embedder is not None:
            counted["not_embedded"] += max(progress.total - progress.done, 0)
    return Figures(
        spaces=counted["spaces"],
        memories=memories,
        sessions=counted["sessions"],
        messages=counted["messages"],
        jobs=jobs,
        longest_wait=waits,
        replica=store.replica.state() if store.replica is not None else None,
        not_embedded=counted["not_embedded"],
        spend=spend,
        copy_followed=store.followed(),
    )
