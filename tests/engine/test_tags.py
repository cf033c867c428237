"""Tags that several people give to one memory at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from holdfast import Memories
from holdfast.domain.outcomes import Added
from tests.requirements_ledger import requirement


@requirement("dash.edit")
def test_tags_that_are_added_and_dropped_at_the_same_time_are_all_counted(database_url: str) -> None:
    with Memories.open(database_url) as memories:
        added = memories.remember("Takes 60s to start", tags=("old", "kept"))
        assert isinstance(added, Added)

        def tag(name: str) -> None:
            memories.revise(added.memory.id, add_tags=(name,))

        with ThreadPoolExecutor(4) as people:
            list(people.map(tag, ["a", "b", "c", "d"]))
        memories.revise(added.memory.id, add_tags=("a",), drop_tags=("old", "never there"))

        found = memories.show(added.memory.id).memory.tags

    assert sorted(found) == ["a", "b", "c", "d", "kept"]
