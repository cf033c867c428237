"""What a search shows beside its hits, and what nobody waits for."""

from collections.abc import Sequence

import pytest

from holdfast import Memories
from holdfast.domain.ranking import owner
from holdfast.engine.ports import Store
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add


def test_weaker_matches_are_listed_nearest_first_where_a_memory_answers(
    store: Store, clock: FixedClock
) -> None:
    memories = Memories.of(store, "default", clock=clock, embedder=BuiltinEmbedder())
    answer = add(memories, "Jellyfin takes 60s to start after a restart")
    for text in (
        "Paris is the capital of France",
        "Dumps are kept for a week",
        "The owner prefers green tea",
    ):
        add(memories, text)
    memories.tend()

    found = memories.look("how long does jellyfin take to start after a restart")

    assert [hit.memory.id for hit in found.recall.memories] == [answer.id]
    assert found.nearly
    missing = [floor - own for own, floor in (found.held[owner(hit)] for hit in found.nearly)]
    assert missing == sorted(missing)


HARBOURS = ("Kiel", "Bremen", "Husum", "Emden", "Flensburg", "Rostock", "Wismar")


@requirement("dash.search")
def test_what_the_block_holds_is_listed_though_messages_rank_before_it(
    store: Store, clock: FixedClock
) -> None:
    memories = Memories.of(store, "default", clock=clock, embedder=BuiltinEmbedder())
    for harbour in HARBOURS:
        memories.say(
            "talk", "user", f"Where will the boat lie in winter? In winter it could lie in {harbour}"
        )
    source = memories.say(
        "talk",
        "user",
        "By the way, we signed for the shed, so the boat lies there over the winter, good news",
    )
    speaker = memories.speaking_as("user", session="talk")
    answer = add(speaker, "The boat lies in the shed over the winter", message=source.id)
    memories.tend()

    found = memories.look("where does the boat lie in winter")

    assert answer.id in found.block.text
    assert [owner(hit) for hit in found.block.included] == [answer.id]
    assert answer.id not in map(owner, found.recall.hits)
    assert owner(found.more[0]) == answer.id
    weaker = set(map(owner, found.nearly))
    assert weaker.isdisjoint((answer.id, source.id))


class Counting(BuiltinEmbedder):
    """Counts the texts that it embeds to be stored."""

    def __init__(self) -> None:
        super().__init__()
        self.stored = 0

    def documents(self, texts: Sequence[str]) -> list[list[bytes]]:
        self.stored += len(texts)
        return super().documents(texts)


@pytest.mark.smoke
def test_pages_and_a_service_leave_missing_vectors_to_the_background(store: Store, clock: FixedClock) -> None:
    embedder = Counting()
    served = Memories.of(store, "default", clock=clock, embedder=embedder, waits=False)
    alone = Memories.of(store, "default", clock=clock, embedder=embedder)
    for number in range(5):
        add(served, f"Cellar {number} keeps the potatoes of farm {number}")
    served.speaking_as("tool").remember("Cellar 9 keeps the potatoes", doubtful="a web page said so")
    embedder.stored = 0

    served.recall("Which cellar keeps potatoes?")
    served.context("Which cellar keeps potatoes?")
    alone.look("Which cellar keeps potatoes?")
    assert len(alone.review().waiters) == 1
    assert embedder.stored == 0

    alone.recall("Which cellar keeps potatoes?")
    assert embedder.stored == 5
