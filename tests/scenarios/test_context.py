"""Context recall: what the memory adds to what was just said, once, within its budget."""

from datetime import timedelta

import pytest

from holdfast import Memories
from holdfast.domain.budget import estimate_tokens
from holdfast.domain.ranking import MemoryHit, MessageHit
from holdfast.engine.context import Context
from holdfast.engine.ports import Store
from holdfast.engine.sessions import NewMessage
from holdfast.errors import Invalid
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add

JELLYFIN = "Jellyfin takes 60s to start after a restart"
SEATS = "Prefers aisle seats on flights"
TEA = "Favourite tea is lapsang souchong"


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


@pytest.fixture
def known(store: Store, clock: FixedClock, embedder: BuiltinEmbedder) -> Memories:
    memories = Memories.of(store, "default", clock=clock, embedder=embedder)
    for text in (JELLYFIN, SEATS, TEA):
        add(memories, text)
    return memories


def agent(memories: Memories, session: str = "s1") -> Memories:
    return memories.speaking_as("assistant", session=session)


def contents(made: Context) -> list[str | None]:
    return [hit.memory.content if isinstance(hit, MemoryHit) else hit.message.content for hit in made.hits]


@requirement("sem.recall.context", "sem.recall.no-model")
def test_what_is_relevant_to_the_last_message_is_given_as_a_block(known: Memories) -> None:
    made = agent(known).context(["Could you restart the jellyfin server for me?"])

    assert contents(made) == [JELLYFIN]
    assert made.text.startswith("## Relevant memories\n")
    assert JELLYFIN in made.text
    assert made.tokens == estimate_tokens(made.text) <= 150


@requirement("sem.recall.context", "sem.search.silence")
@pytest.mark.parametrize("said", ["how do vaccines work?", "", "  ", "ok", "🎉"])
def test_nothing_relevant_is_no_text_at_all(known: Memories, said: str) -> None:
    made = agent(known).context([said])

    assert (made.text, made.tokens, made.hits) == ("", 0, ())


def test_nothing_said_is_nothing_asked(known: Memories) -> None:
    assert agent(known).context([]).text == ""


@requirement("sem.recall.context")
def test_nothing_is_shown_twice_in_a_session(known: Memories) -> None:
    here = agent(known)
    first = here.context(["Which seat do I like on a plane?"])
    add(known, "Never checks in luggage on a flight")

    again = here.context(["Which seat do I like on a plane, with which luggage on the flight?"])

    assert SEATS in contents(first)
    assert contents(again) == ["Never checks in luggage on a flight"]
    assert here.context(["Which seat do I like on a plane, with which luggage on the flight?"]).text == ""
    assert SEATS in contents(agent(known, "s2").context(["Which seat do I like on a plane?"]))


@requirement("sem.recall.context")
def test_what_the_brief_or_a_recall_showed_is_not_repeated(known: Memories) -> None:
    briefed, asked = agent(known, "briefed"), agent(known, "asked")
    assert JELLYFIN in briefed.brief().text
    assert asked.recall("how long does jellyfin need to start").hits

    for here in (briefed, asked):
        assert here.context(["Could you restart the jellyfin server for me?"]).text == ""


@requirement("context.block")
@pytest.mark.parametrize(
    "said", ["Yes, go ahead.", "ok", "thanks, that worked!", "go on", "👍", "2", "Danke"]
)
def test_small_talk_asks_nothing_and_then_older_messages_do_not_either(known: Memories, said: str) -> None:
    restart = "Could you restart the jellyfin server for me?"
    known.say("s1", "user", restart)
    known.say("s1", "assistant", "Should I do it right now?")

    assert agent(known).context([said]).text == ""
    assert agent(known, "s2").context([restart, said]).text == ""
    assert agent(known, "s2").context([said, restart]).text != ""


@requirement("sem.recall.context", "context.block")
def test_only_the_newest_message_asks(known: Memories) -> None:
    seats, tea = "Which seat do I like on a plane?", "Which tea do I like best?"

    assert contents(agent(known, "a").context([seats, tea])) == [TEA]
    assert contents(agent(known, "b").context([tea, seats])) == [SEATS]
    assert contents(agent(known, "c").context([tea, "Please write the login page"])) == []


@requirement("sem.recall.context")
def test_what_the_newest_message_refers_to_stands_in_those_before_it(known: Memories) -> None:
    restart = "Could you restart the jellyfin server for me?"
    known.say("s1", "user", restart)
    how_long = "How many seconds will it need then?"

    assert contents(agent(known, "alone").context([how_long])) == []
    assert contents(agent(known, "given").context([restart, how_long])) == [JELLYFIN]
    assert contents(agent(known, "s1").context([how_long])) == [JELLYFIN]


@requirement("sem.recall.context", "context.block")
def test_what_was_said_is_quoted_only_to_who_asks_for_that_and_when_no_memory_answers(
    known: Memories,
) -> None:
    bikes = "The bikes stand in the cellar behind the boiler"
    known.say("before", "user", bikes, speaker="Tom")
    known.say("s1", "user", "I wonder where the bikes in the cellar are", speaker="Tom")

    stated = agent(known).context(["Where do the bikes stand in the cellar?"])
    asked = agent(known).context(["What did Tom say about the bikes in the cellar?"])
    add(known, bikes)
    remembered = agent(known, "s2").context(["Did Tom say that the bikes stand in the cellar?"])

    assert stated.text == ""
    assert [hit.message.session for hit in asked.hits if isinstance(hit, MessageHit)] == ["before"]
    assert f'by Tom] "{bikes}"' in asked.text
    assert not [hit for hit in remembered.hits if isinstance(hit, MessageHit)]
    assert contents(remembered) == [bikes]


@requirement("context.block")
def test_a_block_has_three_memories_and_150_tokens_unless_told_otherwise(known: Memories) -> None:
    for number in range(6):
        add(known, f"Jellyfin library {number} is scanned at {number} o'clock after each restart")
    question = ["When is each jellyfin library scanned after a restart of the server?"]

    made = agent(known, "a").context(question)
    more = agent(known, "b").context(question, limit=5, budget=1_000)
    tight = agent(known, "c").context(question, limit=5, budget=60)

    assert (len(made.hits), len(more.hits), len(tight.hits)) == (3, 5, 1)
    assert made.tokens == estimate_tokens(made.text) <= 150
    assert made.left_out >= 3
    assert agent(known, "d").context(question, limit=0).text == ""
    with pytest.raises(Invalid, match="limit must be 0 or more"):
        known.context(question, limit=-1)


@requirement("context.block")
def test_an_explanation_says_why_each_is_in_or_left_out_and_counts_as_no_use(known: Memories) -> None:
    for number in range(4):
        add(known, f"Jellyfin library {number} is scanned at {number} o'clock after each restart")
    add(known, "The logo of jellyfin is a violet triangle")
    here = agent(known)
    shown = contents(here.context(["When is jellyfin library 0 scanned after a restart?"], limit=1))
    question = ["When is each jellyfin library scanned after a restart of the server?"]

    first, again = (
        here.context(question, explain=True, limit=2),
        here.context(question, explain=True, limit=2),
    )

    assert first == again
    places = {
        each.hit.memory.content: each.place for each in first.candidates if isinstance(each.hit, MemoryHit)
    }
    assert [places[str(text)] for text in shown] == ["shown already"]
    assert [places[str(text)] for text in contents(first)] == ["in the block"] * 2
    assert list(places.values()).count("no room") == first.left_out > 0
    assert places["The logo of jellyfin is a violet triangle"] == "below the floor"
    assert {each.asked for each in first.candidates} == set(question)
    assert here.context(question).candidates == ()


@requirement("context.block")
def test_plain_characters_stay_plain(known: Memories) -> None:
    text = "Jellyfin restarts by `systemctl restart jellyfin` [since March] & takes < 60 s"
    add(known, text)

    assert text in agent(known).context(["How do I restart jellyfin?"]).text


@requirement("context.block")
def test_an_old_memory_has_its_date(known: Memories, clock: FixedClock) -> None:
    question = ["Could you restart the jellyfin server for me?"]
    fresh = agent(known, "now").context(question)
    clock.advance(days=30)

    aged = agent(known, "later").context(question)

    assert f"] {JELLYFIN}" in fresh.text
    assert ", 2026-03-01]" not in fresh.text
    assert f", 2026-03-01] {JELLYFIN}" in aged.text


@requirement("context.block", "brief.said-at")
def test_what_an_imported_session_said_has_the_date_of_that_day(known: Memories, clock: FixedClock) -> None:
    said_at = clock.now() - timedelta(days=200)
    told = known.say("old", "user", "The nightly export runs at half past four.", said_at=said_at)
    agent(known, "old").remember("The nightly export runs at half past four", message=told.id)
    day = f"{said_at:%Y-%m-%d}"

    asked = agent(known, "now").context(["When does the nightly export run?"])
    brief = known.brief()

    assert f", {day}]" in asked.text
    assert f"({day})" in brief.text


@requirement("sem.recall.context")
def test_tools_and_systems_do_not_ask(known: Memories) -> None:
    said = [
        NewMessage(role=role, content="Could you restart the jellyfin server?") for role in ("tool", "system")
    ]

    assert agent(known).context(said).text == ""


@requirement("sem.recall.context")
@pytest.mark.parametrize("budget", [0, 30, 45, 60, 500])
def test_the_block_stays_within_its_budget_and_the_rest_comes_later(known: Memories, budget: int) -> None:
    for number in range(6):
        add(known, f"Jellyfin library {number} is scanned at {number} o'clock after each restart")
    question = ["When is each jellyfin library scanned after a restart of the server?"]

    made = agent(known).context(question, budget=budget)

    assert estimate_tokens(made.text) <= budget
    assert (made.text == "") == (budget < 45)
    if budget == 45:
        assert made.left_out > 0
        later = agent(known).context(question, budget=500)
        assert later.hits
        assert set(contents(later)).isdisjoint(contents(made))


def test_a_negative_budget_is_refused(known: Memories) -> None:
    with pytest.raises(Invalid, match="budget must be 0 or more"):
        agent(known).context(["anything"], budget=-1)


@requirement("trust.why")
def test_why_tells_that_it_went_into_the_prompt_and_with_which_score(known: Memories) -> None:
    made = agent(known).context(["Could you restart the jellyfin server for me?"])

    [hit] = made.hits
    assert isinstance(hit, MemoryHit)
    [use] = known.why(hit.memory.id).uses
    assert (use.session, use.score, use.query) == (
        "s1",
        hit.score,
        "Could you restart the jellyfin server for me?",
    )


def test_without_a_session_nothing_is_kept_of_it(known: Memories, store: Store) -> None:
    for _ in range(2):
        assert contents(known.context(["Could you restart the jellyfin server for me?"])) == [JELLYFIN]
    with store.read("default") as tx:
        assert tx.sessions.count() == 0


@requirement("scope.project")
def test_another_projects_memories_stay_there(known: Memories) -> None:
    add(known, "The jellyfin restart of atlas needs a ticket first", project="atlas")
    question = ["Could you restart the jellyfin server for me?"]

    here = known.speaking_as("assistant", session="here").context(question)
    there = known.speaking_as("assistant", session="there", project="atlas").context(question)

    assert contents(here) == [JELLYFIN]
    assert len(contents(there)) == 2


def test_a_long_paste_asks_with_its_ends(known: Memories) -> None:
    log = "lorem ipsum dolor sit amet 12:00:01 ERROR x\n" * 400

    made = agent(known).context([f"Could you restart the jellyfin server for me?\n{log}"])

    assert len(made.hits) <= 1


def test_without_an_embedder_words_have_to_do(store: Store, clock: FixedClock) -> None:
    memories = Memories.of(store, "default", clock=clock)
    for text in (JELLYFIN, SEATS, TEA):
        add(memories, text)

    assert contents(agent(memories).context(["please restart jellyfin"])) == [JELLYFIN]
