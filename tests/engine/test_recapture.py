"""Reading kept messages again with another reader: what changes, what is left alone, and how it is undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.ports import Store
from holdfast.engine.sessions import NewMessage
from holdfast.testing import FixedClock
from tests.marking_reader import MarkingReader

TALK = [
    "The invoices service runs on host inv-7.",
    "So far so good with the weather today.",
    "We decided to use Kafka because replays matter.",
    "Thanks. Miriam owns the billing project since January.",
]
FIRST = MarkingReader({"The invoices": "fact", "So far so good": "fact", "Thanks. Miriam": "person"})
BETTER = MarkingReader({"The invoices": "fact", "We decided": "decision", "Miriam owns": "person"})


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with closing(open_store(database_url)) as opened:
        yield opened


def captured(store: Store, clock: FixedClock) -> Memories:
    """A store whose one session was captured by the first reader, open with the better one."""
    first = Memories.of(store, "default", clock=clock, builtin_model=FIRST)
    said = [
        NewMessage(role="user", content=text, message_id=f"m{number}")
        for number, text in enumerate(TALK, start=1)
    ]
    first.say_all("s", said)
    first.capture("s")
    return Memories.of(store, "default", clock=clock, builtin_model=BETTER)


def contents(memories: Memories) -> set[str]:
    return {memory.content for memory in memories.find().memories}


def test_a_dry_run_shows_what_would_change_and_changes_nothing(store: Store, clock: FixedClock) -> None:
    memories = captured(store, clock)
    before = contents(memories)

    found = memories.recapture(dry_run=True)

    assert found.added == (
        "We decided to use Kafka because replays matter.",
        "Miriam owns the billing project since January.",
    )
    assert "m2" in {memory.source.message for memory in found.gone}
    assert found.session is None
    assert contents(memories) == before


def test_what_is_found_now_is_there_and_one_undo_takes_all_of_it_back(
    store: Store, clock: FixedClock
) -> None:
    memories = captured(store, clock)
    before = contents(memories)

    done = memories.recapture()
    after = contents(memories)
    again = memories.recapture()
    assert done.session is not None
    memories.undo_session(done.session)

    assert after == {TALK[0], TALK[2], "Miriam owns the billing project since January."}
    assert (again.added, again.gone) == ((), ())
    assert contents(memories) == before


def test_what_somebody_relies_on_or_deleted_stays_as_it_is(store: Store, clock: FixedClock) -> None:
    memories = captured(store, clock)
    found = {memory.source.message: memory for memory in memories.find().memories}
    memories.revise(found["m2"].id, pinned=True)
    memories.forget(found["m1"].id)

    done = memories.recapture()

    assert done.gone == ()
    assert found["m2"].content in contents(memories)
    assert found["m1"].content not in contents(memories)


def test_what_was_said_while_capture_was_off_is_not_read_again(store: Store, clock: FixedClock) -> None:
    memories = Memories.of(store, "default", clock=clock, builtin_model=BETTER)
    memories.say("s", "user", TALK[0])
    memories.capture("s", quiet=lambda project, session: "off")
    memories.say("s", "user", TALK[2])
    memories.capture("s")

    memories.recapture()

    assert contents(memories) == {TALK[2]}
