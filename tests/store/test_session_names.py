"""What sessions are called and how one is found, on both databases."""

from __future__ import annotations

import pytest

from holdfast import Memories
from holdfast.domain.outcomes import settled
from holdfast.engine.ports import Store
from holdfast.errors import Conflict, Invalid, NotFound
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement


@pytest.fixture
def memories(store: Store, clock: FixedClock) -> Memories:
    return Memories.of(store, "default", clock=clock)


def opened(
    memories: Memories, clock: FixedClock, session: str, *prompts: str, name: str | None = None
) -> None:
    memories.open_session(session, name=name)
    for prompt in prompts:
        memories.say(session, "user", prompt)
    clock.advance(minutes=1)


def test_a_session_is_called_by_its_name_else_by_its_first_prompt(
    memories: Memories, clock: FixedClock
) -> None:
    opened(memories, clock, "a", "Upgrade the database", name="The upgrade")
    opened(memories, clock, "b", "<system-reminder>Be brief</system-reminder>Fix\n the  build", "Thanks")
    opened(memories, clock, "c")
    opened(memories, clock, "d", "word " * 60)

    titles = memories.session_titles("a", "b", "c", "d", "unknown")

    assert titles["a"] == "The upgrade"
    assert titles["b"] == "Fix the build"
    assert titles.keys() == {"a", "b", "d"}
    assert len(titles["d"]) <= 120
    assert titles["d"].endswith("word…")


@requirement("trust.off-record")
def test_what_is_off_the_record_or_erased_names_no_session(memories: Memories, clock: FixedClock) -> None:
    opened(memories, clock, "a", "Off the record: the vault code is under the mat")
    opened(memories, clock, "b", "The alarm code is on the fridge")
    message = memories.session("b").messages[0]
    told = memories.speaking_as("assistant", session="b").remember("The alarm code", message=message.id)
    saved = settled(told)
    assert saved is not None
    memories.erase(saved.id)

    assert memories.session_titles("a", "b") == {}


def test_a_session_is_found_by_id_title_beginning_or_as_the_last(
    memories: Memories, clock: FixedClock
) -> None:
    opened(memories, clock, "run-1", "Fix the build")
    opened(memories, clock, "run-2", "Fix the tests")
    opened(memories, clock, "zz", "Upgrade the database")

    assert memories.find_session("run-1") == "run-1"
    assert memories.find_session("fix THE tests") == "run-2"
    assert memories.find_session("upgrade") == "zz"
    assert memories.find_session("last") == "zz"
    with pytest.raises(Conflict, match="2 sessions are called 'fix'"):
        memories.find_session("fix")
    for unknown in ("", "nothing like it"):
        with pytest.raises(NotFound):
            memories.find_session(unknown)


def test_a_name_is_kept_on_one_line_without_secrets(memories: Memories, clock: FixedClock) -> None:
    opened(memories, clock, "a", "Fix the build")

    memories.name_session("a", "  The build,\n with token ghp_0123456789abcdefghijABCDEFGHIJ012345 ")

    assert memories.session_titles("a")["a"].startswith("The build, with token [")
    memories.open_session("a", name="by the agent")
    assert memories.session_titles("a")["a"].startswith("The build"), "a person's word stays"
    for wrong in ("", " \n", "x" * 121):
        with pytest.raises(Invalid):
            memories.name_session("a", wrong)
    with pytest.raises(NotFound):
        memories.name_session("b", "Nobody")
