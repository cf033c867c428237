"""A large space on PostgreSQL is searched by an index of its own, once that agrees with the exact search."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from sqlalchemy import create_engine, text

from holdfast.app import wiring
from holdfast.engine.spaces import create_space
from holdfast.store import near_index
from holdfast.store.database import Database
from holdfast.store.near_index import NearIndex
from holdfast.store.vector_feed import MEMORY_VECTORS
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement
from tests.store.many_memories import MODEL, START, fill, name_of
from tests.store.some_vectors import Vectors, clustered
from tests.store.test_row_security import service_url

__all__ = ["service_url"]

MANY = 3_000


@pytest.fixture
def vectors(monkeypatch: pytest.MonkeyPatch) -> Vectors:
    monkeypatch.setattr(near_index, "EXACT_UP_TO", 1_000)
    return clustered(MANY)


@pytest.fixture
def database(postgres_url: str, vectors: Vectors) -> Iterator[Database]:
    database = Database.open(postgres_url)
    create_space("default", store=database, clock=lambda: START)
    fill(database, vectors)
    with database.engine.begin() as connection:
        connection.execute(text("ANALYZE memory_vectors"))
    yield database
    database.close()


def nearest(database: Database, queries: Vectors) -> set[str]:
    with database.read("default") as tx:
        return set(tx.memory_vectors.nearest([query.tobytes() for query in queries], MODEL, 10))


def exactly(vectors: Vectors, queries: Vectors) -> set[str]:
    return {name_of(place) for query in queries for place in np.argsort(-(vectors @ query))[:10]}


def scans(url: str) -> int:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
        counted = text("SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname LIKE 'near\\_%'")
        found = int(connection.execute(counted).scalar() or 0)
    engine.dispose()
    return found


@requirement("sem.search.large")
def test_the_owner_makes_the_index_and_every_role_finds_by_it_what_the_exact_search_finds(
    database: Database, service_url: str, postgres_url: str, vectors: Vectors
) -> None:
    queries = clustered(30, seed=9)

    [built] = wiring.index_large_spaces(postgres_url)
    made = scans(postgres_url)
    service = Database.open(service_url)
    found = nearest(service, queries)
    service.close()

    assert (built.space, built.kind, built.count, built.is_used) == ("default", "memory", MANY, True)
    wanted = exactly(vectors, queries)
    assert len(found & wanted) >= 0.98 * len(wanted)
    assert scans(postgres_url) > made
    assert wiring.index_large_spaces(postgres_url) == wiring.index_large_spaces(service_url) == []


@requirement("sem.search.large")
def test_what_is_written_later_is_found_and_what_is_dropped_is_not(
    database: Database, vectors: Vectors
) -> None:
    database.index_large_spaces()
    [new] = clustered(1, seed=7)

    fill(database, np.array([new]), first=MANY)
    then = nearest(database, np.array([new]))
    with database.write("default") as tx:
        tx.memory_vectors.drop([name_of(MANY)])

    assert name_of(MANY) in then
    assert name_of(MANY) not in nearest(database, np.array([new]))


@requirement("sem.search.large")
def test_an_index_that_misses_too_much_is_not_used(
    database: Database, postgres_url: str, vectors: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_index, "LEAST_RECALL", 1.01)

    [built] = database.index_large_spaces()
    before = scans(postgres_url)
    found = nearest(database, vectors[:5])

    assert not built.is_used
    assert found == exactly(vectors, vectors[:5])
    assert scans(postgres_url) == before


@requirement("sem.search.large")
def test_migrate_tells_and_clears_away_what_no_space_needs(
    database: Database, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = Shell(postgres_url, lambda: START)  # type: ignore[arg-type]

    told = shell.says("migrate")
    again = json.loads(shell.says("migrate", "--json"))
    monkeypatch.setattr(near_index, "EXACT_UP_TO", MANY)
    shell.says("migrate")

    index = NearIndex(MEMORY_VECTORS, "default", MODEL, 384)
    assert "\nIndexed 3,000 memory vectors of the space default: finds " in told
    assert again["indexes"] == []
    with database.engine.connect() as connection:
        assert not index.is_built(connection)
