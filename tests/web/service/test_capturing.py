"""The service reads sessions by itself: space by space, and not where it is quiet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.testing import FixedClock
from holdfast.web.service.background_tasks import capture
from tests.requirements_ledger import requirement


@pytest.fixture
def memories(sqlite_url: str, clock: FixedClock) -> Iterator[Memories]:
    with Memories.of(open_store(sqlite_url), "default", clock=clock) as opened:
        yield opened


def test_a_session_that_ended_is_read_without_anybody_asking(memories: Memories) -> None:
    chore = capture(lambda: ["default"], lambda name: memories, lambda project, session: None)
    memories.say("s", "user", "Petra is our landlord.")
    memories.close_session("s")

    more = chore(lambda: False)
    at_rest = chore(lambda: False)

    assert (more, at_rest) == (True, False)
    assert [one.content for one in memories.find().memories] == ["Petra is our landlord."]


@requirement("trust.quiet")
def test_where_it_is_quiet_the_service_reads_nothing(memories: Memories) -> None:
    chore = capture(lambda: ["default"], lambda name: memories, lambda project, session: "off here")
    memories.say("s", "user", "Petra is our landlord.")
    memories.close_session("s")

    chore(lambda: False)

    assert memories.find().memories == ()
