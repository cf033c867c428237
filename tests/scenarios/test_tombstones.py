"""What was deleted stays away, whichever way it could come back: transcript, export, import, upkeep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast import Filter, Memories, Refused, Waiting
from holdfast.agents.transcripts import Tally, Transcripts, take
from holdfast.domain.memory import Draft, Source
from holdfast.engine.sessions import NewMessage
from holdfast.errors import Conflict
from holdfast.testing import FixedClock
from tests.agents.importers.test_exports import TALK, written
from tests.requirements_ledger import requirement
from tests.scenarios.told import kept

OAT = "Remember that I only drink oat milk."
MIRIAM = "Miriam is our landlord, remember that please."


def told(memories: Memories, session: str = "talk") -> None:
    memories.say_all(
        session,
        [
            NewMessage(role="user", content=text, message_id=f"{session}-{number}")
            for number, text in enumerate((OAT, MIRIAM))
        ],
    )


def captured(memories: Memories) -> None:
    """What the service does: job by job, until none is left."""
    while memories.capture_due() is not None:
        pass


def known(memories: Memories) -> list[str]:
    return sorted(memory.content for memory in memories.find().memories)


@requirement("trust.tombstone", "sem.tap.http")
@pytest.mark.parametrize("how", ["forget", "erase"])
def test_what_was_deleted_stays_away_when_the_transcript_is_read_again_and_tended(
    memories: Memories, clock: FixedClock, how: str
) -> None:
    told(memories)
    memories.close_session("talk")
    captured(memories)
    (oat,) = [memory for memory in memories.find().memories if "oat milk" in memory.content]
    left = [text for text in known(memories) if "oat milk" not in text]
    if how == "forget":
        memories.forget(oat.id)
    else:
        memories.erase(oat.id)

    told(memories)  # the same messages, as a hook that was killed sends them
    told(memories, "read-again")  # the same transcript under another id
    memories.close_session("read-again")
    clock.advance(days=30)
    captured(memories)
    for _ in range(2):
        memories.tend()
        clock.advance(days=1)

    assert [text for text in known(memories) if "oat milk" in text] == []
    assert set(left) <= set(known(memories))
    assert memories.inbox() == []
    assert memories.find(Filter(states=("waiting",))).total == 0


@requirement("trust.tombstone", "trust.inbox")
def test_what_was_rejected_is_not_captured_later(memories: Memories) -> None:
    waiting = memories.remember(
        "The user only drinks oat milk.", category="preference", doubtful="a model's proposal"
    )
    assert isinstance(waiting, Waiting)
    memories.reject(waiting.memory.id)

    told(memories)
    memories.capture()
    memories.tend()

    assert [text for text in known(memories) if "oat milk" in text] == []
    assert memories.inbox() == []


@requirement("trust.tombstone", "sem.tap.logs")
def test_an_export_that_is_read_again_does_not_bring_back_what_was_forgotten(
    memories: Memories, tmp_path: Path
) -> None:
    path = written(tmp_path, [TALK])
    _read(path, memories)
    memories.capture()
    (broker,) = memories.find().memories
    memories.forget(broker.id)

    _read(path, memories)
    memories.capture()
    memories.tend()

    assert known(memories) == []


@requirement("trust.tombstone")
def test_an_import_says_why_it_does_not_take_what_was_forgotten(memories: Memories) -> None:
    told(memories)
    memories.capture()
    for memory in memories.find().memories:
        memories.forget(memory.id)
    source = Source(origin="import", session="import-1")

    results = memories.import_drafts(
        [(1, Draft(content="The user only drinks oat milk.", category="preference", source=source))]
    )

    assert isinstance(results[0].outcome, Refused)
    assert "is not stored again" in results[0].outcome.reason
    assert known(memories) == []


@requirement("trust.tombstone", "sem.dedup")
def test_where_removal_is_for_good_the_upkeep_does_not_bring_it_back_either(
    space: Callable[[str], Memories], clock: FixedClock
) -> None:
    semantic = space("semantic")
    told(semantic)
    semantic.capture()
    (oat,) = [memory for memory in semantic.find().memories if "oat milk" in memory.content]
    semantic.forget(oat.id)

    told(semantic, "read-again")
    semantic.capture()
    clock.advance(days=400)
    semantic.tend()

    assert [text for text in known(semantic) if "oat milk" in text] == []
    assert semantic.inbox() == []


def _read(path: Path, memories: Memories) -> None:
    found = Transcripts(path)
    for transcript in found.unread():
        take(found.read(transcript), memories, Tally())


@requirement("trust.tombstone")
def test_an_edit_to_what_was_deleted_names_the_memory_to_restore(memories: Memories) -> None:
    gone = kept(memories.remember("The fig tree needs watering on Thursdays"))
    known = kept(memories.remember("The olive tree stands outside"))
    memories.forget(gone.id)

    with pytest.raises(Conflict, match=f"is not stored again: restore {gone.id} or use another text"):
        memories.revise(known.id, "The fig tree needs watering on Thursdays")
