"""The rows that recall and remember choose from: the right ones, in order, and none read in vain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from holdfast import Memories
from holdfast.domain.memory import Memory, MemoryText
from holdfast.domain.outcomes import settled
from holdfast.domain.query import Filter
from holdfast.domain.ranking import said
from holdfast.engine.ports import Transaction
from holdfast.store import sqlite
from holdfast.store.database import Database
from holdfast.testing import FixedClock


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database.open(database_url)
    yield database
    database.close()


@pytest.fixture
def kept(database: Database, clock: FixedClock) -> list[Memory]:
    """Memories that differ in all that a filter looks at, oldest first."""
    memories = Memories.of(database, "default", clock=clock)
    drafts = [
        {"content": "The bridge is painted every spring", "tags": ("paint", "yearly")},
        {"content": "Ravens nest on the north tower", "project": "birds"},
        {"content": "The tower is 40 metres high", "subject": "tower", "summary": "height"},
        {"content": "Call the keeper before noon", "category": "decision"},
        {"content": "Salt is stored under the stairs"},
        {"content": "The old lamp is broken"},
    ]
    found = []
    for draft in drafts:
        clock.advance(hours=1)
        memory = settled(memories.remember(**draft))  # type: ignore[arg-type]
        assert memory is not None
        found.append(memory)
    memories.forget(found[-1].id)
    return found


def ids(memories: Sequence[Memory], *numbers: int) -> list[str]:
    return [memories[number].id for number in numbers]


def test_wordings_are_all_that_a_memory_can_be_found_by(database: Database, kept: list[Memory]) -> None:
    with database.read("default") as tx:
        found = tx.memories.wordings(Filter())

    assert found == {memory.id: (said(memory), memory.project) for memory in kept[:-1]}
    assert found[kept[0].id].text == "The bridge is painted every spring paint yearly"
    assert found[kept[2].id].text == "tower height The tower is 40 metres high"


@pytest.mark.parametrize(
    ("where", "admitted"),
    [
        (Filter(other_projects=False), [4, 3, 2, 0]),
        (Filter(project="birds", other_projects=False), [4, 3, 2, 1, 0]),
        (Filter(project="birds"), [1]),
        (Filter(category="decision"), [3]),
        (Filter(general=True), [4, 3, 1, 0]),
        (Filter(tags=("paint",)), [0]),
        (Filter(states=("forgotten",)), [5]),
    ],
)
def test_wordings_are_those_that_the_filter_admits_in_the_order_asked_for(
    database: Database, kept: list[Memory], where: Filter, admitted: list[int]
) -> None:
    asked = ["Unknown1", *ids(kept, 5, 4, 3, 2, 1, 0)]

    with database.read("default") as tx:
        found = tx.memories.wordings(where, among=asked)
        some = tx.memories.wordings(where, limit=1)

    assert list(found) == ids(kept, *admitted)
    assert len(some) == 1
    assert some.items() <= found.items()


def test_a_draft_meets_what_is_filed_as_it_is(database: Database, kept: list[Memory]) -> None:
    everything = ids(kept, 5, 4, 3, 2, 1, 0)

    with database.read("default") as tx:
        texts = tx.memories.texts(everything)
        newest_first = tx.memories.about("general", None, "birds", 10)
        newest = tx.memories.about("general", None, "birds", 2)

    assert [each.id for each in texts] == everything[1:]
    assert texts[2] == MemoryText(kept[2].id, "general", "tower", None, "The tower is 40 metres high")
    assert newest_first == ids(kept, 4, 1, 0)
    assert newest == newest_first[:2]


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda tx: tx.memories.about("general", None, None, 9), "ix_memories_space_category_created_at_id"),
        (lambda tx: tx.memories.texts(["a", "b"]), "sqlite_autoindex_memories_1"),
        (lambda tx: tx.memories.wordings(Filter(), among=["a", "b"]), "sqlite_autoindex_memories_1"),
    ],
)
def test_where_few_have_a_subject_no_file_is_read_through(
    sqlite_url: str, ask: Callable[[Transaction], object], index: str
) -> None:
    # Without figures on its contents SQLite takes "subject is null" for a rare thing, which it is not.
    database = Database.open(sqlite_url)
    Memories.of(database, "default")
    with database.read("default") as tx:
        driver = sqlite.driver_of(tx.connection)
        asked: list[str] = []
        driver.set_trace_callback(asked.append)
        ask(tx)
        driver.set_trace_callback(None)
        plan = " ".join(str(row[-1]) for row in driver.execute(f"EXPLAIN QUERY PLAN {asked[-1]}"))
    database.close()

    assert index in plan
    assert "TEMP B-TREE" not in plan
