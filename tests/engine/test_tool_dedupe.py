"""What a model saved by a tool is not captured a second time from the words of the same turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.outcomes import Added, Refused, Reinforced
from holdfast.engine.sessions import NewMessage
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.marking_reader import MarkingReader

SAME = [
    ("Remember that Alec is my boss", ("Alec is my boss", "person", None)),
    ("I prefer tabs over spaces in all my projects.", ("Prefers tabs to spaces", "preference", "editor")),
    (
        "My daughter Lena starts school in September.",
        ("Lena, the user's daughter, starts school in September", "person", "Lena"),
    ),
    (
        "We decided to use Kafka because replays matter to the auditors.",
        ("The team chose Kafka since auditors need replays", "project", "Kafka"),
    ),
    ("I'm allergic to peanuts. Please keep that in mind.", ("Has a peanut allergy", "context", "health")),
    (
        "I moved to Berlin last month, remember that.",
        ("The user moved to Berlin last month", "context", "home"),
    ),
    ("The invoices service runs on host inv-7.", ("Invoices service: host inv-7", "project", "invoices")),
]
MORE = [
    (
        "Miriam owns the billing project since January. I prefer dark mode in every editor.",
        ("Miriam is the owner of billing since January", "project", "billing"),
    ),
    ("Alec is my boss and I prefer tea to coffee.", ("Alec is the user's boss", "person", "Alec")),
    ("The invoices service runs on host inv-8.", ("The invoices service runs on host inv-7", "project", "x")),
    ("My sister Ada likes chess.", ("The user's sister Ada likes hiking", "person", "Ada")),
    (
        "I moved to Berlin in May 2019, remember that.",
        ("The user lives in Berlin since October 2026", "context", "home"),
    ),
    ("I prefer coffee in the morning.", ("Alec is the user's boss", "person", "Alec")),
]
READER = MarkingReader(
    dict.fromkeys(("I ", "I'm", "My ", "We ", "The ", "Miriam ", "Alec ", "Remember ", "Actually "), "fact")
)


@pytest.fixture
def memories(database_url: str, clock: FixedClock) -> Iterator[Memories]:
    store = open_store(database_url)
    create_space("helper", store=store, clock=clock, profile="assistant")
    with Memories.of(store, "helper", clock=clock, builtin_model=READER) as opened:
        opened.open_session("s")
        yield opened


def save(memories: Memories, saved: tuple[str, str, str | None], session: str | None = "s") -> str:
    """Saves as a model's tool does."""
    content, category, subject = saved
    speaking = memories.speaking_as("assistant", session=session)
    outcome = speaking.remember(content, category=category, subject=subject)
    assert isinstance(outcome, Added)
    return outcome.memory.id


def say(memories: Memories, *texts: str, session: str = "s") -> None:
    """Keeps a turn: what the person said, and a short answer."""
    for text in texts:
        memories.say_all(
            session, [NewMessage(role="user", content=text), NewMessage(role="assistant", content="OK.")]
        )


def contents(memories: Memories) -> list[str]:
    return [memory.content for memory in memories.find().memories]


@pytest.mark.parametrize(("text", "saved"), SAME)
def test_what_a_tool_saved_is_not_captured_again_in_other_words(
    memories: Memories, text: str, saved: tuple[str, str, str | None]
) -> None:
    known = save(memories, saved)
    say(memories, text)

    (read,) = memories.capture("s")

    (outcome,) = read.outcomes
    assert isinstance(outcome, Reinforced)
    assert (outcome.memory.id, outcome.counted) == (known, False)
    assert contents(memories) == [saved[0]]


@pytest.mark.parametrize(("text", "saved"), MORE)
def test_a_fact_that_no_tool_saved_is_captured_from_the_same_turn(
    memories: Memories, text: str, saved: tuple[str, str, str | None]
) -> None:
    save(memories, saved)
    say(memories, text)

    memories.capture("s")

    assert len(contents(memories)) == 2


def test_a_client_that_names_no_session_is_known_by_the_turn(memories: Memories, clock: FixedClock) -> None:
    say(memories, "Hello there, how are you?")
    clock.advance(minutes=5)
    save(memories, ("Prefers tabs to spaces", "preference", "editor"), session=None)
    clock.advance(minutes=1)
    say(memories, "I prefer tabs over spaces in all my projects.")

    memories.capture("s")

    assert contents(memories) == ["Prefers tabs to spaces"]


def test_what_was_saved_elsewhere_in_another_turn_does_not_count(
    memories: Memories, clock: FixedClock
) -> None:
    save(memories, ("Prefers tabs to spaces", "preference", "editor"), session=None)
    clock.advance(hours=1)
    memories.open_session("later")
    say(memories, "Hello there, how are you?", session="later")
    clock.advance(hours=1)
    say(memories, "I prefer tabs over spaces in all my projects.", session="later")

    memories.capture("later")

    assert len(contents(memories)) == 2


def test_what_a_tool_revised_is_known_too(memories: Memories) -> None:
    outcome = memories.remember("The user lives in Paris", category="context", subject="home")
    assert isinstance(outcome, Added)
    memories.speaking_as("assistant", session="s").revise(outcome.memory.id, "The user lives in Berlin")
    say(memories, "Remember that I live in Berlin.")

    memories.capture("s")

    assert contents(memories) == ["The user lives in Berlin"]


def test_what_was_saved_and_forgotten_in_a_talk_stays_forgotten(memories: Memories) -> None:
    known = save(memories, ("Prefers tabs to spaces", "preference", "editor"))
    say(memories, "I prefer tabs over spaces in all my projects.")
    memories.forget(known)

    (read,) = memories.capture("s")

    assert [type(outcome) for outcome in read.outcomes] == [Refused]
    assert contents(memories) == []


def test_what_contradicts_a_tools_memory_later_in_the_talk_is_captured(memories: Memories) -> None:
    save(memories, ("The user likes green tea", "preference", "drinks"))
    say(memories, "I like green tea, remember that.", "Actually I no longer like green tea, remember that.")

    memories.capture("s")

    assert len(contents(memories)) == 2
