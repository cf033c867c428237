"""Above some 50,000 vectors a search goes by sign bits first: the same answers, a thirtieth of the memory."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from holdfast.domain.jobs import Embedded
from holdfast.engine.spaces import create_space
from holdfast.store import vectors as vector_forms
from holdfast.store import vectors_sqlite
from holdfast.store.database import Database
from holdfast.store.vectors import SignBits
from holdfast.store.vectors_sqlite import BLOCK, VectorBlocks
from tests.requirements_ledger import requirement
from tests.store.many_memories import MODEL, START, fill, name_of, packed
from tests.store.some_vectors import Vectors, clustered

ROOT = Path(__file__).parents[2]
FEW = 1_500  # vectors that are searched as they are in these tests
MANY = 5_000


@pytest.fixture
def database(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setattr(VectorBlocks, "EXACT_UP_TO", FEW)
    monkeypatch.setattr(vectors_sqlite, "_RESCORED", 250)
    database = Database.open(sqlite_url)
    create_space("default", store=database, clock=lambda: START)
    yield database
    database.close()


def loaded(database: Database) -> object:
    held = database._caches.vectors.get(("default", "memory", MODEL))
    return held.vectors if isinstance(held, vectors_sqlite.LoadedVectors) else None


def nearest(database: Database, query: Vectors, limit: int = 10, also: tuple[str, ...] = ()) -> list[str]:
    with database.read("default") as tx:
        found = tx.memory_vectors.nearest([query.tobytes()], MODEL, limit, also=also)
    return sorted(found, key=lambda owner: (-found[owner][0], owner))


def really_nearest(vectors: Vectors, query: Vectors, limit: int = 10) -> list[str]:
    return [name_of(place) for place in np.argsort(-(vectors @ query), kind="stable")[:limit]]


@requirement("sem.search")
def test_the_first_ten_are_those_of_the_exact_product(database: Database) -> None:
    vectors, queries = clustered(MANY), clustered(40, seed=9)
    fill(database, vectors)
    packed(database, 1)

    found = [nearest(database, query) for query in queries]

    assert isinstance(loaded(database), SignBits)
    assert found == [really_nearest(vectors, query) for query in queries]


def test_several_queries_at_once_find_what_each_would_find(database: Database) -> None:
    vectors, queries = clustered(MANY), clustered(3, seed=9)
    fill(database, vectors)
    packed(database, 1)

    with database.read("default") as tx:
        found = tx.memory_vectors.nearest([query.tobytes() for query in queries], MODEL, 10, [name_of(7)])
        alone = tx.memory_vectors.nearest([queries[0].tobytes()], MODEL, 0, also=[name_of(7)])

    wanted = {owner for query in queries for owner in really_nearest(vectors, query)} | {name_of(7)}
    assert found.keys() == wanted
    assert alone.keys() == {name_of(7)}
    cosines = vectors @ queries.T
    for owner, each in found.items():
        assert each == pytest.approx(cosines[int(owner[1:])].tolist(), abs=1e-5)


def test_a_space_that_grows_past_the_limit_goes_over_to_sign_bits(database: Database) -> None:
    vectors, [query] = clustered(FEW + 600), clustered(1, seed=9)
    fill(database, vectors[:FEW])
    packed(database, 1)
    before, few = nearest(database, query), type(loaded(database)).__name__

    fill(database, vectors[FEW:], first=FEW)
    between, many = nearest(database, query), type(loaded(database)).__name__
    packed(database, 2)

    assert (few, many) == ("ExactRows", "SignBits")
    assert before == really_nearest(vectors[:FEW], query)
    assert between == nearest(database, query) == really_nearest(vectors, query)


def test_what_came_after_the_last_block_is_found_too(database: Database) -> None:
    vectors, queries = clustered(MANY + 500), clustered(20, seed=9)
    fill(database, vectors[:MANY])
    packed(database, 1)
    nearest(database, queries[0])

    fill(database, vectors[MANY:], first=MANY)

    assert [nearest(database, query) for query in queries] == [
        really_nearest(vectors, query) for query in queries
    ]


def test_a_process_starts_from_the_blocks_without_reading_the_vectors(
    database: Database, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, [query] = clustered(4 * BLOCK + 100), clustered(1, seed=9)
    fill(database, vectors)
    packed(database, 1)
    made = 0

    def counted(rows: Vectors, mean: Vectors) -> vector_forms.Bits:
        nonlocal made
        made += len(rows)
        return vector_forms.signs_of(rows, mean)

    monkeypatch.setattr("holdfast.store.vectors_sqlite.signs_of", counted)
    other = Database.open(sqlite_url)
    found = nearest(other, query)
    other.close()

    assert found == really_nearest(vectors, query)
    assert made == 100


def test_a_vector_takes_less_than_100_bytes_of_memory(database: Database) -> None:
    fill(database, clustered(MANY))
    packed(database, 1)
    nearest(database, clustered(1, seed=9)[0])
    first = database._caches.vectors.size_in_bytes

    fill(database, clustered(600, seed=4), first=MANY)
    nearest(database, clustered(1, seed=9)[0])

    assert first <= 60 * MANY
    assert database._caches.vectors.size_in_bytes <= 100 * (MANY + 600)


def test_replaced_and_dropped_vectors_are_not_found(database: Database) -> None:
    vectors, [query] = clustered(MANY), clustered(1, seed=9)
    fill(database, vectors)
    packed(database, 1)
    first, second, *rest = nearest(database, query)
    away = -query

    with database.write("default") as tx:
        tx.memory_vectors.put_all([Embedded(first, 2, [away.tobytes()])], MODEL, START)
        tx.memories.remove(second)
        tx.memory_vectors.put_all([Embedded(name_of(MANY - 1), 2, [query.tobytes()])], MODEL, START)
    found = nearest(database, query)

    assert found[0] == name_of(MANY - 1)
    assert found[1:9] == rest
    assert not {first, second} & set(found)
    assert nearest(database, away)[0] == first


@requirement("trust.export-erase")
def test_what_is_gone_leaves_no_signs_in_the_blocks(database: Database) -> None:
    fill(database, clustered(MANY))
    packed(database, 1)
    before = numbers_in_blocks(database)

    with database.write("default") as tx:
        tx.memory_vectors.drop([name_of(number) for number in range(2_000)])
        tx.memory_vectors.put_all([Embedded(name_of(3_000), 2, [clustered(1)[0].tobytes()])], MODEL, START)
    after = numbers_in_blocks(database)

    assert len(before) == MANY // BLOCK * BLOCK
    assert set(before) - set(after) == {*range(1, 2_001), 3_001}
    with closing(sqlite3.connect(str(database.path))) as connection:
        stored = connection.execute("SELECT number FROM memory_vectors WHERE number <= 4096").fetchall()
    assert [number for (number,) in sorted(stored)] == after


def numbers_in_blocks(database: Database) -> list[int]:
    from holdfast.store.vector_feed import MEMORY_VECTORS

    with database.read("default") as tx:
        blocks = VectorBlocks(tx.connection, "default", MEMORY_VECTORS, MODEL).all(384)
        return [int(number) for numbers, _ in blocks for number in numbers]


def test_when_much_was_dropped_all_is_loaded_anew(database: Database) -> None:
    vectors, [query] = clustered(MANY), clustered(1, seed=9)
    fill(database, vectors)
    packed(database, 1)
    gone = nearest(database, query, limit=900)

    with database.write("default") as tx:
        tx.memory_vectors.drop(gone)
    found = [nearest(database, query) for _ in range(2)]

    assert not set(gone).intersection(*found)
    signs = loaded(database)
    assert isinstance(signs, SignBits)
    assert signs.count == MANY - 900


def test_texts_of_several_parts_are_rescored_with_all_of_them(database: Database) -> None:
    vectors, queries = clustered(MANY), clustered(2, seed=9)
    fill(database, vectors)
    with database.write("default") as tx:
        parts = [vectors[17].tobytes(), queries[0].tobytes(), queries[1].tobytes()]
        tx.memory_vectors.put_all([Embedded(name_of(17), 2, parts)], MODEL, START)
    packed(database, 1)

    with database.read("default") as tx:
        found = tx.memory_vectors.nearest([query.tobytes() for query in queries], MODEL, 5)

    assert found[name_of(17)] == (1.0, 1.0)


@requirement("sem.search")
def test_another_process_sees_and_is_seen(database: Database) -> None:
    vectors = clustered(MANY)
    fill(database, vectors)
    packed(database, 1)
    [query] = clustered(1, seed=4_321)
    before = nearest(database, query)[0]

    command = [sys.executable, "-m", "tests.store.many_memories", str(database.path), "4321"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)

    assert before == really_nearest(vectors, query)[0] != name_of(4_321)
    assert nearest(database, query)[0] == name_of(4_321)


@pytest.mark.parametrize("dimensions", [64, 100, 384])
def test_any_number_of_dimensions_works(database: Database, dimensions: int) -> None:
    vectors = clustered(FEW + 200, dimensions=dimensions)
    fill(database, vectors)
    packed(database, 1)
    [query] = clustered(1, dimensions=dimensions, seed=9)

    found = nearest(database, query, limit=3)

    best = np.sort(vectors @ query)[::-1][:3]
    assert [float(vectors[int(owner[1:])] @ query) for owner in found] == pytest.approx(best, abs=1e-3)
