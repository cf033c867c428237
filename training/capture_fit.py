"""The weights by which capture keeps passages and lets memories fall, from the validation fortnights.

Each figure comes from weights that were fitted on the other fortnights.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from bench.week import Fact, Play, WeekReport, WeekSession, WeekTurn, load
from holdfast.domain.memory import Memory
from holdfast.engine import corrections
from holdfast.engine.memories import Memories
from holdfast.language.news import News
from holdfast.language.passages import statements
from holdfast.models.builtin_model import FinderModel, Passage
from holdfast.testing import FixedClock
from training.rows import files

MOST: Final = 0.6  # of a fact's words that a passage must hold, or of a passage's that a fact must
PENALTY: Final = 3.0


@dataclass(frozen=True, slots=True)
class Case:
    """What spoke for a passage or for a correction in a fortnight, and whether it was right."""

    fortnight: str
    evidence: tuple[float, ...]
    right: bool


class _Recorder:
    """A reader that finds nothing, and keeps what the finder weighed of each window."""

    def __init__(self, finder: FinderModel) -> None:
        self._finder = finder
        self.windows: list[tuple[str, Passage, tuple[float, ...]]] = []

    def facts(self, messages: Sequence[tuple[str, str]]) -> Sequence[Passage]:
        self.windows += [(messages[-1][1], *weighed) for weighed in self._finder.weighed(messages)]
        return ()


def passages(name: str, week: Sequence[WeekSession]) -> Iterator[Case]:
    """Every passage that the finder marks at all, and whether it holds a fact."""
    finder = FinderModel()
    for session in week:
        turns = [turn for turn in session.turns if turn.role != "tool"]
        for at, turn in enumerate(turns):
            reader = _Recorder(finder)
            statements([(each.role, each.text) for each in turns[:at]], turn.role, turn.text, reader)
            for window, passage, evidence in reader.windows:
                yield Case(name, evidence, any(_holds(window, passage, fact) for fact in turn.facts))


def _holds(window: str, passage: Passage, fact: Fact) -> bool:
    start = window.find(fact.carried_by)
    shared = min(passage.end, start + len(fact.carried_by)) - max(passage.start, start)
    least = min(len(fact.carried_by), passage.end - passage.start)
    return start >= 0 and shared >= MOST * least


def falls(name: str, week: Sequence[WeekSession]) -> list[Case]:
    """Every memory that was read beside some news, and whether it was to fall."""
    read: list[tuple[tuple[float, ...], News, Memory]] = []
    weighed = corrections.evidence

    def recorded(said: float, nearer: int, news: News, known: Memory) -> tuple[float, ...]:
        evidence = weighed(said, nearer, news, known)
        if known.superseded_by is None:
            read.append((evidence, news, known))
        return evidence

    clock = FixedClock(week[0].at)
    with (
        tempfile.TemporaryDirectory() as scratch,
        Memories.open(f"{scratch}/week.db", "default", clock=clock) as memories,
        patch.object(corrections, "evidence", recorded),
    ):
        play = Play(memories, clock, WeekReport())
        play.all(week)
    turns = {turn.text: turn for session in week for turn in session.turns}
    found = [(evidence, _right(news, known, turns, play.facts_of)) for evidence, news, known in read]
    return [Case(name, evidence, right) for evidence, right in found if right is not None]


def _right(
    news: News, known: Memory, turns: Mapping[str, WeekTurn], held: Mapping[str, set[str]]
) -> bool | None:
    """Whether news makes a memory untrue; none where other words of the message do."""
    corrected = {fact.replaces: fact for fact in turns[news.text].facts if fact.replaces in held[known.id]}
    told = [_overlaps(news, fact) for fact in corrected.values()]
    return any(told) if any(told) or not told else None


def _overlaps(news: News, fact: Fact) -> bool:
    start = news.text.find(fact.carried_by)
    return start < news.end and start + len(fact.carried_by) > news.start


def fitted(cases: Sequence[Case]) -> Any:
    """The bias and the weights of a logistic regression."""
    given = np.array([case.evidence for case in cases])
    right = np.array([case.right for case in cases], dtype=float)
    middle, spread = given.mean(axis=0), given.std(axis=0) + 1e-9
    table = np.column_stack([np.ones(len(given)), (given - middle) / spread])
    penalty = PENALTY * np.diag([0.0, *np.ones(given.shape[1])])
    weights = np.zeros(table.shape[1])
    for _ in range(30):
        sure = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (sure - right) + penalty @ weights
        bend = (table.T * (sure * (1 - sure))) @ table + penalty
        weights -= np.linalg.solve(bend, slope)
    scaled = weights[1:] / spread
    return np.array([weights[0] - scaled @ middle, *scaled])


def figures(cases: Sequence[Case], cuts: Sequence[float]) -> Iterator[str]:
    """What several cuts find, and what they take wrongly, each fortnight by the weights of the others."""
    names = sorted({case.fortnight for case in cases})
    by_others = {name: fitted([case for case in cases if case.fortnight != name]) for name in names}
    odds = [by_others[case.fortnight] @ (1.0, *case.evidence) for case in cases]
    sure = 1 / (1 + np.exp(-np.array(odds)))
    right = np.array([case.right for case in cases])
    for cut in cuts:
        taken = sure >= cut
        found, wrongly = (taken & right).sum(), (taken & ~right).sum()
        yield f"    from {cut:.2f}: {found} of {right.sum()}, and {wrongly} wrongly"


def report() -> None:
    """Prints both sets of weights and what they are worth."""
    weeks = {path.stem: load(path)[0] for path in files("weeks", "validation")}
    kept = [case for name, week in weeks.items() for case in passages(name, week)]
    fallen = [case for name, week in weeks.items() for case in falls(name, week)]
    for what, cases, cuts in (
        ("passages", kept, (0.45, 0.5, 0.54, 0.6)),
        ("corrections", fallen, (0.2, 0.25, 0.3, 0.4)),
    ):
        print(f"{what}: {fitted(cases).round(2).tolist()} of {len(cases)}", *figures(cases, cuts), sep="\n")
