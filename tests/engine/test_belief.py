"""Belief in the database: what the arithmetic gives, kept, shown and used by the verbs."""

from __future__ import annotations

import pytest

from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import Contradicting, settled
from holdfast.domain.query import Filter
from holdfast.engine.memories import Memories
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.engine.scripted_judge import ScriptedJudge, wording
from tests.requirements_ledger import requirement


@pytest.fixture
def ops(store: Store, clock: FixedClock) -> Memories:
    create_space("ops", store=store, clock=clock, profile="ops")
    return Memories.of(store, "ops", clock=clock, judge=ScriptedJudge())


def remembered(ops: Memories, confidence: float | None = None, fact: int = 0) -> Memory:
    memory = settled(ops.remember(wording(fact, 0), category="timing", subject="web", confidence=confidence))
    assert memory is not None
    return memory


def now_held(ops: Memories, memory: Memory) -> tuple[float, str]:
    found = ops.show(memory.id).memory
    return found.confidence, found.state


@requirement("ops.decay.fresh", "ops.decay.stale", "ops.decay.deactivate")
@pytest.mark.parametrize(
    ("confidence", "days", "left"),
    [
        (0.7, 15, (0.7, "active")),
        (0.7, 36, (0.7, "active")),
        (0.7, 44, (0.5, "active")),
        (0.4, 44, (0.2, "inactive")),
    ],
)
def test_tend_takes_off_what_the_weeks_cost(
    ops: Memories, clock: FixedClock, confidence: float, days: int, left: tuple[float, str]
) -> None:
    memory = remembered(ops, confidence)
    clock.advance(days=days)

    ops.tend()

    assert now_held(ops, memory) == left
    assert ops.show(memory.id).memory.confirmed_at == memory.confirmed_at


@requirement("ops.decay.idempotent")
def test_ten_weekly_runs_equal_one_late_run_and_a_second_run_changes_nothing(
    store: Store, clock: FixedClock
) -> None:
    held = {}
    for name, days in (("weekly", 7), ("late", 70)):
        own = FixedClock()
        create_space(name, store=store, clock=own, profile="ops")
        space = Memories.of(store, name, clock=own, judge=ScriptedJudge())
        memory = remembered(space, 1.0)
        own.advance(days=30)
        for _ in range(70 // days):
            own.advance(days=days)
            space.tend()
        before = list(space.export())
        assert space.tend().decayed == ()
        assert list(space.export()) == before
        held[name] = now_held(space, memory)

    assert held["weekly"] == held["late"] == (0.2, "inactive")


def test_a_clock_set_back_changes_nothing(ops: Memories, clock: FixedClock) -> None:
    memory = remembered(ops, 0.7)
    clock.advance(days=44)
    ops.tend()
    clock.advance(days=-400)

    assert ops.tend().decayed == ()
    assert now_held(ops, memory) == (0.5, "active")


@requirement("ops.decay.idempotent")
def test_decay_runs_at_session_start_before_the_brief(ops: Memories, clock: FixedClock) -> None:
    memory = remembered(ops, 0.4)
    clock.advance(days=44)

    block = ops.speaking_as("assistant", session="late").brief()

    assert block.text == ""
    assert now_held(ops, memory) == (0.2, "inactive")


@requirement("ops.reinforce.cap")
def test_reinforcement_stops_at_1_and_a_session_counts_once(ops: Memories) -> None:
    memory = remembered(ops)
    speaker = ops.speaking_as("assistant", session="s1")

    for _ in range(3):
        speaker.remember(wording(0, 0, "b"), category="timing", subject="web")
    assert now_held(ops, memory) == (0.8, "active")
    for _ in range(9):
        ops.remember(wording(0, 0, "b"), category="timing", subject="web")

    assert now_held(ops, memory) == (1.0, "active")


@requirement("ops.reinforce.cap")
def test_the_session_that_wrote_a_memory_does_not_reinforce_it(ops: Memories) -> None:
    speaker = ops.speaking_as("assistant", session="s1")
    memory = settled(speaker.remember(wording(0, 0), category="timing", subject="web"))
    assert memory is not None

    speaker.remember(wording(0, 0, "b"), category="timing", subject="web")

    assert now_held(ops, memory) == (0.7, "active")


@requirement("ops.contradict.deactivate")
def test_a_contradiction_that_leaves_0_2_makes_inactive(ops: Memories) -> None:
    memory = remembered(ops, 0.4)

    outcome = ops.remember(wording(0, 1), category="timing", subject="web")

    assert isinstance(outcome, Contradicting)
    assert outcome.memory.confidence == 0.7
    assert now_held(ops, memory) == (0.2, "inactive")


@requirement("ops.inactive.kept")
def test_an_inactive_memory_is_kept_but_neither_recalled_nor_in_a_brief(ops: Memories) -> None:
    memory = remembered(ops, 0.2)

    assert ops.recall("fact0", threshold=0.0).hits == ()
    assert ops.brief().text == ""
    assert ops.find(Filter(states=("inactive",))).memories == (memory,)
    assert ops.revise(memory.id, wording(0, 0, "b")).memory.state == "inactive"
    ops.forget(memory.id)
    assert ops.find(Filter(states=("inactive",))).total == 0


@requirement("ops.inactive.reactivate")
def test_raising_an_inactive_memory_to_the_floor_makes_it_active_and_found(ops: Memories) -> None:
    memory = remembered(ops, 0.2)

    ops.revise(memory.id, confidence=0.29)
    assert now_held(ops, memory) == (0.29, "inactive")
    ops.revise(memory.id, confidence=0.3)

    assert now_held(ops, memory) == (0.3, "active")
    assert [hit.memory.id for hit in ops.recall("fact0", threshold=0.0).memories] == [memory.id]
    assert ops.brief().included == (memory.id,)
