"""What is said off the record makes no memory and is never given to an agent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast import Memories
from holdfast.domain.dialogue import Dialogue, Turn
from holdfast.domain.query import EVERYTHING
from holdfast.engine.ports import Store
from holdfast.engine.sessions import NewMessage
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.test_quoting import given

ASKED = "what did Otto say about his salary of 90000 in the new job"


def talk(memories: Memories, *texts: str, session: str = "talk") -> None:
    """A person and an agent in turns."""
    roles = ("user", "assistant")
    memories.say_all(
        session, [NewMessage(role=roles[number % 2], content=text) for number, text in enumerate(texts)]
    )


@pytest.fixture(params=["ops", "default", "semantic", "assistant", "files"])
def any_space(request: pytest.FixtureRequest, space: Callable[..., Memories]) -> Memories:
    return space(request.param, "own")


@requirement("trust.off-record")
@pytest.mark.parametrize(
    "said",
    [
        "Don't remember this but Otto gets a salary of 90000 in the new job.",
        "Off the record, Otto gets a salary of 90000 in the new job.",
        "Otto gets a salary of 90000 in the new job. Please do not store that!",
        "Otto <private>gets a salary of 90000</private> in the new job.",
        "Don’t remember this but Otto gets a salary of 90000 in the new job.",
        "Off-the-record: Otto gets a salary of 90000 in the new job.",
        "Otto gets a salary of 90000 in the new job. Do not add this to your memory.",
    ],
)
@pytest.mark.on_postgres("default")
def test_a_message_off_the_record_is_in_the_sessions_story_alone(any_space: Memories, said: str) -> None:
    talk(any_space, said, "All right.")
    any_space.close_session("talk")
    any_space.capture()
    any_space.tend()

    [message, _] = any_space.session("talk").messages
    assert message.off_record
    assert any_space.find(EVERYTHING).total == 0
    assert any_space.inbox() == []
    assert any_space.recall(ASKED, threshold=0.0).hits == ()
    told = given(any_space, ASKED)
    assert "salary" not in told
    assert "new job" not in told


@requirement("trust.off-record")
@pytest.mark.parametrize("captured", [True, False])
@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        ("Would you like me to remember that Otto earns 90000?", "No"),
        ("Noted.", "Please don't remember that."),
    ],
)
@pytest.mark.on_postgres("default")
def test_what_a_person_does_not_want_remembered_goes_with_the_message_that_said_it(
    any_space: Memories, offer: str, answer: str, captured: bool
) -> None:
    talk(any_space, "The bikes stand in the cellar.", "Fine.", session="earlier")
    talk(any_space, "Remember that Otto gets a salary of 90000 in the new job.", offer)
    if captured:
        any_space.capture()

    talk(any_space, answer)
    any_space.capture()

    assert not any("Otto" in memory.content for memory in any_space.find().memories)
    assert not any("Otto" in str(hit) for hit in any_space.recall(ASKED, threshold=0.0).hits)
    assert "90000" not in given(any_space, ASKED)
    assert "cellar" in given(any_space, "where do the bikes stand")


@requirement("trust.off-record")
@pytest.mark.parametrize(
    "asked",
    [
        "Behalt das bitte nicht: {}",
        "{} Bitte nicht speichern!",
        "Non ricordare questo: {}",
        "Não guarde isto: {}",
        "No recuerdes esto: {}",
        "N’enregistre pas ça : {}",
        "{}" + " The weather was lovely." * 400 + "\nDon't remember this.",
    ],
)
def test_it_may_be_asked_for_in_other_languages_and_below_a_long_text(memories: Memories, asked: str) -> None:
    talk(memories, asked.format("Otto 90000 job."), "All right.")
    memories.capture()

    assert memories.session("talk").messages[0].off_record
    assert "90000" not in given(memories, ASKED)


@requirement("trust.off-record")
@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        ("Shall I make a note of that?", "no"),
        ("I can add that to my notes if you like?", "No, thank you."),
        ("Soll ich mir das merken?", "Nein, danke."),
        ("Wow.", "That was off the record."),
        ("Wow.", "Don’t save what I just told you."),
    ],
)
def test_it_may_be_declined_in_many_ways(memories: Memories, offer: str, answer: str) -> None:
    talk(memories, "Otto gets a salary of 90000 in the new job.", offer, answer)
    memories.capture()

    assert memories.find().total == 0
    assert "90000" not in given(memories, ASKED)


@requirement("trust.off-record")
def test_what_an_agent_answers_to_it_goes_with_it_until_the_next_prompt(memories: Memories) -> None:
    talk(memories, "Off the record, Otto gets a salary of 90000 in the new job.")
    memories.say("talk", "assistant", "Otto gets a salary of 90000, then!")
    memories.say("talk", "assistant", "In his new job Otto earns 90000.")
    talk(memories, "Where do the bikes stand?", "The bikes stand in the cellar.")
    memories.capture()

    assert [message.off_record for message in memories.session("talk").messages] == [True] * 3 + [False] * 2
    assert "90000" not in given(memories, ASKED)


@requirement("trust.off-record")
def test_the_proxy_keeps_it_off_the_record_too(memories: Memories) -> None:
    said = Turn(role="user", text="Off the record: Otto gets a salary of 90000 in the new job.", place=0)

    memories.proxy_record(Dialogue(turns=(said,), asks=True, session="proxied"))
    memories.capture()

    assert [message.off_record for message in memories.session("proxied").messages] == [True]
    assert "90000" not in given(memories, ASKED)


@requirement("trust.off-record")
def test_it_has_no_word_or_vector_to_be_found_by_and_loses_those_that_it_had(
    store: Store, clock: FixedClock
) -> None:
    embedder = BuiltinEmbedder()
    memories = Memories.of(store, "default", clock=clock, embedder=embedder)
    talk(memories, "Otto gets a salary of 90000 in the new job.", "Shall I remember that?")
    assert memories.recall("how much does Otto earn", threshold=0.0).hits
    asked = embedder.query("how much does Otto earn")
    assert found_by(store, "otto", asked, embedder.name)

    talk(memories, "No, thanks.")
    talk(memories, "Off the record: Otto earns 95000 now.", session="other")

    assert memories.recall("how much does Otto earn", threshold=0.0).hits == ()
    assert found_by(store, "otto", asked, embedder.name) == set()


def found_by(store: Store, stem: str, vector: bytes, model: str) -> set[str]:
    """The messages that the indexes hold for a word and a meaning."""
    with store.read("default") as tx:
        return {*tx.message_words.matching([stem], 9), *tx.message_vectors.nearest([vector], model, 9)}


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("", "I don't remember that, but Otto gets a salary of 90000 in the new job."),
        ("", "Don't store the salary of 90000 that Otto gets in the new job as text, use a number."),
        ("Shall I write the tests now?", "No, Otto gets a salary of 90000 in the new job."),
        ("Please don't remember that.", "Otto gets a salary of 90000 in the new job."),
        ("Do you remember the port?", "No. Otto gets a salary of 90000 in the new job."),
        ("", "Otto kann das Bild nicht speichern: salary of 90000 in the new job."),
        ("", "Forget it, Otto gets a salary of 90000 in the new job."),
    ],
)
def test_other_talk_stays_on_the_record(memories: Memories, before: str, said: str) -> None:
    talk(memories, "Hello!", before or "Hello.")

    talk(memories, said)

    assert not any(message.off_record for message in memories.session("talk").messages)
    assert "90000" in given(memories, ASKED)


@requirement("trust.off-record", "trust.export-erase")
def test_an_export_carries_that_it_is_off_the_record(
    memories: Memories, space: Callable[..., Memories]
) -> None:
    talk(memories, "Off the record, Otto gets a salary of 90000 in the new job.")

    copy = space("default", "copy")
    copy.import_archive(memories.export())

    assert [message.off_record for message in copy.session("talk").messages] == [True]
    assert "90000" not in given(copy, ASKED)
