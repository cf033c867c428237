"""A clock that is far ahead: nothing fades by it, until somebody says that it is right."""

from __future__ import annotations

import pytest

from holdfast import Memories
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add


@pytest.fixture
def ops(store: Store, clock: FixedClock) -> Memories:
    create_space("ops", store=store, clock=clock, profile="ops")
    memories = Memories.of(store, "ops", clock=clock)
    add(memories, "Takes 60s to start after a restart", category="timing", subject="jellyfin")
    clock.advance(days=8)
    return memories


def confidence(memories: Memories) -> float:
    return memories.find().memories[0].confidence


@requirement("ops.decay.idempotent")
def test_nothing_fades_by_a_clock_that_is_400_days_ahead(ops: Memories, clock: FixedClock) -> None:
    clock.advance(days=400)

    brief = ops.speaking_as("assistant", session="s1").brief()
    done = ops.tend()
    plan = ops.tend_preview()

    assert "Takes 60s to start" in brief.text
    assert done.decayed == ()
    assert done.clock_doubt is not None
    assert "408 days earlier: confidence decay is paused" in done.clock_doubt
    assert (plan.decayed, plan.clock_doubt) == ((), done.clock_doubt)
    assert confidence(ops) == 0.7


def test_what_is_written_under_a_wrong_clock_does_not_vouch_for_it(ops: Memories, clock: FixedClock) -> None:
    clock.advance(days=400)
    add(ops, "Needs the network before it starts", category="dependency", subject="jellyfin")

    ops.brief()
    ops.tend()
    ops.open_session("s2")

    assert {memory.confidence for memory in ops.find().memories} == {0.7}


def test_who_knows_that_the_clock_is_right_lets_it_fade(ops: Memories, clock: FixedClock) -> None:
    clock.advance(days=400)

    done = ops.tend(clock_is_right=True)

    assert len(done.decayed) == 1
    assert done.clock_doubt is None


def test_a_pause_of_half_a_year_raises_no_doubt(ops: Memories, clock: FixedClock) -> None:
    clock.advance(days=170)

    assert len(ops.tend().decayed) == 1


def test_a_fade_is_a_session_that_can_be_undone(ops: Memories, clock: FixedClock) -> None:
    clock.advance(days=60)
    done = ops.tend()
    assert done.session is not None

    undone = ops.undo_session(done.session)

    assert [memory.confidence for memory in undone.changed] == [0.7]
    assert undone.changed[0].active
