"""The access log: each read of memories and messages is recorded, or refused; nothing where it is off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from inspect import getattr_static
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from holdfast import Memories
from holdfast.domain.access import Grant
from holdfast.domain.query import Filter
from holdfast.engine.administration import Administration
from holdfast.engine.doors import DOOR
from holdfast.engine.ports import Store
from holdfast.errors import Forbidden, Invalid, Unavailable
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.test_grants import VERBS, needed

#: Read verbs without texts of memories and messages: counts, names, states, and what agents reported.
WITHOUT_TEXT = {
    "attention", "cache_report", "cooldowns", "directory", "events", "events_by_day", "find_memory",
    "find_session", "group_sizes", "jobs", "last_change", "models", "overview", "projects",
    "session_tallies", "session_titles", "session_totals", "session_values", "sessions", "spend", "subjects",
    "unread_sessions",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _by_python() -> Iterator[None]:
    """Other tests of this process may have come in by another door."""
    before = DOOR.set("python")
    yield
    DOOR.reset(before)


@pytest.fixture
def administration(store: Store, clock: FixedClock) -> Administration:
    return Administration(store, clock=clock)


@pytest.fixture
def memories(store: Store, clock: FixedClock, administration: Administration) -> Memories:
    found = Memories.of(store, "default", clock=clock)
    found.remember("Ada likes green tea", subject="Ada")
    found.say("s-1", "user", "I like green tea", message_id="m-1")
    administration.change_space("default", access_log=True, access_log_days=30)
    return found


def the_memory(memories: Memories) -> str:
    with memories.store.read("default") as tx:
        return tx.memories.find(Filter())[0].id


@requirement("trust.access_log")
def test_every_verb_that_reads_is_recorded_or_shows_no_text() -> None:
    reading = {name for name in VERBS if needed(getattr_static(Memories, name)) in ("read", "proxy")}
    recorded = {name for name in VERBS if getattr(getattr_static(Memories, name), "__shows__", False)}

    assert reading - recorded == WITHOUT_TEXT | {"proxy_record"}
    assert recorded - reading == {"export"}


READS: dict[str, Callable[[Memories, str], Any]] = {
    "recall": lambda memories, _: memories.recall("what does Ada like to drink"),
    "look": lambda memories, _: memories.look("what does Ada like to drink"),
    "find": lambda memories, _: memories.find(),
    "show": lambda memories, one: memories.show(one),
    "why": lambda memories, one: memories.why(one),
    "brief": lambda memories, _: memories.speaking_as("assistant", session="s-1").brief(),
    "files": lambda memories, _: memories.files(),
    "stats": lambda memories, _: memories.stats(),
    "export": lambda memories, _: list(memories.export()),
    "session": lambda memories, _: memories.session("s-1"),
    "session_story": lambda memories, _: memories.session_story("s-1"),
    "message": lambda memories, _: memories.message("m-1"),
    "around": lambda memories, _: memories.around("m-1"),
}


@requirement("trust.access_log")
@pytest.mark.parametrize("verb", READS)
def test_a_read_is_recorded_with_who_when_how_and_what(
    memories: Memories, clock: FixedClock, verb: str
) -> None:
    one = the_memory(memories)
    reader = memories.granted(Grant.of("admin", token="t-1"))
    clock.advance(minutes=5)

    READS[verb](reader, one)

    [read, switched] = memories.access_log()
    assert (read.token, read.at, read.door, read.verb) == ("t-1", clock.now(), "python", verb)
    expected = (
        [] if verb in ("export", "session", "session_story", "message", "around", "files", "stats") else [one]
    )
    if verb in ("recall", "look", "find", "show", "why", "brief"):
        assert list(read.memories) == expected
    if verb in ("session", "session_story", "message", "around"):
        assert list(read.messages) == ["m-1"]
    assert (switched.verb, switched.token) == ("access_log_on", None)
    assert "green tea" not in repr(memories.access_log())


@requirement("trust.access_log")
def test_nothing_is_recorded_where_it_is_off(store: Store, clock: FixedClock) -> None:
    memories = Memories.of(store, "default", clock=clock)
    memories.remember("Ada likes green tea")

    memories.recall("what does Ada like")
    memories.find()

    assert memories.access_log() == []


@requirement("trust.access_log")
def test_a_read_that_can_not_be_recorded_is_refused(memories: Memories, database_url: str) -> None:
    memories.access_log()
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE access_log RENAME TO access_log_away"))
    engine.dispose()

    with pytest.raises(Unavailable):
        memories.recall("what does Ada like")

    assert memories.overview().active == 1


@requirement("trust.access_log")
def test_it_is_kept_as_long_as_the_space_says(
    memories: Memories, administration: Administration, clock: FixedClock
) -> None:
    memories.find()
    clock.advance(days=31)
    memories.find()
    clock.advance(minutes=1)
    administration.change_space("default", access_log=False)

    memories.tend()

    assert [one.verb for one in memories.access_log()] == ["access_log_off", "find"]


def test_it_is_narrowed_by_memory_token_door_and_time(memories: Memories, clock: FixedClock) -> None:
    one = the_memory(memories)
    clock.advance(days=1)
    memories.granted(Grant.of("read", token="t-1")).show(one)
    clock.advance(days=1)
    memories.message("m-1")

    found = [
        [read.verb for read in memories.access_log(**wanted)]
        for wanted in (
            {"memory": one},
            {"token": "t-1"},
            {"door": "rest"},
            {"since": clock.now() - timedelta(hours=1)},
            {"limit": 2},
        )
    ]

    assert found == [["show"], ["show"], [], ["message"], ["message", "show"]]


def test_only_an_administrator_reads_it(memories: Memories) -> None:
    with pytest.raises(Forbidden):
        memories.granted(Grant.of("write")).access_log()
    with pytest.raises(Invalid, match="unknown door"):
        memories.access_log(door="window")
    with pytest.raises(Invalid, match="limit must be 1 to 1,000"):
        memories.access_log(limit=0)
