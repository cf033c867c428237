"""A message that agents may not be given lends nothing to those around it: none is given in its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast import Memories
from holdfast.domain.memory import Source
from holdfast.domain.ranking import MessageHit
from holdfast.engine import changes
from holdfast.engine.sessions import NewMessage
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import kept

TALK = (
    "Good morning, shall we start?",
    "The door code of the cellar is 4711.",
    "I'll get it done in the afternoon then.",
    "The weather is lovely today.",
)
QUESTION = "what is the code of the cellar door"
Withhold = Callable[[Memories, str, FixedClock], object]


def believed(memories: Memories, memory: str, clock: FixedClock) -> None:
    """Nothing is done to it."""


def superseded(memories: Memories, memory: str, clock: FixedClock) -> None:
    newer = kept(memories.remember("Otto likes green tea with milk", category="fact"))
    with memories.store.write(memories.space) as tx:
        changes.connect(tx, newer.id, memory, "supersedes", source=Source(), now=clock.now())


def below_the_floor(memories: Memories, memory: str, clock: FixedClock) -> None:
    memories.revise(memory, confidence=0.1)


def given(memories: Memories, withhold: Withhold, clock: FixedClock, **more: str) -> list[str]:
    """The messages that a question brings up, other than the one that answers it."""
    messages = memories.say_all("talk", [NewMessage(role="user", content=text) for text in TALK])
    speaker = memories.speaking_as("user", session="talk")
    memory = kept(speaker.remember(TALK[1], category="fact", message=messages[1].id, **more))  # type: ignore[arg-type]
    memories.tend()

    withhold(memories, memory.id, clock)

    hits = memories.recall(QUESTION, threshold=0.1, limit=20).hits
    return [hit.message.content or "" for hit in hits if isinstance(hit, MessageHit)]


def test_what_may_be_quoted_lends_its_meaning_to_its_neighbours(
    memories: Memories, clock: FixedClock
) -> None:
    assert TALK[2] in given(memories, believed, clock)


@requirement("trust.quoted")
@pytest.mark.parametrize(
    "withhold",
    [lambda memories, memory, _: memories.forget(memory), superseded, below_the_floor],
    ids=["forgotten", "superseded", "inactive"],
)
def test_no_neighbour_is_given_in_place_of_what_is_withheld(
    memories: Memories, clock: FixedClock, withhold: Withhold
) -> None:
    assert given(memories, withhold, clock) == []


@requirement("trust.quoted")
def test_no_neighbour_is_given_in_place_of_what_waits(memories: Memories, clock: FixedClock) -> None:
    assert given(memories, believed, clock, doubtful="seen in a file") == []


@requirement("trust.off-record")
def test_no_neighbour_is_given_in_place_of_what_is_off_the_record(memories: Memories) -> None:
    off = f"Off the record: {TALK[1]}"
    memories.say_all("talk", [NewMessage(role="user", content=text) for text in (TALK[0], off, *TALK[2:])])
    memories.tend()

    assert memories.recall(QUESTION, threshold=0.1, limit=20).hits == ()


@requirement("trust.quoted")
def test_what_is_withheld_does_not_lower_the_bar_for_others(memories: Memories) -> None:
    """An answer beyond doubt lets weaker ones pass; one that nobody is given does not."""
    answer = memories.say("talk", "user", TALK[1])
    memories.say("other", "user", "The garage door opens with a remote.")
    memory = kept(memories.remember(TALK[1], category="fact", message=answer.id))
    memories.tend()
    assert any(isinstance(hit, MessageHit) for hit in memories.recall(QUESTION).hits)

    memories.forget(memory.id)

    assert memories.recall(QUESTION).hits == ()
