"""Quotas: what may be stored in a space and by a token is counted with every write, and never again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import create_engine, event, text

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.access import Grant
from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import Outcome
from holdfast.domain.space import Quota, Stored
from holdfast.engine.administration import Administration
from holdfast.engine.ports import Store
from holdfast.engine.sessions import NewMessage
from holdfast.errors import QuotaExceeded
from holdfast.store.database import Database
from holdfast.store.migrate import upgrade
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement

SAID = [NewMessage(role="user", content=f"Something said {number}") for number in range(3)]
DRAFTS = [(line, Draft(content=f"The {name} is green")) for line, name in enumerate(("sky", "sea", "car"))]


@pytest.fixture
def memories(store: Store, clock: FixedClock) -> Memories:
    return Memories.of(store, "default", clock=clock)


def stored(memories: Memories) -> Stored:
    return memories.overview().stored


def limit(memories: Memories, **limits: int) -> None:
    Administration(memories.store).change_space("default", **limits)  # type: ignore[arg-type]


def counted(memories: Memories) -> Stored:
    """What is stored, as counted from all rows."""
    with memories.store.write("default") as tx:
        tx.usage.recount()
        return tx.usage.total()


def kept(outcome: Outcome) -> str:
    memory: Any = outcome.memory  # type: ignore[union-attr]
    return str(memory.id)


@requirement("trust.quotas")
@pytest.mark.parametrize(
    ("name", "what", "fits"),
    [
        ("max_memories", "1 memories", 1),
        ("max_bytes", "20 bytes of text", 1),
        ("max_messages", "1 messages", 2),
    ],
)
def test_beyond_its_quota_a_space_takes_nothing_more_and_says_the_limit_and_the_use(
    memories: Memories, name: str, what: str, fits: int
) -> None:
    limit(memories, **{name: int(what.partition(" ")[0])})
    memories.remember("The sky is green")

    with pytest.raises(QuotaExceeded) as full:
        add_more(memories)

    assert f"the quota of space 'default' is {what}" in str(full.value)
    assert "in use" in str(full.value)
    assert "holdfast space change default --max-" in str(full.value.command)
    assert memories.find().total == fits
    assert memories.sessions() == []
    assert stored(memories) == counted(memories)


def add_more(memories: Memories) -> None:
    memories.remember("The build takes nine minutes")
    memories.say_all("s-1", SAID)


@requirement("trust.quotas")
def test_a_quota_of_a_token_counts_what_it_added_to_the_space_and_deleting_gives_nothing_back(
    memories: Memories, clock: FixedClock
) -> None:
    first = memories.remember("Somebody else wrote this before")
    writer = memories.granted(Grant(Grant.of("write").scopes, token="t-1", quota=Quota(max_memories=1)))
    mine = writer.remember("The sky is green")
    memories.erase(kept(mine), kept(first))

    with pytest.raises(QuotaExceeded) as full:
        writer.remember("The build takes nine minutes")

    assert "this token in space 'default' is 1 memories: 1 are in use, and this would add 1" in str(
        full.value
    )
    assert "holdfast token change t-1 --max-memories" in str(full.value.command)
    assert stored(memories) == Stored() == counted(memories)
    assert memories.granted(Grant.of("write", token="t-2")).remember("Another token may") is not None


@requirement("trust.quotas")
def test_an_import_over_the_quota_is_refused_whole(memories: Memories) -> None:
    limit(memories, max_memories=2)

    with pytest.raises(QuotaExceeded, match="0 are in use, and this would add 3; nothing was stored"):
        memories.import_drafts(DRAFTS)

    assert memories.find().total == 0


def test_over_the_quota_everything_else_still_works(memories: Memories) -> None:
    known = kept(memories.remember("Restarts take nine seconds", subject="mail"))
    memories.say("s-1", "user", "Restarts take nine seconds")
    limit(memories, max_memories=0, max_messages=0, max_bytes=0)

    memories.recall("how long do restarts take")
    memories.speaking_as("assistant", session="s-1").brief()
    memories.open_session("s-2")
    memories.tend()
    memories.forget(known)
    memories.erase(known)

    assert stored(memories).memories == 0
    assert stored(memories) == counted(memories)


@requirement("trust.quotas")
def test_what_is_read_in_the_background_waits_until_there_is_room(
    memories: Memories, clock: FixedClock
) -> None:
    memories.say("s-1", "user", "From now on Petra is our landlord.")
    memories.close_session("s-1")
    limit(memories, max_memories=0)
    memories.capture_due()
    [waiting] = [job for job in memories.jobs() if job.kind == "capture"]
    limit(memories, max_memories=10)
    clock.advance(hours=1)

    memories.capture_due()

    assert "the quota of space 'default' is 0 memories" in str(waiting.error)
    assert memories.find().total == 1


def test_the_sums_follow_every_verb(memories: Memories) -> None:
    tea = kept(memories.remember("Ada likes tea", subject="Ada"))
    memories.revise(tea, "Ada likes green tea 茶")
    memories.say_all("s-1", SAID)
    memories.import_drafts(DRAFTS)
    archive = list(memories.export())
    gone = kept(memories.remember("A note about jellyfin's memory", subject="jellyfin"))
    memories.erase(gone)
    memories.forget(tea)
    memories.restore(tea)
    memories.import_archive(archive)

    assert stored(memories) == counted(memories)
    assert stored(memories).memories == 4


@requirement("trust.quotas")
def test_the_sums_follow_a_merge_that_takes_texts_away(
    memories: Memories, new_database: Callable[[], str], clock: FixedClock
) -> None:
    tea = kept(memories.remember("Ada likes tea", subject="Ada"))
    cocoa = kept(memories.remember("Ada dislikes cocoa", subject="Ada"))
    memories.say_all("s-1", SAID)
    with closing(open_store(new_database())) as away:
        other = Memories.of(away, "default", clock=clock)
        other.import_archive(memories.export())
        clock.advance(hours=1)
        other.erase(tea)
        other.revise(cocoa, "Ada dislikes cocoa with water")
        memories.import_archive(other.export())

    assert stored(memories) == counted(memories)
    assert stored(memories).memories == 1


@requirement("trust.quotas")
def test_counting_a_write_reads_one_row_however_much_is_stored(memories: Memories, database_url: str) -> None:
    assert isinstance(memories.store, Database)
    limit(memories, max_memories=100)
    asked: list[str] = []

    @event.listens_for(memories.store.engine, "before_cursor_execute")
    def note(*given: Any) -> None:
        asked.append(given[2])

    memories.remember("The sky is green")

    of_sums = [one for one in asked if "usage" in one]
    assert [one.partition(" (")[0] for one in of_sums] == ["INSERT INTO usage"]
    assert not [one for one in asked if "count(" in one.lower() and "memories" in one]


def test_a_database_of_an_older_release_is_counted_when_it_is_migrated(
    memories: Memories, database_url: str
) -> None:
    memories.remember("Ada likes tea")
    engine = create_engine(database_url)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT set_config('holdfast.space', 'default', true)"))
        connection.execute(text("DELETE FROM usage"))
    upgrade(engine)

    engine.dispose()
    assert stored(memories) == Stored(memories=1, bytes=len("Ada likes tea"))
