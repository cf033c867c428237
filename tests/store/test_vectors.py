"""Vectors: what is nearest to a question, the same on both databases, and never what is gone."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.jobs import Embedded
from holdfast.engine.ports import Store, Transaction
from holdfast.engine.spaces import create_space, delete_space
from holdfast.errors import Unavailable
from holdfast.store.database import Database
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add
from tests.store.some_vectors import Vectors, clustered, unit

MODEL = "a-model"
EAST, NORTH = (unit(np.array(direction)).tobytes() for direction in ([1.0, 0.0], [0.0, 1.0]))
BETWEEN = unit(np.array([1.0, 1.0])).tobytes()


@dataclass
class Told:
    """A space with memories whose vectors are known."""

    memories: Memories
    ids: list[str]

    def put(self, *parts: Sequence[bytes], model: str = MODEL) -> None:
        """Gives the memories their vectors, in order."""
        with self.memories.store.write(self.memories.space) as tx:
            for memory_id, vectors in zip(self.ids, parts, strict=False):
                self.put_in(tx, memory_id, vectors, model)

    def put_in(self, tx: Transaction, memory_id: str, vectors: Sequence[bytes], model: str = MODEL) -> None:
        tx.memory_vectors.put_all([Embedded(memory_id, 1, vectors)], model, FixedClock().now())

    def nearest(
        self, *queries: bytes, limit: int = 10, also: Sequence[str] = (), model: str = MODEL
    ) -> dict[str, tuple[float, ...]]:
        with self.memories.store.read(self.memories.space) as tx:
            return tx.memory_vectors.nearest(queries, model, limit, also=also)


def some(store: Store, clock: FixedClock, count: int, space: str = "default") -> Told:
    memories = Memories.of(store, space, clock=clock)
    ids = [add(memories, f"Note number {n} of this space", subject=f"s{n}").id for n in range(count)]
    return Told(memories, ids)


@pytest.fixture
def told(store: Store, clock: FixedClock) -> Told:
    return some(store, clock, 4)


@requirement("sem.search")
def test_each_owner_comes_with_the_cosine_of_its_best_part_for_each_query(told: Told) -> None:
    one, two, three, four = told.ids
    told.put([EAST], [NORTH, BETWEEN], [BETWEEN])

    found = told.nearest(EAST, NORTH)

    half: Any = pytest.approx(0.707107, abs=1e-5)
    assert found == {one: (1.0, 0.0), two: (half, 1.0), three: (half, half)}
    assert told.nearest(EAST, limit=1) == {one: (1.0,)}
    assert told.nearest(EAST, limit=1, also=[three, four, "nobody"]) == {one: (1.0,), three: (half,)}
    assert told.nearest(EAST, limit=0, also=[three]) == {three: (half,)}
    assert told.nearest(EAST, limit=0) == {}
    assert told.nearest() == {}
    assert told.nearest(EAST, model="another") == {}


@requirement("sem.search", "asst.postgres")
def test_the_nearest_are_those_of_the_plain_product(store: Store, clock: FixedClock) -> None:
    told, vectors = some(store, clock, 24), clustered(48)
    told.put(*([vectors[2 * n].tobytes(), vectors[2 * n + 1].tobytes()] for n in range(24)))
    queries = clustered(3, seed=5)

    found = told.nearest(*(query.tobytes() for query in queries), limit=7, also=told.ids[:3])

    cosines = (vectors @ queries.T).reshape(24, 2, 3).max(axis=1)
    wanted = set(told.ids[:3])
    for query in range(3):
        wanted |= {told.ids[place] for place in np.argsort(-cosines[:, query])[:7]}
    assert found.keys() == wanted
    for owner, each in found.items():
        assert each == pytest.approx(cosines[told.ids.index(owner)].tolist(), abs=1e-5)


def test_parts_of_one_long_text_do_not_crowd_out_other_texts(told: Told) -> None:
    told.put([EAST] * 20, [BETWEEN], [NORTH])

    assert set(told.nearest(EAST, limit=2)) == set(told.ids[:2])


def test_a_vector_is_found_as_soon_as_it_is_stored_and_as_it_was_stored_last(told: Told) -> None:
    told.put([EAST, BETWEEN])
    first = told.nearest(EAST)

    told.put([NORTH])
    second = told.nearest(EAST)
    told.put([NORTH], [EAST])

    assert first == {told.ids[0]: (1.0,)}
    assert second == {told.ids[0]: (0.0,)}
    assert told.nearest(EAST) == {told.ids[0]: (0.0,), told.ids[1]: (1.0,)}


@requirement("trust.export-erase")
def test_what_is_erased_or_dropped_is_not_found(told: Told) -> None:
    told.put([EAST], [BETWEEN], [NORTH])
    told.nearest(EAST)

    told.memories.erase(told.ids[0])
    after_erase = told.nearest(EAST)
    with told.memories.store.write("default") as tx:
        tx.memory_vectors.drop([told.ids[1]])

    assert set(after_erase) == set(told.ids[1:3])
    assert list(told.nearest(EAST)) == [told.ids[2]]


def test_vectors_of_models_and_spaces_and_kinds_are_kept_apart(store: Store, clock: FixedClock) -> None:
    create_space("other", store=store, clock=clock)
    here, there = some(store, clock, 1), some(store, clock, 1, "other")
    message = here.memories.say("s1", "user", "Hello")

    here.put([EAST])
    here.put([unit(np.array([1.0, 0.0, 0.0])).tobytes()], model="of-three")
    there.put([NORTH])
    with store.write("default") as tx:
        tx.message_vectors.put_all([Embedded(message.id, 1, [BETWEEN])], MODEL, clock.now())

    assert here.nearest(EAST) == {here.ids[0]: (1.0,)}
    assert there.nearest(EAST) == {there.ids[0]: (0.0,)}
    with store.read("default") as tx:
        assert list(tx.message_vectors.nearest([EAST], MODEL, 5)) == [message.id]


@requirement("sem.embedder.down")
def test_a_vector_of_another_size_is_refused_and_the_rest_stays_searchable(told: Told) -> None:
    three = unit(np.array([1.0, 0.0, 0.0])).tobytes()
    told.put([EAST])

    with pytest.raises(Unavailable, match="3 numbers, but its others have 2"):
        told.put([three])
    with pytest.raises(Unavailable, match="3 numbers, but vectors of a-model have 2"):
        told.nearest(three)

    assert told.nearest(EAST) == {told.ids[0]: (1.0,)}


def test_a_vector_of_nearly_length_1_counts_as_one_of_length_1(told: Told) -> None:
    told.put([np.array([1.005, 0.0], dtype=np.float32).tobytes()])

    assert told.nearest(EAST) == {told.ids[0]: (1.0,)}


def test_what_a_transaction_put_in_and_took_back_is_never_found_again(told: Told) -> None:
    told.put([EAST])
    told.nearest(EAST)

    with pytest.raises(RuntimeError, match="taken back"):
        put_and_take_back(told)
    between = told.nearest(EAST)
    told.put([EAST], [EAST], [NORTH])

    assert between == {told.ids[0]: (1.0,)}
    assert told.nearest(EAST) == {told.ids[0]: (1.0,), told.ids[1]: (1.0,), told.ids[2]: (0.0,)}


def put_and_take_back(told: Told) -> None:
    with told.memories.store.write("default") as tx:
        told.put_in(tx, told.ids[1], [BETWEEN])
        tx.memory_vectors.drop([told.ids[0]])
        assert list(tx.memory_vectors.nearest([EAST], MODEL, 5)) == [told.ids[1]]
        raise RuntimeError("taken back")


@requirement("sem.search")
def test_two_stores_on_one_database_see_what_the_other_committed(
    told: Told, database_url: str, clock: FixedClock
) -> None:
    other = open_store(database_url)
    theirs = Told(Memories.of(other, "default", clock=clock), told.ids)
    told.put([EAST], [NORTH])
    seen = [told.nearest(EAST), theirs.nearest(EAST)]

    theirs.put([NORTH], [EAST], [BETWEEN])
    theirs.memories.erase(told.ids[1])
    after = [told.nearest(EAST), theirs.nearest(EAST)]
    other.close()

    assert seen[0] == seen[1] == {told.ids[0]: (1.0,), told.ids[1]: (0.0,)}
    assert after[0] == after[1] == {told.ids[0]: (0.0,), told.ids[2]: (pytest.approx(0.707107, abs=1e-5),)}


def test_a_space_that_is_made_anew_starts_without_the_vectors_of_the_old_one(
    store: Store, clock: FixedClock
) -> None:
    create_space("again", store=store, clock=clock)
    before = some(store, clock, 3, "again")
    before.put([EAST], [EAST], [EAST])
    before.nearest(EAST)

    delete_space("again", store=store)
    create_space("again", store=store, clock=clock)
    after = some(store, clock, 3, "again")
    after.put([NORTH], [BETWEEN])

    assert after.nearest(EAST) == {after.ids[0]: (0.0,), after.ids[1]: (pytest.approx(0.707107, abs=1e-5),)}


def test_a_dropped_model_takes_its_vectors_with_it(told: Told) -> None:
    told.put([EAST])
    told.put([NORTH], model="the-next")
    told.nearest(EAST)

    with told.memories.store.write("default") as tx:
        tx.models.drop(MODEL)
        left = [model.name for model in tx.models.all()]

    assert left == ["the-next"]
    assert told.nearest(EAST) == {}
    told.put([BETWEEN])
    assert list(told.nearest(EAST)) == told.ids[:1]
    assert told.nearest(EAST, model="the-next") == {told.ids[0]: (0.0,)}


def test_many_changes_in_a_row_leave_what_the_last_ones_said(store: Store, clock: FixedClock) -> None:
    told, chance = some(store, clock, 12), np.random.default_rng(3)
    vectors: Vectors = clustered(200)
    now: dict[str, list[int]] = {}

    for step in range(60):
        memory_id = told.ids[chance.integers(len(told.ids))]
        with store.write("default") as tx:
            if step % 5 == 4:
                tx.memory_vectors.drop([memory_id])
                now.pop(memory_id, None)
            else:
                rows = chance.integers(0, 200, size=chance.integers(1, 4)).tolist()
                told.put_in(tx, memory_id, [vectors[row].tobytes() for row in rows])
                now[memory_id] = rows
        query = vectors[chance.integers(200)]
        found = {owner: each[0] for owner, each in told.nearest(query.tobytes(), limit=4).items()}

        cosines = {owner: float((vectors[rows] @ query).max()) for owner, rows in now.items()}
        best = sorted(cosines.values(), reverse=True)[:4]
        assert sorted(found.values(), reverse=True) == pytest.approx(best, abs=1e-5)
        assert found == pytest.approx({owner: cosines[owner] for owner in found}, abs=1e-5)


@pytest.mark.parametrize("writes", [12, pytest.param(200, marks=pytest.mark.faults)])
def test_many_threads_search_while_one_writes(store: Store, clock: FixedClock, writes: int) -> None:
    told, vectors = some(store, clock, 8), clustered(60)
    told.put(*([vectors[n].tobytes()] for n in range(8)))
    wrong: list[object] = []
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            try:
                found = told.nearest(vectors[0].tobytes(), limit=3, also=told.ids)
                if set(found) != set(told.ids) or max(found.values()) < (0.99,):
                    wrong.append(found)
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(writes):  # the first memory keeps its vector, the others get new ones
        told.put([vectors[0].tobytes()], *([vectors[(n + k) % 60].tobytes()] * (1 + n % 2) for k in range(7)))
    done.set()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_an_update_that_fails_halfway_leaves_what_is_loaded_as_it_was(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    told.put([EAST], [NORTH])
    told.nearest(EAST)
    told.put([EAST], [NORTH], [BETWEEN])
    told.memories.erase(told.ids[1])

    with monkeypatch.context() as failing:
        failing.setattr("holdfast.store.vectors_sqlite.SqliteSearch._numbers", fail)
        if isinstance(told.memories.store, Database) and told.memories.store.path:
            with pytest.raises(Unavailable, match="disk"):
                told.nearest(EAST)

    assert told.nearest(EAST) == {told.ids[0]: (1.0,), told.ids[2]: (pytest.approx(0.707107, abs=1e-5),)}


def fail(*_: object) -> list[int]:
    raise OSError("no space left on the disk")


@requirement("sem.search")
def test_asked_for_by_id_alone_only_those_are_told_with_the_same_cosines(told: Told) -> None:
    told.put([EAST], [NORTH, BETWEEN], [BETWEEN])
    told.put([NORTH])  # in place of the first
    everything = told.nearest(EAST, BETWEEN)

    asked_for = told.nearest(EAST, BETWEEN, limit=0, also=[told.ids[1], "nobody", told.ids[0]])

    assert asked_for == {memory_id: everything[memory_id] for memory_id in told.ids[:2]}
    assert told.nearest(EAST, limit=0, also=["nobody"]) == {}
