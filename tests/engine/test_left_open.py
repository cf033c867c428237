"""What a late or missing model left open is judged in the upkeep, and no pair twice, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from holdfast import Memories
from holdfast.domain.memory import Draft, Memory, Source
from holdfast.engine.ports import Store
from holdfast.errors import Unavailable
from holdfast.language.comparison import Statement, Verdict
from holdfast.testing import FixedClock
from tests.engine.scripted_judge import ScriptedJudge, wording


class LateJudge(ScriptedJudge):
    """Is late after so many pairs; notes what it was asked."""

    def __init__(self, answers: int = 1_000) -> None:
        self.answers = answers
        self.asked: list[frozenset[str]] = []

    def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        if self.answers < len(pairs):
            raise Unavailable("the reader took longer than 2 s")
        self.answers -= len(pairs)
        self.asked += [frozenset((known.text, draft.text)) for known, draft in pairs]
        return [replace(verdict, judge="scripted") for verdict in super().judge(pairs)]


@pytest.fixture
def space(store: Store, clock: FixedClock) -> Callable[[LateJudge], Memories]:
    """The space as another process sees it, with a judge of its own that knows no verdict yet."""
    return lambda judge: Memories.of(store, "default", clock=clock, embedder=None, judge=judge)


def imported(memories: Memories, *texts: str) -> list[str]:
    source = Source(origin="import", session="notes")
    drafts = enumerate(Draft(content=text, category="fact", source=source) for text in texts)
    return [type(one.outcome).__name__ for one in memories.import_drafts(drafts)]


def found(memories: Memories) -> dict[str, Memory]:
    return {memory.content: memory for memory in memories.find().memories}


def test_what_a_late_model_left_open_is_judged_in_the_upkeep(
    space: Callable[[LateJudge], Memories], clock: FixedClock
) -> None:
    assert imported(space(LateJudge()), wording(0, 0), wording(2, 0), wording(4, 0)) == ["Added"] * 3
    clock.advance(hours=1)
    late = space(LateJudge(answers=0))
    assert imported(late, wording(0, 1), wording(2, 0, "b"), wording(5, 0)) == ["Added"] * 3

    memories = space(LateJudge())
    done = memories.tend()

    now = found(memories)
    old, new = now[wording(0, 0)], now[wording(0, 1)]
    assert old.superseded_by == new.id
    assert old.confidence < new.confidence
    assert [proposal.content for proposal in done.proposed] == [wording(2, 0)]
    assert [link.kind for link, _ in memories.linked(now[wording(5, 0)].id)] == ["related"]


def test_while_the_model_is_late_the_upkeep_leaves_all_for_the_next_time(
    space: Callable[[LateJudge], Memories],
) -> None:
    late = space(LateJudge(answers=0))
    imported(late, wording(0, 0), wording(0, 0, "b"))
    assert late.tend().proposed == ()

    done = space(LateJudge()).tend()

    assert len(done.proposed) == 1
    assert space(LateJudge()).tend().proposed == ()


def test_a_contradiction_with_an_operators_memory_that_was_left_open_lowers_nothing(
    space: Callable[[LateJudge], Memories],
) -> None:
    space(LateJudge()).remember(wording(0, 0), category="fact")
    imported(space(LateJudge(answers=0)), wording(0, 1))

    memories = space(LateJudge())
    memories.tend()

    known = found(memories)[wording(0, 0)]
    assert (known.confidence, known.superseded_by) == (0.7, None)
    assert [link.kind for link, _ in memories.linked(known.id)] == ["contradicts"]


def test_the_upkeep_judges_no_pair_that_was_judged(
    space: Callable[[LateJudge], Memories], clock: FixedClock
) -> None:
    first, second, third = LateJudge(), LateJudge(), LateJudge()
    imported(space(first), *(wording(number, 0) for number in range(12)))

    clock.advance(hours=1)
    space(second).tend()
    clock.advance(hours=1)
    space(third).tend()

    asked = [*first.asked, *second.asked, *third.asked]
    assert second.asked != []
    assert len(asked) == len(set(asked))


def test_a_model_that_is_late_in_the_middle_has_judged_what_came_before(
    space: Callable[[LateJudge], Memories],
) -> None:
    imported(space(LateJudge()), *(wording(2 * number, 0) for number in range(20)))
    late = LateJudge(answers=20)
    outcomes = imported(space(late), *(wording(2 * number, 1) for number in range(20)))

    memories = space(LateJudge())
    memories.tend()

    assert 0 < outcomes.count("Contradicting") < 20
    assert all(found(memories)[wording(2 * number, 0)].superseded_by for number in range(20))
