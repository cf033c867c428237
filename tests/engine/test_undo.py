"""undo: what one speaker just did, taken back; and lists that go on behind a place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import Contradicting, settled
from holdfast.domain.query import EVERYTHING, Filter, Group, MemoryCursor, Order, in_order
from holdfast.engine.revise import Revised
from holdfast.errors import Conflict, NotFound
from holdfast.testing import FixedClock


@pytest.fixture
def memories(database_url: str, clock: FixedClock) -> Iterator[Memories]:
    from holdfast.engine.administration import Administration

    store = open_store(database_url)
    Administration(store, clock=clock).create_space("ops", profile="ops")
    Administration(store, clock=clock).create_space("helper", profile="assistant")
    yield Memories.of(store, "ops", clock=clock)
    store.close()


def made(memories: Memories, content: str, **fields: object) -> Memory:
    found = settled(memories.remember(content, **{"category": "timing", **fields}))  # type: ignore[arg-type]
    assert found is not None
    return found


def test_a_change_is_taken_back_with_belief_labels_and_wording(memories: Memories, clock: FixedClock) -> None:
    memory = made(memories, "Takes 60s to start", tags=["boot"])
    since = memories.last_change()
    clock.advance(days=1)
    memories.revise(memory.id, "Takes 70s to start", confidence=0.1, tags=[], pinned=True)
    memories.revise(memory.id, "Takes 80s to start")

    [back] = memories.undo(memory.id, since=since)

    assert (back.content, back.confidence, back.tags, back.pinned, back.state) == (
        "Takes 60s to start", 0.7, ("boot",), False, "active",
    )  # fmt: skip
    assert (back.updated_at, back.confirmed_at) == (memory.updated_at, memory.confirmed_at)
    assert [version.content for version in memories.show(memory.id).versions][-1] == "Takes 60s to start"
    assert memories.why(memory.id).entries[-1].action == "undone"


def test_what_was_added_goes_and_may_be_said_again_and_what_it_weakened_is_believed_as_before(
    memories: Memories,
) -> None:
    old = made(memories, "Must be started after WireGuard", category="dependency", subject="caddy")
    since = memories.last_change()
    new = memories.remember(
        "Can be started independently of WireGuard", category="dependency", subject="caddy"
    )
    assert isinstance(new, Contradicting)
    assert memories.show(old.id).memory.confidence == 0.5

    memories.undo(new.memory.id, old.id, since=since)

    assert [memory.id for memory in memories.find().memories] == [old.id]
    assert memories.show(old.id).memory.confidence == 0.7
    again = memories.remember(
        "Can be started independently of WireGuard", category="dependency", subject="caddy"
    )
    assert isinstance(again, Contradicting)


def test_what_was_forgotten_softly_comes_back_and_may_be_said(memories: Memories, clock: FixedClock) -> None:
    helper = Memories.of(memories.store, "helper", clock=clock)
    memory = made(helper, "Likes oat milk in her coffee", category="preference")
    since = helper.last_change()
    helper.forget(memory.id)

    [back] = helper.undo(memory.id, since=since)

    assert back.state == "active"
    assert [found.id for found in helper.find().memories] == [memory.id]


def test_all_or_nothing_is_taken_back_and_nothing_twice(memories: Memories) -> None:
    ours, theirs = (
        made(memories, "Takes 60s to start"),
        made(memories, "Listens on port 80", category="behavior"),
    )
    since = memories.last_change()
    for memory in (ours, theirs):
        memories.revise(memory.id, confidence=0.9)
    memories.speaking_as("assistant").revise(theirs.id, "Listens on port 81")

    with pytest.raises(Conflict, match="revised by assistant"):
        memories.undo(ours.id, theirs.id, since=since)
    assert memories.show(ours.id).memory.confidence == 0.9
    memories.undo(ours.id, since=since)
    with pytest.raises(Conflict, match="already undone"):
        memories.undo(ours.id, since=since)


def test_what_was_removed_for_good_can_not_be_taken_back(memories: Memories) -> None:
    memory = made(memories, "Takes 60s to start")
    since = memories.last_change()
    memories.forget(memory.id)

    with pytest.raises(NotFound, match="deleted permanently"):
        memories.undo(memory.id, since=since)


def test_every_order_and_group_goes_on_behind_a_place_as_it_does_in_python(
    memories: Memories, clock: FixedClock
) -> None:
    for number in range(23):
        clock.advance(minutes=number % 3)
        made(
            memories,
            f"Server {number} reboots at minute {number}",
            subject=(None, "b", "a", "B")[number % 4],
            category=("timing", "behavior")[number % 2],
            confidence=(0.2, 0.7, 0.7, 0.9)[number % 4],
        )
    everything = memories.find(EVERYTHING).memories

    for order in get_args(Order):
        for group in (None, *get_args(Group)):
            seen: list[Memory] = []
            place = None
            while page := memories.find(EVERYTHING, order=order, group=group, limit=4, after=place).memories:
                seen += page
                place = MemoryCursor.of(page[-1])
            expected = in_order(everything, order, group)
            assert [one.id for one in seen] == [one.id for one in expected], (order, group)


def test_a_text_is_found_in_wording_subject_summary_and_tags(memories: Memories) -> None:
    memory = made(
        memories, "Renews 100% of its_certificates", subject="Caddy", tags=["tls"], summary="about renewal"
    )
    made(memories, "Listens on port 80", category="behavior")

    for text in ("renews", "CADDY", "tls renewal", "100%", "its_c", "", "  "):
        found = {one.id for one in memories.find(Filter(text=text)).memories}
        assert memory.id in found, text
    for text in ("%", "renews port", "_x", "tls\\"):
        assert memory.id not in {one.id for one in memories.find(Filter(text=text)).memories} or text == "%"
    then = memories.find(Filter(text="caddy RENEWS"), as_of=memory.created_at).memories
    assert [one.id for one in then] == [memory.id]


def test_subjects_and_links_are_told_with_what_they_stand_for(memories: Memories) -> None:
    first = made(memories, "Takes 60s to start", subject="jellyfin")
    second = made(memories, "Listens on port 80", category="behavior", subject="jellyfin")
    made(memories, "Retry DNS checks once", category="remediation")
    memories.link(first.id, second.id, "elaborates")

    assert memories.subjects() == [("jellyfin", 2), (None, 1)]
    [(link, other)] = memories.linked(second.id)
    assert (link.kind, other.id) == ("elaborates", first.id)


def test_the_same_text_once_more_changes_nothing(memories: Memories, clock: FixedClock) -> None:
    memory = made(memories, "Takes 60s to start", tags=["boot"])
    before = memories.last_change()
    clock.advance(days=1)

    by_a_person = memories.revise(memory.id, "Takes 60s to start", tags=["boot"], confidence=0.7)
    by_a_tool = memories.speaking_as("tool").revise(memory.id, "Takes 60s to start")

    assert isinstance(by_a_person, Revised)
    assert isinstance(by_a_tool, Revised)
    assert by_a_person.memory == by_a_tool.memory == memory
    assert memories.last_change() == before
