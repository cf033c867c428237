"""Belief arithmetic: clamping, rounding, reinforcement, contradiction and decay, whatever the figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.confidence import WEEK, believed, decayed, reinforced, weakened
from holdfast.domain.memory import Memory, State
from holdfast.domain.profile import Policy
from holdfast.profiles import built_in
from tests.requirements_ledger import requirement

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OPS = built_in("ops").policy

SHARES = st.floats(0, 1).map(lambda share: round(share, 4))
ANY_NUMBER = st.floats(allow_nan=False)
STATES: st.SearchStrategy[State] = st.sampled_from(("active", "inactive", "waiting", "forgotten"))
STEPS = st.sampled_from((0.05, 0.1, 0.15, 0.2, 0.33))
POLICIES = st.builds(
    Policy,
    on_same=st.just("reinforce"),
    on_contradiction=st.just("weaken"),
    removal=st.just("soft"),
    floor=st.sampled_from((0.0, 0.1, 0.3, 0.5)),
    reinforce_by=STEPS,
    weaken_by=STEPS,
    decay_by=STEPS,
    decay_after_days=st.integers(0, 60),
)


def memory(confidence: float = 0.7, *, state: State = "active", confirmed_at: datetime = NOON) -> Memory:
    return Memory(
        id="aaaaaaaa",
        space="ops",
        category="timing",
        content="Takes 60s to start",
        confidence=confidence,
        state=state,
        created_at=NOON,
        updated_at=NOON,
        confirmed_at=confirmed_at,
    )


def settled(confidence: float, policy: Policy) -> Memory:
    """A memory whose state fits its confidence."""
    return believed(memory(), confidence, policy)


# ------------------------------------------------------------------------------------- clamping and rounding


@requirement("ops.confidence.clamped")
@given(ANY_NUMBER, POLICIES)
def test_confidence_stays_between_0_and_1(confidence: float, policy: Policy) -> None:
    held = believed(memory(), confidence, policy).confidence

    assert 0.0 <= held <= 1.0
    assert held == round(held, 4)


@requirement("ops.confidence.clamped")
@pytest.mark.parametrize(("given_one", "held"), [(1.5, 1.0), (-1.0, 0.0), (0.7 + 0.1, 0.8), (0.1 + 0.2, 0.3)])
def test_confidence_is_held_as_a_short_decimal(given_one: float, held: float) -> None:
    assert believed(memory(), given_one, OPS).confidence == held


@given(SHARES, STATES, POLICIES)
def test_active_and_inactive_follow_the_floor_and_other_states_stay(
    confidence: float, state: State, policy: Policy
) -> None:
    held = believed(memory(state=state), confidence, policy)

    if state in ("waiting", "forgotten"):
        assert held.state == state
    else:
        assert held.active == (confidence >= policy.floor)


# -------------------------------------------------------------------------- reinforcement and contradiction


@requirement("ops.reinforce.cap")
@given(SHARES, POLICIES, st.integers(1, 60))
def test_reinforcement_never_lowers_and_stops_at_1(confidence: float, policy: Policy, times: int) -> None:
    held = settled(confidence, policy)

    for count in range(times):
        stronger = reinforced(held, policy, NOON + timedelta(days=count))
        assert held.confidence <= stronger.confidence <= 1.0
        held = stronger

    assert held.confidence == min(round(confidence + times * policy.reinforce_by, 4), 1.0)


@given(SHARES, POLICIES)
def test_reinforcement_confirms_and_contradiction_does_not(confidence: float, policy: Policy) -> None:
    later = NOON + timedelta(days=3)

    stronger = reinforced(memory(confidence), policy, later)
    weaker = weakened(memory(confidence), policy)

    assert (stronger.confirmed_at, stronger.updated_at, stronger.decayed_weeks) == (later, later, 0)
    assert (weaker.confirmed_at, weaker.updated_at) == (NOON, NOON)
    assert weaker.confidence == max(round(confidence - policy.weaken_by, 4), 0.0)


@requirement("ops.contradict.deactivate")
def test_0_4_less_0_2_is_inactive() -> None:
    weaker = weakened(memory(0.4), OPS)

    assert (weaker.confidence, weaker.state) == (0.2, "inactive")


@requirement("ops.inactive.reactivate")
@pytest.mark.parametrize(("confidence", "state"), [(0.29, "inactive"), (0.3, "active"), (0.9, "active")])
def test_an_inactive_memory_is_active_again_from_the_floor_on(confidence: float, state: State) -> None:
    assert believed(memory(0.2, state="inactive"), confidence, OPS).state == state


# ------------------------------------------------------------------------------------------------------ decay


@requirement("ops.decay.fresh", "ops.decay.stale", "ops.decay.deactivate")
@pytest.mark.parametrize(
    ("confidence", "days", "left", "state"),
    [
        (0.7, 15, 0.7, "active"),
        (0.7, 30, 0.7, "active"),
        (0.7, 36, 0.7, "active"),
        (0.7, 37, 0.6, "active"),
        (0.7, 44, 0.5, "active"),
        (0.4, 44, 0.2, "inactive"),
        (1.0, 10_000, 0.2, "inactive"),
        (0.3, 37, 0.2, "inactive"),
    ],
)
def test_unconfirmed_weeks_after_the_grace_cost_a_tenth_each(
    confidence: float, days: int, left: float, state: State
) -> None:
    older = decayed(memory(confidence), OPS, NOON + timedelta(days=days))

    assert (older.confidence, older.state) == (left, state)


@requirement("ops.decay.idempotent")
@given(SHARES, POLICIES, st.integers(0, 120))
def test_one_late_run_equals_weekly_runs(confidence: float, policy: Policy, weeks: int) -> None:
    start = settled(confidence, policy)
    grace = timedelta(days=policy.decay_after_days)
    weekly = start

    for week in range(weeks + 1):
        weekly = decayed(weekly, policy, NOON + grace + week * WEEK)
    late = decayed(start, policy, NOON + grace + weeks * WEEK)

    assert late == weekly


@requirement("ops.decay.idempotent")
@given(SHARES, POLICIES, st.lists(st.integers(-400, 900), max_size=12))
def test_decay_depends_on_the_latest_moment_alone(confidence: float, policy: Policy, days: list[int]) -> None:
    start = settled(confidence, policy)
    stepwise = start

    for day in days:
        stepwise = decayed(stepwise, policy, NOON + timedelta(days=day))

    assert stepwise == decayed(start, policy, NOON + timedelta(days=max(days, default=0)))


@requirement("ops.decay.idempotent")
@given(SHARES, POLICIES, st.integers(0, 900))
def test_running_decay_twice_changes_nothing(confidence: float, policy: Policy, days: int) -> None:
    once = decayed(settled(confidence, policy), policy, NOON + timedelta(days=days))

    assert decayed(once, policy, NOON + timedelta(days=days)) == once


@given(SHARES, POLICIES, st.integers(0, 900), st.integers(0, 900))
def test_a_clock_set_back_changes_nothing(confidence: float, policy: Policy, days: int, back: int) -> None:
    once = decayed(settled(confidence, policy), policy, NOON + timedelta(days=days))

    assert decayed(once, policy, NOON + timedelta(days=days - back)) == once


@given(SHARES, POLICIES, st.integers(0, 2_000))
def test_decay_stops_at_the_first_step_under_the_floor(confidence: float, policy: Policy, days: int) -> None:
    start = settled(confidence, policy)

    older = decayed(start, policy, NOON + timedelta(days=days))

    assert older.confidence >= 0.0
    if not start.active:
        assert older == start
    elif not older.active:
        assert older.confidence == max(round(older.confidence, 4), 0.0)
        assert older.confidence + policy.decay_by >= policy.floor - 1e-9


@given(SHARES, POLICIES, st.integers(0, 900))
def test_decay_leaves_the_dates_alone(confidence: float, policy: Policy, days: int) -> None:
    older = decayed(settled(confidence, policy), policy, NOON + timedelta(days=days))

    assert (older.created_at, older.updated_at, older.confirmed_at) == (NOON, NOON, NOON)


@pytest.mark.parametrize("state", ["inactive", "waiting", "forgotten"])
def test_only_active_memories_decay(state: State) -> None:
    kept = memory(state=state)

    assert decayed(kept, OPS, NOON + timedelta(days=900)) == kept


def test_a_pinned_memory_does_not_decay() -> None:
    pinned = replace(memory(), pinned=True)

    assert decayed(pinned, OPS, NOON + timedelta(days=900)) == pinned


@requirement("ops.confidence.default")
def test_the_default_profile_does_not_decay() -> None:
    assert decayed(memory(), built_in("default").policy, NOON + timedelta(days=9_000)) == memory()
