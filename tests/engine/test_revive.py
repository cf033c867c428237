"""An archived memory that is said again comes back; one that a person took away does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast import Filter, Memories, Memory
from holdfast.domain.outcomes import Added, Contradicting, Merged, Outcome, Refused, Reinforced, Waiting
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import fill

RULES = """
name = "kept"
says = "A style with rules of retention."
default_category = "note"
[[category]]
name = "note"
[[category]]
name = "log"
keep_most = 2
[limits]
[policy]
on_same = "reinforce"
on_contradiction = "weaken"
removal = "soft"
reinforce_by = 0.1
weaken_by = 0.2
raise_importance_by = 1
floor = 0.3
unused_days = 200
[block]
layout = "by-category"
title = "Memory"
"""
GATEWAY = "The gateway is reached at port 8443"
REWORDED = "Port 8443 is where the gateway is reached"


@pytest.fixture
def space(store: Store, clock: FixedClock) -> Callable[..., Memories]:
    """Makes a space whose profile archives what was not used for 200 days."""

    def made(on_same: str = "reinforce") -> Memories:
        text = RULES.replace('on_same = "reinforce"', f'on_same = "{on_same}"')
        create_space("kept", store=store, clock=clock, text=text)
        return Memories.of(store, "kept", clock=clock)

    return made


def archived(memories: Memories, clock: FixedClock, content: str = GATEWAY) -> Memory:
    """A memory that nobody used for long enough."""
    outcome = memories.remember(content)
    assert isinstance(outcome, Added)
    clock.advance(days=200)
    assert [one.id for one, _ in memories.tend().archived] == [outcome.memory.id]
    return outcome.memory


def everything(memories: Memories) -> list[tuple[str, str]]:
    found = memories.find(Filter(states=("active", "inactive", "waiting"))).memories
    return [(memory.id, memory.state) for memory in found]


@requirement("sem.expiry")
@pytest.mark.parametrize("wording", [GATEWAY, REWORDED])
def test_it_comes_back_reinforced_and_its_history_says_why(
    space: Callable[..., Memories], clock: FixedClock, wording: str
) -> None:
    memories = space()
    known = archived(memories, clock)

    outcome = memories.remember(wording)

    entries = memories.why(known.id).entries
    assert isinstance(outcome, Reinforced)
    assert (outcome.memory.id, outcome.memory.active) == (known.id, True)
    assert outcome.previous.state == "inactive"
    assert outcome.memory.confidence == round(known.confidence + 0.1, 4)
    assert everything(memories) == [(known.id, "active")]
    assert [entry.action for entry in entries] == ["added", "archived", "restored", "reinforced"]
    assert entries[2].note == "repeated after it was archived"
    assert [hit.memory.id for hit in memories.recall("which port has the gateway").memories] == [known.id]
    assert memories.tend().archived == ()


@pytest.mark.parametrize(
    ("on_same", "becomes"), [("merge", Merged), ("overwrite", Merged), ("suggest", Reinforced)]
)
def test_every_policy_brings_it_back(
    space: Callable[..., Memories], clock: FixedClock, on_same: str, becomes: type[Outcome]
) -> None:
    memories = space(on_same)
    known = archived(memories, clock)

    outcome = memories.remember(REWORDED)

    assert isinstance(outcome, becomes)
    assert everything(memories) == [(known.id, "active")]


def test_an_archived_note_that_is_written_anew_under_its_name_is_in_use_again(
    store: Store, clock: FixedClock
) -> None:
    text = RULES.replace("[policy]", "[policy]\nsubject_is_key = true")
    create_space("named", store=store, clock=clock, text=text)
    memories = Memories.of(store, "named", clock=clock)
    memories.remember(GATEWAY, subject="gateway")
    clock.advance(days=200)
    memories.tend()

    outcome = memories.remember("The gateway moved to another rack", subject="gateway")

    assert isinstance(outcome, Merged)
    assert everything(memories) == [(outcome.memory.id, "active")]


def test_among_many_archived_ones_the_very_words_are_found(
    space: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = space()
    known = archived(memories, clock)
    fill(memories, [f"Ticket {number} was about floor {number * 7}" for number in range(60)])
    clock.advance(days=200)
    memories.tend()

    memories.remember(GATEWAY)

    assert [one.id for one in memories.find().memories] == [known.id]


def test_what_its_category_had_no_room_for_comes_back_in_the_same_session(
    space: Callable[..., Memories], clock: FixedClock
) -> None:
    agent = space().speaking_as("assistant", session="run")
    texts = ("Mail went down", "Otto rang", "Rent was paid")
    for text in texts:
        clock.advance(days=1)
        agent.remember(text, category="log")
    agent.tend()

    outcome = agent.remember(texts[0], category="log")

    assert isinstance(outcome, Reinforced)
    assert (outcome.previous.state, outcome.memory.state) == ("inactive", "active")
    assert outcome.memory.confidence == outcome.previous.confidence
    assert len(everything(agent)) == 3


def test_it_comes_back_against_what_contradicts_it_now(
    space: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = space()
    old = archived(memories, clock)
    newer = memories.remember("The gateway is reached at port 9443")
    assert isinstance(newer, Added)

    outcome = memories.speaking_as("operator", session="again").remember(GATEWAY)

    assert isinstance(outcome, Contradicting)
    assert (outcome.memory.id, outcome.memory.active) == (old.id, True)
    (weaker,) = outcome.weakened
    assert weaker.confidence == round(newer.memory.confidence - 0.2, 4)
    assert memories.why(newer.memory.id).entries[-1].session == "again"


@requirement("trust.tombstone")
def test_what_a_person_forgot_after_it_was_archived_stays_away(
    space: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = space()
    known = archived(memories, clock)
    memories.forget(known.id)

    outcome = memories.remember(GATEWAY)

    assert isinstance(outcome, Refused)
    assert everything(memories) == []


def test_what_is_no_longer_believed_is_not_brought_back(
    space: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = space()
    doubted = memories.remember(GATEWAY, confidence=0.2)
    assert isinstance(doubted, Added)

    outcome = memories.remember(GATEWAY)

    assert isinstance(outcome, Added)
    assert memories.show(doubted.memory.id).memory.state == "inactive"


def test_a_draft_that_has_to_wait_brings_nothing_back(
    space: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = space()
    known = archived(memories, clock)

    outcome = memories.remember(GATEWAY, doubtful="somebody should look")

    assert isinstance(outcome, Waiting)
    assert memories.show(known.id).memory.state == "inactive"


def test_what_nobody_vouched_for_brings_no_trusted_memory_back(
    space: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = space()
    known = archived(memories, clock)

    outcome = memories.speaking_as("tool").remember(GATEWAY)

    assert isinstance(outcome, Added)
    assert outcome.memory.source.origin == "tool"
    assert memories.show(known.id).memory.state == "inactive"


def test_a_file_that_is_read_again_changes_nothing(space: Callable[..., Memories], clock: FixedClock) -> None:
    memories = space()
    reader = memories.speaking_as("import", session="import-1")
    known = archived(reader, clock)

    outcome = reader.remember(GATEWAY)

    assert isinstance(outcome, Reinforced)
    assert not outcome.counted
    assert everything(memories) == [(known.id, "inactive")]


@requirement("trust.undo-session")
def test_undoing_the_session_that_said_it_again_archives_it_as_before(
    space: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = space()
    known = archived(memories, clock)
    before = memories.show(known.id).memory
    memories.speaking_as("user", session="talk").remember(GATEWAY)

    memories.undo_session("talk")

    after = memories.show(known.id).memory
    assert (after.state, after.confidence, after.confirmed_at) == (
        "inactive",
        before.confidence,
        before.confirmed_at,
    )
