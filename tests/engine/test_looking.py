"""What a search shows beside its hits."""

from holdfast import Memories
from holdfast.domain.ranking import owner
from holdfast.engine.ports import Store
from holdfast.models.embedders import OwnEmbedder
from holdfast.testing import FixedClock
from tests.scenarios.told import add


def test_weaker_matches_are_listed_nearest_first_where_a_memory_answers(
    store: Store, clock: FixedClock
) -> None:
    memories = Memories.of(store, "default", clock=clock, embedder=OwnEmbedder())
    answer = add(memories, "Jellyfin takes 60s to start after a restart")
    for text in (
        "Paris is the capital of France",
        "Dumps are kept for a week",
        "The owner prefers green tea",
    ):
        add(memories, text)

    found = memories.look("how long does jellyfin take to start after a restart")

    assert [hit.memory.id for hit in found.recall.memories] == [answer.id]
    assert found.nearly
    missing = [floor - own for own, floor in (found.held[owner(hit)] for hit in found.nearly)]
    assert missing == sorted(missing)
