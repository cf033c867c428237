"""Corrections in conversations: what a message makes untrue is superseded, what it takes back forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from holdfast.app.wiring import open_store
from holdfast.domain.memory import Memory
from holdfast.engine.memories import Memories
from holdfast.errors import Unavailable
from holdfast.testing import FixedClock
from tests.marking_reader import MarkingReader


class CorrectingReader(MarkingReader):
    """Marks whole messages; takes a memory with given words for untrue after others."""

    def __init__(self, untrue: Mapping[str, str]) -> None:
        super().__init__("fact")
        self._untrue = untrue
        self.away = False

    def replaced(self, memories: Sequence[str], said: str) -> list[float]:
        if self.away:
            raise Unavailable("no finder: it is not there")
        return [
            float(any(new in said and old in memory for new, old in self._untrue.items()))
            for memory in memories
        ]


READER = CorrectingReader(
    {
        "Otto took the pitch over": "Moss sells jam",
        "forget what I said about the jam": "jam stall",
        "short answers": "long answers",
    }
)


@pytest.fixture
def memories(database_url: str, clock: FixedClock) -> Iterator[Memories]:
    READER.away = False
    with Memories.of(open_store(database_url), "default", clock=clock, builtin_model=READER) as opened:
        yield opened


def heard(
    memories: Memories, clock: FixedClock, text: str, session: str = "s", *, project: str | None = "alpha"
) -> None:
    clock.advance(minutes=5)
    memories.open_session(session, project=project)
    memories.say(session, "user", text, said_at=clock.now())
    memories.capture(session)


def found(memories: Memories) -> dict[str, Memory]:
    return {memory.content: memory for memory in memories.find().memories}


def test_what_a_message_makes_untrue_is_superseded_by_what_it_says(
    memories: Memories, clock: FixedClock
) -> None:
    heard(memories, clock, "Moss sells jam at the corner.")
    heard(memories, clock, "The corner has no water.", "t")

    heard(memories, clock, "Otto took the pitch over in May 2026.", "u")

    known = found(memories)
    new = known["Otto took the pitch over in May 2026."]
    assert known["Moss sells jam at the corner."].superseded_by == new.id
    assert known["The corner has no water."].superseded_by is None


def test_a_correction_holds_wherever_the_memory_held_that_it_replaces(
    memories: Memories, clock: FixedClock
) -> None:
    heard(memories, clock, "Give long answers with every detail.", project=None)

    heard(memories, clock, "From now on short answers will do.", "u")

    known = found(memories)
    new = known["From now on short answers will do."]
    assert new.project is None
    assert known["Give long answers with every detail."].superseded_by == new.id


def test_what_a_person_takes_back_by_name_is_forgotten_and_the_message_before_is_not(
    memories: Memories, clock: FixedClock
) -> None:
    heard(memories, clock, "The jam stall opens at ten.")
    heard(memories, clock, "The tent is hired from Moss and Sons.")

    heard(memories, clock, "forget what I said about the jam, it is closed this year.")

    assert "The jam stall opens at ten." not in found(memories)
    assert "The tent is hired from Moss and Sons." in found(memories)


def test_without_the_finder_what_is_said_is_kept_beside_what_is_known(
    memories: Memories, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    heard(memories, clock, "Moss sells jam at the corner.")
    READER.away = True

    heard(memories, clock, "Otto took the pitch over in May 2026.", "u")

    assert found(memories)["Moss sells jam at the corner."].superseded_by is None
    assert "corrections are not detected" in caplog.text
