"""stats: how much a space holds, since when, of what kind, how it is used, and how capture and jobs go.

Figures only, counted by the store; what is junk is audit's to tell, and what models cost is spend's.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any, Final

from holdfast.domain.memory import Memory, State
from holdfast.engine.capture_queue import KIND as CAPTURE
from holdfast.engine.desk import Desk
from holdfast.engine.ports import JobTally, Transaction

IN_USE: Final[tuple[State, ...]] = ("active", "inactive")
MOST_USED: Final = 8
_TENTHS: Final = 10
#: How often memories were recalled: the least of each step.
_STEPS: Final = (0, 1, 3, 10, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """What became of what was said."""

    messages: int  # that the space keeps
    read: int  # of them, by rules
    pieces: int  # that they were read in
    without: int  # of them, in which nothing was worth keeping
    taken: int  # statements that went on to be remembered; again and again, where they were repeated
    stored: int  # memories in use that cite a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """One space in figures. Memories are those in use: active or inactive."""

    memories: int
    growth: tuple[tuple[date, int], ...]  # how many there were at the end of each day on which that changed
    categories: tuple[tuple[str, int], ...]  # in the profile's order, empty ones too
    confidence: tuple[int, ...]  # by tenths; 1.0 is in the last one
    importance: tuple[int, ...]  # 1 to 5
    accesses: tuple[tuple[int, int], ...]  # the least of each step, and how many reach it and not the next
    most_used: tuple[Memory, ...]
    funnel: Funnel
    jobs: tuple[JobTally, ...]  # those that are not done
    now: datetime

    @property
    def never_used(self) -> int:
        return self.accesses[0][1]


def stats(*, desk: Desk) -> Stats:
    """The figures of now."""
    with desk.store.read(desk.space) as tx:
        found = {by: tx.memories.counted(by, IN_USE) for by in ("category", "confidence", "accesses")}
        importance = Counter(dict(tx.memories.counted("importance", IN_USE)))
        return Stats(
            memories=sum(amount for _, amount in found["category"]),
            growth=_growth(tx.journal.growth()),
            categories=_categories(dict(found["category"]), desk.profile.category_names),
            confidence=_tenths(found["confidence"]),
            importance=tuple(importance[value] for value in range(1, 6)),
            accesses=_steps(found["accesses"]),
            most_used=tuple(tx.memories.most_used(MOST_USED)),
            funnel=_funnel(tx),
            jobs=tuple(sorted(tx.jobs.tallies(), key=lambda tally: (tally.kind, tally.state))),
            now=desk.now(),
        )


def _growth(changes: Sequence[tuple[str, int]]) -> tuple[tuple[date, int], ...]:
    days = [date.fromisoformat(day) for day, _ in changes]
    return tuple(zip(days, accumulate(change for _, change in changes), strict=True))


def sampled(growth: Sequence[tuple[date, int]], today: date, most: int) -> list[tuple[date, int]]:
    """The same at regular days, at most so many, from the first change until today."""
    if not growth:
        return []
    step = max((today - growth[0][0]).days // (most - 1) + 1, 1)
    days = [today - timedelta(days=step * back) for back in range(most)]
    first = growth[0][0] - timedelta(days=step)
    wanted = sorted(day for day in days if day > first)
    return [(day, next((count for at, count in reversed(growth) if at <= day), 0)) for day in wanted]


def _categories(counts: Mapping[str, int], names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    others = sorted(counts.keys() - set(names))
    return tuple((name, counts.get(name, 0)) for name in (*names, *others))


def _tenths(counts: Sequence[tuple[float, int]]) -> tuple[int, ...]:
    found = [0] * _TENTHS
    for value, amount in counts:
        # The tenth of 0.7 is 7, though 0.7 * 10 may fall short of it.
        found[min(int(round(value * 1_000) // 100), _TENTHS - 1)] += amount
    return tuple(found)


def _steps(counts: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    found = dict.fromkeys(_STEPS, 0)
    for value, amount in counts:
        found[max(step for step in _STEPS if step <= max(value, 0))] += amount
    return tuple(found.items())


def _funnel(tx: Transaction) -> Funnel:
    payloads = tx.jobs.payloads(CAPTURE)
    without = _sum(payloads, "chunks_without")
    return Funnel(
        messages=tx.sessions.message_count(),
        read=_sum(payloads, "read"),
        # Jobs of earlier releases counted only the pieces that held nothing.
        pieces=max(_sum(payloads, "chunks"), without),
        without=without,
        taken=_sum(payloads, "kept"),
        stored=dict(tx.memories.counted("from_message", IN_USE)).get(True, 0),
    )


def _sum(payloads: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(int(payload.get(name, 0)) for payload in payloads)
