"""From marked tokens to passages, and how many facts those hold."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from training.network import Vocabulary
from training.rows import Row, files, read
from training.windows import BEGINS, INSIDE, OUTSIDE, Window, of_session, with_facts

GAP: Final = 2  # tokens between two parts of one passage
SHARE: Final = 0.6  # of a fact's tokens that a passage must hold
CARRIES_FROM, FACT_FROM = 0.3, 0.5  # as the package has them

Reading = Callable[[Sequence[Window]], list[list[list[float]]]]


def passages(marks: Sequence[Sequence[float]], first: int, cut: float) -> Iterator[tuple[list[int], float]]:
    """The tokens of each passage, and how surely they carry a fact."""
    run: list[int] = []
    for at in range(first, len(marks)):
        outside, inside, begins = marks[at]
        if 1 - outside < cut:
            continue
        if run and (at - run[-1] > GAP + 1 or begins > inside):
            yield run, _mean(run, marks)
            run = []
        run.append(at)
    if run:
        yield run, _mean(run, marks)


def _mean(run: Sequence[int], marks: Sequence[Sequence[float]]) -> float:
    return sum(1 - marks[at][OUTSIDE] for at in run) / len(run)


def capture_figures(read_all: Reading, words: Vocabulary) -> str:
    """Facts found and junk among the passages, for several thresholds, on the validation part."""
    lines = []
    for kind in ("weeks", "talks"):
        given = [
            window for path in files(kind, "validation") for window in windows_of(read(path), kind, words)
        ]
        marked = read_all(given)
        for cut, sure in ((0.3, 0.0), (0.4, 0.5), (0.5, 0.0), (0.5, 0.6), (0.5, 0.7), (0.5, 0.8)):
            found, facts, junk, made = counted(given, marked, cut, sure)
            lines.append(
                f"    {kind} from {cut} / {sure}: facts {found / max(facts, 1):.3f} of {facts}, "
                f"junk {junk / max(made, 1):.3f} of {made}"
            )
    return "\n".join(lines)


def windows_of(given: Sequence[Row], kind: str, words: Vocabulary) -> Iterator[Window]:
    """The messages of fortnights or of conversations."""
    for row in given:
        yield from of_session(row["turns"] if kind == "weeks" else with_facts(row), words)


def counted(given: Sequence[Window], marked: Any, cut: float, sure: float) -> tuple[int, int, int, int]:
    """Facts found, facts, passages that hold none, passages."""
    found = facts = junk = made = 0
    for window, marks in zip(given, marked, strict=True):
        wanted = list(_facts(window))
        runs = [set(run) for run, mean in passages(marks, window.first, cut) if mean >= sure]
        made += len(runs)
        junk += sum(not any(_holds(run, fact) for fact in wanted) for run in runs)
        facts += len(wanted)
        found += sum(any(_holds(run, fact) for run in runs) for fact in wanted)
    return found, facts, junk, made


def _facts(window: Window) -> Iterator[set[int]]:
    run: set[int] = set()
    for at, mark in enumerate(window.marks or ()):
        if mark == BEGINS and run:
            yield run
            run = set()
        if mark in (INSIDE, BEGINS):
            run.add(at)
    if run:
        yield run


def _holds(run: set[int], fact: set[int]) -> bool:
    return len(run & fact) >= SHARE * len(fact)
