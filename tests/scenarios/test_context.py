"""Context recall: what the memory adds to what was just said, once, within its budget."""

import pytest

from holdfast import Memories
from holdfast.domain.budget import estimate_tokens
from holdfast.domain.ranking import MemoryHit, MessageHit
from holdfast.engine.context import Context
from holdfast.engine.ports import Store
from holdfast.engine.sessions import NewMessage
from holdfast.errors import Invalid
from holdfast.models.embedder import OwnEmbedder
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add

JELLYFIN = "Jellyfin takes 60s to start after a restart"
SEATS = "Prefers aisle seats on flights"
TEA = "Favourite tea is lapsang souchong"


@pytest.fixture(scope="module")
def embedder() -> OwnEmbedder:
    return OwnEmbedder()


@pytest.fixture
def known(store: Store, clock: FixedClock, embedder: OwnEmbedder) -> Memories:
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
    assert made.tokens == estimate_tokens(made.text) <= 500


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


@requirement("sem.recall.context")
def test_the_last_three_messages_ask_and_no_more(known: Memories) -> None:
    conversation = [
        NewMessage(role="user", content="Which tea do I like best?"),
        NewMessage(role="assistant", content="Let me think about it."),
        NewMessage(role="user", content="Could you restart the jellyfin server for me?"),
        NewMessage(role="assistant", content="Should I do it right now?"),
        NewMessage(role="user", content="Yes, go ahead."),
    ]

    assert contents(agent(known).context(conversation)) == [JELLYFIN]


@requirement("sem.recall.context")
def test_the_newest_message_counts_most(known: Memories) -> None:
    seats, tea = "Which seat do I like on a plane?", "Which tea do I like best?"

    [older] = [hit for hit in agent(known, "a").context([seats, tea]).hits if SEATS in str(hit)]
    [newest] = [hit for hit in agent(known, "b").context([tea, seats]).hits if SEATS in str(hit)]

    assert newest.score > older.score
    assert newest.parts["relevance"] == pytest.approx(sum(newest.evidence.values()), abs=1e-3)


@requirement("sem.recall.context")
def test_kept_messages_of_the_session_come_before_the_one_given(known: Memories) -> None:
    known.say("s1", "user", "Could you restart the jellyfin server for me?")
    known.say("s1", "assistant", "Should I do it right now?")

    made = agent(known).context(["Yes, go ahead."])

    assert contents(made) == [JELLYFIN]


@requirement("sem.recall.context")
def test_what_other_sessions_said_is_quoted_and_this_ones_is_not(known: Memories) -> None:
    known.say("before", "user", "The jellyfin server moved to the rack in the cellar", speaker="Tom")
    known.say("s1", "user", "I wonder about the jellyfin server in the cellar", speaker="Tom")

    made = agent(known).context(["In which rack is the jellyfin server now?"])

    quoted = [hit.message.session for hit in made.hits if isinstance(hit, MessageHit)]
    assert quoted == ["before"]
    assert 'by Tom] "The jellyfin server moved to the rack in the cellar"' in made.text


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
