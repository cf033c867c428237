"""Capture beside kept messages: what was said is found as well as without it."""

from __future__ import annotations

import math

import pytest

from holdfast import Memories
from holdfast.domain.outcomes import settled
from holdfast.domain.ranking import MemoryHit, MessageHit
from holdfast.engine.ports import Store
from holdfast.engine.sessions import NewMessage
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.testing import FixedClock
from tests.marking_reader import MarkingReader
from tests.requirements_ledger import requirement

SAID = [
    "Remember that I only drink oat milk, soy gives me a rash.",
    "There is soy milk in the kitchen of the Hamburg office.",
    "We decided to move the broker to host alpha because beta has no disk left.",
    "The disk of beta was ordered in Hamburg.",
    "Miriam is our landlord, remember that please.",
    "Miriam rang about the lift again.",
    "From now on, send the invoices to Otto.",
    "Otto was in Hamburg with the invoices.",
]
QUESTIONS = [
    "why no soy milk for me, what about the rash",
    "why did the broker leave beta",
    "who is the landlord",
    "who rang about the lift",
    "where do invoices go",
    "which disk was ordered",
]


def order(memories: Memories, question: str) -> list[str]:
    """The messages in the order of the hits; a memory stands for the one that it was taken from."""
    hits = memories.recall(question, limit=20, threshold=0.0).hits
    shown = [hit.message if isinstance(hit, MessageHit) else hit.cites for hit in hits]
    return [message.id for message in shown if message is not None]


@requirement("sem.tap.http")
def test_a_captured_memory_does_not_push_back_the_message_that_it_came_from(
    store: Store, clock: FixedClock
) -> None:
    marked = MarkingReader({"Remember that": "preference", "We decided": "decision", "Miriam is": "person"})
    memories = Memories.of(store, "default", clock=clock, builtin_model=marked)
    memories.say_all(
        "talk", [NewMessage(role="user", content=text, message_id=f"m{n}") for n, text in enumerate(SAID)]
    )
    before = {question: order(memories, question) for question in QUESTIONS}

    memories.capture("talk")

    cited = {memory.source.message for memory in memories.find().memories}
    assert len(cited) >= 3
    for question, ids in before.items():
        after = order(memories, question)
        assert len(after) == len(set(after))
        assert set(ids) <= set(after)
        for place, one in enumerate(ids):
            for other in ids[place + 1 :]:
                if one in cited and other not in cited:
                    assert after.index(one) < after.index(other), question


@pytest.mark.parametrize("limit", [1, 3])
def test_a_memory_and_its_message_are_listed_once(memories: Memories, limit: int) -> None:
    memories.say_all("talk", [NewMessage(role="user", content=SAID[0], message_id="m")])
    memories.capture("talk")

    hits = memories.recall("oat milk", limit=limit).hits

    assert [type(hit).__name__ for hit in hits] == ["MemoryHit"]


def test_what_an_agent_recorded_by_a_marker_stands_by_its_own_score(memories: Memories) -> None:
    talk = ["The films stutter.", "[MEMORY:general:jellyfin] Films stutter when the graphics device is gone"]
    memories.say_all(
        "talk",
        [NewMessage(role="assistant", content=text, message_id=f"m{n}") for n, text in enumerate(talk)],
    )
    speaker = memories.speaking_as("assistant", session="talk")
    recorded = settled(speaker.remember("Films stutter when the graphics device is gone", message="m1"))

    hits = memories.recall("why do films stutter", threshold=0.0).hits

    assert recorded is not None
    assert [hit.memory.id if isinstance(hit, MemoryHit) else hit.message.id for hit in hits] == [
        recorded.id,
        "m0",
    ]


@requirement("sem.recall.score")
def test_hits_are_listed_in_the_order_of_the_score_that_is_told(store: Store, clock: FixedClock) -> None:
    memories = Memories.of(store, "default", clock=clock, embedder=BuiltinEmbedder())
    memories.say_all("talk", [NewMessage(role="user", content=text) for text in SAID])
    memories.capture("talk")

    moved = 0
    for question in (*QUESTIONS, *SAID):
        hits = memories.recall(question, limit=20, threshold=0.0).hits
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        for hit in hits:
            assert 0 <= hit.parts["relevance"] <= 1
            told = max(sum(hit.evidence.values()), 0.0)
            assert hit.parts["relevance"] == pytest.approx(told, abs=4e-3)
            assert hit.score == pytest.approx(math.prod(hit.parts.values()), abs=1e-3)
            moved += "message" in hit.parts

    assert moved  # what stands where its message does says so
