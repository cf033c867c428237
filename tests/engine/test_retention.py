"""What had its time is archived by the profile's rules: out of sight, listed, restorable, never deleted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from holdfast import Filter, Invalid, Memories, Memory
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.profiles import parse
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement

RULES = """
name = "kept"
says = "A style with rules of retention."
default_category = "note"
[[category]]
name = "note"
[[category]]
name = "talk"
keep_days = 90
[[category]]
name = "log"
keep_most = 3
[[category]]
name = "plan"
unused_days = 500
[limits]
[policy]
on_same = "reinforce"
on_contradiction = "weaken"
removal = "soft"
reinforce_by = 0.1
floor = 0.3
unused_days = 200
[block]
layout = "by-category"
title = "Memory"
"""


@pytest.fixture
def ruled(store: Store, clock: FixedClock) -> Memories:
    """A space whose profile has every rule."""
    create_space("kept", store=store, clock=clock, text=RULES)
    return Memories.of(store, "kept", clock=clock)


@pytest.fixture
def space(store: Store, clock: FixedClock) -> Callable[[str], Memories]:
    def made(profile: str) -> Memories:
        create_space(profile, store=store, clock=clock, profile=profile)
        return Memories.of(store, profile, clock=clock)

    return made


def kept(memories: Memories, content: str, category: str | None = None) -> Memory:
    outcome = memories.remember(content, category=category)
    memory = getattr(outcome, "memory", None)
    assert isinstance(memory, Memory)
    return memory


def state(memories: Memories, memory: Memory) -> str:
    return memories.show(memory.id).memory.state


@requirement("sem.expiry")
def test_what_nobody_used_for_a_year_is_archived_listed_and_restorable(
    space: Callable[[str], Memories], clock: FixedClock
) -> None:
    semantic = space("semantic")
    memory = kept(semantic, "We moved the broker to its own host")
    clock.advance(days=364)
    early = semantic.tend()
    clock.advance(days=1)

    done = semantic.tend()

    assert early.archived == ()
    assert [(one.id, reason) for one, reason in done.archived] == [(memory.id, "not used for 365 days")]
    assert semantic.recall("broker").hits == ()
    assert [one.id for one in semantic.find(Filter(states=("inactive",))).memories] == [memory.id]
    assert semantic.why(memory.id).entries[-1].action == "archived"
    assert semantic.restore(memory.id).active
    assert [hit.memory.id for hit in semantic.recall("broker").memories] == [memory.id]
    assert semantic.tend().archived == ()


@requirement("sem.expiry")
def test_what_is_used_stays_however_old(ruled: Memories, clock: FixedClock) -> None:
    asked = kept(ruled, "The gateway is reached at port 8443")
    briefed = kept(ruled, "Miriam is our landlord")
    for _ in range(3):
        clock.advance(days=150)
        ruled.recall("which port has the gateway")
        ruled.speaking_as("assistant", session=f"run-{clock.now():%Y%m%d}").brief()
        ruled.tend()

    assert (state(ruled, asked), state(ruled, briefed)) == ("active", "active")


@requirement("sem.expiry")
def test_pinned_memories_are_exempt(ruled: Memories, clock: FixedClock) -> None:
    memory = kept(ruled, "The gateway is reached at port 8443")
    ruled.revise(memory.id, pinned=True)
    clock.advance(days=5_000)

    ruled.tend()

    assert state(ruled, memory) == "active"


def test_being_used_is_not_being_verified(ruled: Memories, clock: FixedClock) -> None:
    """A talk is recalled day by day, which confirms nothing: the rule of age still holds."""
    memory = kept(ruled, "We talked about the gateway", "talk")
    began = clock.now()
    clock.advance(days=60)
    ruled.recall("gateway talk")
    used = ruled.show(memory.id).memory
    clock.advance(days=30)

    done = ruled.tend()

    assert (used.accessed_at, used.confirmed_at) == (began + timedelta(days=60), began)
    assert [reason for _, reason in done.archived] == ["not confirmed for 90 days"]


def test_of_a_category_the_last_used_stay(ruled: Memories, clock: FixedClock) -> None:
    logs = []
    for text in ("Mail went down", "Printer got toner", "Otto rang", "Lift was mended", "Rent was paid"):
        clock.advance(days=1)
        logs.append(kept(ruled, text, "log"))
    clock.advance(days=1)
    assert [hit.memory.id for hit in ruled.recall("when went mail down").memories] == [logs[0].id]

    done = ruled.tend()

    assert [memory.id for memory, _ in done.archived] == [logs[1].id, logs[2].id]
    assert all(
        reason == "log keeps only the 3 most recently used or confirmed" for _, reason in done.archived
    )


def test_a_category_may_be_kept_longer_than_the_policy_says(ruled: Memories, clock: FixedClock) -> None:
    plan = kept(ruled, "Move the archive to the new building", "plan")
    note = kept(ruled, "The old building has no lift", "note")
    clock.advance(days=300)

    ruled.tend()

    assert (state(ruled, plan), state(ruled, note)) == ("active", "inactive")


@requirement("sem.expiry")
def test_two_years_archive_exactly_what_the_rules_say_and_delete_nothing(
    ruled: Memories, clock: FixedClock
) -> None:
    born = {}
    for day in range(0, 730, 73):
        born[kept(ruled, f"Meter {day} was read by inspector number {day * 7}", "note").id] = clock.now()
        clock.advance(days=73)
        previewed = [each.memory.id for each in ruled.tend_preview().archived]
        assert [memory.id for memory, _ in ruled.tend().archived] == previewed

    expected = {one for one, moment in born.items() if clock.now() - moment >= timedelta(days=200)}
    archived = {one.id for one in ruled.find(Filter(states=("inactive",))).memories}
    assert archived == expected
    assert ruled.find(Filter(states=("active", "inactive"))).total == len(born)


def test_a_preview_changes_nothing_and_tells_what_comes(ruled: Memories, clock: FixedClock) -> None:
    memory = kept(ruled, "We talked about the gateway", "talk")
    clock.advance(days=100)

    plan = ruled.tend_preview()

    assert [(each.memory.id, each.reason) for each in plan.archived] == [
        (memory.id, "not confirmed for 90 days")
    ]
    assert state(ruled, memory) == "active"


def test_an_archived_memory_comes_back_when_its_belief_is_set(ruled: Memories, clock: FixedClock) -> None:
    memory = kept(ruled, "The old building has no lift")
    clock.advance(days=300)
    ruled.tend()

    ruled.revise(memory.id, confidence=0.9)

    assert state(ruled, memory) == "active"
    assert ruled.tend().archived == ()


@pytest.mark.parametrize("rule", ["keep_days = -1", "unused_days = 99999", "keep_most = 2000000"])
def test_an_impossible_rule_is_refused_with_its_line(rule: str) -> None:
    text = RULES.replace("keep_days = 90", rule)

    with pytest.raises(Invalid, match=r"line 9: .*of 'talk': expected 0 to"):
        parse(text)
