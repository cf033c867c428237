"""A memory that did not help: it counts less for prompts like that one, until that is taken back."""

from dataclasses import replace

import pytest

from holdfast import Memories
from holdfast.agents import tools
from holdfast.engine.context import Context
from holdfast.engine.ports import Store
from holdfast.errors import Conflict, NotFound
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add

JELLYFIN = "Jellyfin takes 60s to start after a restart"
SEATS = "Prefers aisle seats on flights"
PROMPT = "How long does jellyfin take to start?"
LIKE_IT = "how long until jellyfin is up after a restart"
ANOTHER = "Is it normal that jellyfin was down for a minute when I restarted it?"


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


@pytest.fixture
def known(store: Store, clock: FixedClock, embedder: BuiltinEmbedder) -> Memories:
    memories = Memories.of(store, "default", clock=clock, embedder=embedder)
    for text in (JELLYFIN, SEATS):
        add(memories, text)
    return memories


def shown(memories: Memories, session: str, prompt: str = PROMPT) -> Context:
    return memories.speaking_as("assistant", session=session).context([prompt])


def rated(memories: Memories) -> str:
    """The id of the memory, after it was marked as not helpful for the prompt of session s1."""
    [hit] = memories.speaking_as("assistant", session="s1").recall(PROMPT, limit=1).memories
    memories.speaking_as("assistant", session="s1").feedback(hit.memory.id)
    return hit.memory.id


@requirement("context.feedback")
def test_what_did_not_help_is_not_put_beside_a_similar_prompt_until_that_is_taken_back(
    known: Memories,
) -> None:
    assert JELLYFIN in shown(known, "s0", LIKE_IT).text
    memory_id = rated(known)

    similar = shown(known, "s2", LIKE_IT)
    explained = known.context([LIKE_IT], explain=True)
    other = shown(known, "s3", ANOTHER)
    known.feedback(memory_id, helpful=True)

    assert JELLYFIN not in similar.text
    assert [each.place for each in explained.candidates][:1] == ["marked as not helpful"]
    assert JELLYFIN in other.text
    assert JELLYFIN in shown(known, "s4", LIKE_IT).text


@requirement("context.feedback")
def test_recall_ranks_it_lower_and_says_so(known: Memories) -> None:
    before = known.recall(LIKE_IT).memories[0]
    memory_id = rated(known)

    after = next(hit for hit in known.recall(LIKE_IT).memories if hit.memory.id == memory_id)
    [use] = [one for one in known.why(memory_id).uses if one.kind == "recall"]

    assert after.score == pytest.approx(before.score / 2, abs=0.001)
    assert after.parts["feedback"] == 0.5
    assert use.unhelpful_at is not None
    assert use.query == PROMPT


@requirement("context.feedback")
def test_a_model_rates_with_a_tool_what_its_session_was_shown(known: Memories) -> None:
    agent = known.speaking_as("assistant", session="s1")
    [hit] = agent.recall(PROMPT, limit=1).memories

    told = tools.call(agent, "memory_feedback", {"id": f"[id:{hit.memory.id}]"})
    back = tools.call(agent, "memory_feedback", {"id": hit.memory.id, "verdict": "helpful"})

    assert told.text == f"Noted: {hit.memory.id} is shown less for prompts like: {PROMPT}"
    assert back.values is not None
    assert back.values["outcome"] == "helpful"
    assert JELLYFIN in shown(known, "s2", LIKE_IT).text


def test_only_what_was_recalled_for_a_known_prompt_can_be_rated(known: Memories) -> None:
    [memory] = [one for one in known.find().memories if one.content == SEATS]
    agent = known.speaking_as("assistant", session="s1")
    agent.brief()

    with pytest.raises(NotFound, match="was not in a recall of this session"):
        agent.feedback(memory.id)
    known.speaking_as("assistant", session="s2").recall("Which seats on flights?")
    with pytest.raises(NotFound, match="is not marked as not helpful"):
        known.feedback(memory.id, helpful=True)
    with pytest.raises(NotFound, match="there is no memory"):
        agent.feedback("nothing0")


def test_without_an_embedder_only_the_same_words_count_as_the_same_prompt(
    store: Store, clock: FixedClock
) -> None:
    memories = Memories.of(store, "default", clock=clock, embedder=None)
    add(memories, JELLYFIN)
    rated(memories)

    def factor(prompt: str) -> float | None:
        return memories.recall(prompt).memories[0].parts.get("feedback")

    assert factor("how long does Jellyfin take to start") == 0.5
    assert factor("how long does jellyfin take after a restart") is None


def test_an_erased_memory_leaves_no_mark_and_an_archive_keeps_it(known: Memories, store: Store) -> None:
    memory_id = rated(known)
    archive = list(known.export())
    assert any('"unhelpful_at":"2026' in line for line in archive)

    known.erase(memory_id)

    with store.read("default") as tx:
        assert tx.receipts.unhelpful([memory_id], 5) == []


def test_a_prompt_that_was_not_stored_can_not_be_compared(known: Memories, store: Store) -> None:
    [hit] = known.speaking_as("assistant", session="s1").recall(PROMPT, limit=1).memories
    with store.write("default") as tx:
        [receipt] = tx.receipts.of_session("s1")
        tx.receipts.add(replace(receipt, id="unknown-prompt", query=None))

    with pytest.raises(Conflict, match="was not stored"):
        known.feedback(hit.memory.id, receipt="unknown-prompt")
    with pytest.raises(NotFound, match="was not in receipt nope"):
        known.feedback(hit.memory.id, receipt="nope")
    assert known.feedback(hit.memory.id, receipt=receipt.id).prompt == PROMPT
