"""Recall over what was said: messages beside memories, by meaning and by words."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from holdfast import Filter, Memories
from holdfast.domain.ranking import MemoryHit, MessageHit
from holdfast.engine.ports import Store
from holdfast.engine.recall import Recall
from holdfast.engine.spaces import create_space, set_keeps_messages
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add

TALK = (
    ("Caroline", "Hey Mel, how was your weekend?"),
    ("Melanie", "Lovely! I took the kids to the pottery workshop on Saturday, and we made our own pots."),
    ("Caroline", "That sounds like fun. I finally adopted a puppy from the shelter downtown!"),
    ("Melanie", "Congratulations! What is the little one called?"),
    ("Caroline", "Biscuit. She already sleeps at the foot of my bed every night."),
)


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


@pytest.fixture
def talk(store: Store, clock: FixedClock, embedder: BuiltinEmbedder) -> Memories:
    """Two people who talked a week ago."""
    memories = Memories.of(store, "default", clock=clock, embedder=embedder)
    told(memories, "talk", TALK)
    clock.advance(days=7)
    return memories


def told(memories: Memories, session: str, said: Sequence[tuple[str, str]]) -> None:
    for speaker, content in said:
        memories.say(session, "user", content, speaker=speaker)


def quotes(found: Recall) -> list[str | None]:
    return [hit.message.content for hit in found.hits if isinstance(hit, MessageHit)]


@requirement("sem.search", "sem.recall.no-model")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What pet did Caroline get?", TALK[2][1]),
        ("What did Melanie do with the kids on Saturday?", TALK[1][1]),
        ("What is Caroline's dog called?", TALK[4][1]),
    ],
)
def test_what_was_said_answers_a_question_about_who_said_it(
    talk: Memories, question: str, answer: str
) -> None:
    [hit, *_] = talk.recall(question).hits

    assert isinstance(hit, MessageHit)
    assert answer in quotes(talk.recall(question))[:2]
    assert hit.session is not None
    assert hit.session.id == "talk"
    assert hit.matched == "meaning"


@requirement("sem.recall.score")
def test_every_factor_of_a_messages_score_is_reported(talk: Memories) -> None:
    [hit, *_] = talk.recall("What pet did Caroline adopt last week?").hits

    assert isinstance(hit, MessageHit)
    assert set(hit.parts) == {"relevance", "confidence"}
    assert hit.score == pytest.approx(hit.parts["relevance"] * hit.parts["confidence"], abs=1e-3)
    assert hit.parts["relevance"] == pytest.approx(sum(hit.evidence.values()), abs=1e-3)
    assert {"meaning", "words", "speaker", "date"} <= set(hit.evidence)


@requirement("sem.search.silence")
def test_what_nobody_spoke_of_is_not_answered(talk: Memories) -> None:
    assert talk.recall("how do vaccines work").hits == ()
    found = talk.recall("What did Caroline say about nuclear physics?")
    assert found.hits == ()
    assert found.below > 0


def test_days_in_the_question_are_counted_from_the_day_of_asking(talk: Memories, clock: FixedClock) -> None:
    clock.advance(days=20)
    told(talk, "later", [("Melanie", "We went to the pottery workshop again and glazed a vase.")])
    clock.advance(days=1)

    yesterday = talk.recall("what did Melanie do at the pottery workshop yesterday")
    weeks_ago = talk.recall("what did Melanie do at the pottery workshop four weeks ago")
    then = talk.recall(
        "what did Melanie do at the pottery workshop yesterday", asked_at=clock.now() - timedelta(days=27)
    )

    assert [quotes(found)[0] for found in (yesterday, weeks_ago, then)] == [
        "We went to the pottery workshop again and glazed a vase.",
        TALK[1][1],
        TALK[1][1],
    ]


@requirement("trust.why")
def test_a_message_that_a_memory_cites_is_not_listed_again(talk: Memories) -> None:
    said = talk.say("talk", "user", "My favourite tea is lapsang souchong", speaker="Caroline")
    memory = add(
        talk.speaking_as("user", session="talk"), "Caroline's favourite tea is lapsang", message=said.id
    )

    found = talk.recall("What is Caroline's favourite tea?")

    [hit] = found.memories
    assert (hit.memory.id, hit.cites) == (memory.id, said)
    assert said.content not in quotes(found)
    assert talk.why(memory.id).messages == (said,)


def test_what_only_memories_have_leaves_messages_out(talk: Memories) -> None:
    question = "What pet did Caroline adopt?"
    for where in (
        Filter(category="fact"),
        Filter(subject="Caroline"),
        Filter(general=True),
        Filter(tags=("pet",)),
        Filter(origin="user"),
        Filter(importance=3),
        Filter(least_confidence=0.1),
        Filter(states=("inactive",)),
    ):
        assert quotes(talk.recall(question, where=where, threshold=0.0)) == []
    assert quotes(talk.recall(question, messages=False, threshold=0.0)) == []
    assert quotes(talk.recall(question, where=Filter(), threshold=0.0)) != []


@requirement("scope.project")
def test_projects_and_sessions_hold_for_messages_too(talk: Memories) -> None:
    talk.open_session("atlas-1", project="atlas")
    talk.say("atlas-1", "user", "The puppy of the atlas team is called Crumpet")

    def found(**given: object) -> set[str]:
        hits = talk.recall("what is the puppy called", threshold=0.0, limit=50, **given).hits  # type: ignore[arg-type]
        return {hit.message.session for hit in hits if isinstance(hit, MessageHit)}

    assert found() == {"talk"}
    assert found(project="atlas") == {"talk", "atlas-1"}
    assert found(where=Filter(project="atlas")) == {"atlas-1"}
    assert found(where=Filter()) == {"talk", "atlas-1"}
    assert found(where=Filter(session="talk")) == {"talk"}


def test_who_asks_does_not_hear_what_was_just_said(talk: Memories) -> None:
    talk.say("now", "user", "What is the name of Caroline's puppy?")
    talk.say("now", "user", "I want to know what Caroline's puppy is called")

    found = talk.speaking_as("assistant", session="now").recall("What is the name of Caroline's puppy?")

    assert {hit.message.session for hit in found.hits if isinstance(hit, MessageHit)} == {"talk"}


def test_a_question_that_was_asked_before_is_no_answer(talk: Memories) -> None:
    talk.say("earlier", "user", "what is the name of Caroline's puppy")

    assert "what is the name of Caroline's puppy" not in quotes(
        talk.recall("What is the name of Caroline's puppy?")
    )


@requirement("trust.as-of")
def test_as_of_a_past_moment_old_wordings_and_messages_are_found_by_their_meaning(
    talk: Memories, clock: FixedClock
) -> None:
    memory = add(talk, "The physician of the family is called Lee")
    gone = add(talk, "The car is parked in the basement garage")
    before = clock.now()
    clock.advance(days=1)
    talk.revise(memory.id, "The family moved to Lisbon")
    talk.forget(gone.id)

    doctor = talk.recall("Who is our doctor?", as_of=before)
    vehicle = talk.recall("Where did I leave my vehicle?", as_of=before)
    pet = talk.recall("What pet did Caroline get?", as_of=before)

    assert [hit.memory.content for hit in doctor.memories] == [memory.content]
    assert [hit.memory.content for hit in vehicle.memories] == [gone.content]
    assert TALK[2][1] in quotes(pet)
    assert {doctor.matched, vehicle.matched, pet.matched} == {"meaning"}


@requirement("trust.as-of")
def test_as_of_a_past_moment_only_what_was_said_until_then_is_found(
    talk: Memories, clock: FixedClock
) -> None:
    before = clock.now()
    clock.advance(days=1)
    talk.say("later", "user", "Biscuit the puppy ate my shoes", speaker="Caroline")

    then = talk.recall("puppy", as_of=before, threshold=0.0)
    now = talk.recall("puppy", as_of=clock.now(), threshold=0.0)
    earlier = talk.recall("puppy", as_of=before - timedelta(days=30), threshold=0.0)

    assert then.matched == "meaning"
    assert "Biscuit the puppy ate my shoes" not in quotes(then)
    assert TALK[2][1] in quotes(then)
    assert "Biscuit the puppy ate my shoes" in quotes(now)
    assert quotes(earlier) == []


def test_without_an_embedder_words_find_messages(store: Store, clock: FixedClock) -> None:
    memories = Memories.of(store, "default", clock=clock)
    told(memories, "talk", TALK)

    found = memories.recall("pottery workshop")

    assert found.matched == "text"
    assert quotes(found)[0] == TALK[1][1]
    assert memories.recall("nuclear physics").hits == ()


def test_what_tools_and_systems_put_in_is_never_quoted(talk: Memories) -> None:
    for role in ("tool", "system"):
        talk.say("talk", role, f"The puppy shelter downtown, said the {role}", speaker="Caroline")

    assert not any("said the" in (text or "") for text in quotes(talk.recall("puppy shelter", threshold=0.0)))


@requirement("trust.tombstone")
def test_what_was_forgotten_is_not_told_again_by_its_message(talk: Memories) -> None:
    said = talk.say("talk", "user", "I am allergic to peanuts", speaker="Caroline")
    agent = talk.speaking_as("user", session="talk")
    memory = add(agent, "Caroline has a peanut allergy", message=said.id)
    exact = add(agent, "The alarm code is with the neighbour")
    talk.say("talk", "user", "The alarm code is with the neighbour.", speaker="Melanie")

    talk.forget(memory.id)
    talk.forget(exact.id)

    assert "I am allergic to peanuts" not in quotes(talk.recall("What is Caroline allergic to?"))
    assert not any("alarm" in (text or "") for text in quotes(talk.recall("who has the alarm code of ours")))
    talk.restore(memory.id)
    assert isinstance(talk.recall("What is Caroline allergic to?").hits[0], MemoryHit)


@requirement("trust.export-erase")
def test_what_was_erased_is_not_found_as_a_message(talk: Memories) -> None:
    said = talk.say("talk", "user", "I am allergic to peanuts", speaker="Caroline")
    memory = add(talk.speaking_as("user", session="talk"), "Caroline has a peanut allergy", message=said.id)
    talk.recall("What is Caroline allergic to?")

    talk.erase(memory.id)

    assert talk.recall("What is Caroline allergic to?", threshold=0.0, limit=50).memories == ()
    assert said.content not in quotes(talk.recall("allergic to peanuts", threshold=0.0, limit=50))


def test_a_space_that_keeps_no_messages_finds_none(
    store: Store, clock: FixedClock, embedder: BuiltinEmbedder
) -> None:
    create_space("quiet", store=store, clock=clock)
    set_keeps_messages("quiet", False, store=store)
    memories = Memories.of(store, "quiet", clock=clock, embedder=embedder)
    told(memories, "talk", TALK)

    assert memories.recall("What pet did Caroline adopt?", threshold=0.0).hits == ()


@requirement("trust.why")
def test_a_receipt_holds_memories_and_messages(talk: Memories, store: Store) -> None:
    memory = add(talk, "Caroline's puppy sleeps on the bed")

    found = talk.speaking_as("assistant", session="asking").recall("Where does Caroline's puppy sleep?")

    with store.read("default") as tx:
        shown = tx.receipts.shown_in("asking")
    assert shown == {memory.id, *(hit.message.id for hit in found.hits if isinstance(hit, MessageHit))}
    assert len(shown) > 1
    [use] = talk.why(memory.id).uses
    assert use.score == found.memories[0].score
