"""Damaged rows: named by what finds them, and made again from the texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, text

from holdfast import Memories
from holdfast.app.checkup import repair
from holdfast.app.wiring import context_for
from holdfast.domain.health import Damage
from holdfast.domain.query import Filter
from holdfast.engine.ports import Store
from holdfast.store.database import Database
from holdfast.store.sqlite import driver_of
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add
from tests.store.some_vectors import Hashing

EMBEDDER = Hashing()


@pytest.fixture
def known(store: Store, clock: FixedClock) -> Memories:
    memories = Memories.of(store, "default", clock=clock, embedder=EMBEDDER)
    add(memories, "The router stands in the cellar", subject="router")
    add(memories, "The boiler hums in the attic", subject="boiler")
    memories.say("s1", "user", "Where did I put the marzipan?")
    memories.tend()
    return memories


@contextmanager
def by_hand(store: Store) -> Iterator[Connection]:
    """What another program, or a failing disk, does to the rows."""
    assert isinstance(store, Database)
    with store.engine.connect().execution_options(holdfast_write=True) as connection:
        if store.path is not None:
            driver_of(connection).execute("PRAGMA foreign_keys = OFF")
        with connection.begin():
            if store.path is None:
                connection.execute(text("SET LOCAL session_replication_role = replica"))
                connection.execute(text("SELECT set_config('holdfast.space', 'default', true)"))
            yield connection
        if store.path is not None:
            driver_of(connection).execute("PRAGMA foreign_keys = ON")


def damage(store: Store) -> Damage:
    with store.read("default") as tx:
        return tx.integrity.damage()


def mended(store: Store, clock: FixedClock) -> Damage:
    return repair(ctx=context_for("default", store, clock=clock, embedder=EMBEDDER))


@requirement("trust.repair")
def test_a_sound_space_has_no_damage(known: Memories, store: Store) -> None:
    assert damage(store) == Damage(space="default")


@requirement("trust.repair")
@pytest.mark.parametrize("broken", ["x'00112233'", "x''", "zeroblob(128)", "x'" + "0000c07f" * 32 + "'"])
def test_a_damaged_vector_breaks_no_recall_and_is_made_again(sqlite_url: str, broken: str) -> None:
    with Memories.open(sqlite_url, embedder=EMBEDDER) as memories:
        router = add(memories, "The router stands in the cellar", subject="router")
        boiler = add(memories, "The boiler hums in the attic", subject="boiler")
        memories.tend()
        assert isinstance(memories.store, Database)
        with by_hand(memories.store) as connection:
            change = f"UPDATE memory_vectors SET vector = {broken} WHERE memory_id = :id"
            connection.execute(text(change), {"id": boiler.id})

    with Memories.open(sqlite_url, embedder=EMBEDDER) as memories:
        first = memories.recall("router cellar")
        again = [hit.memory.id for hit in memories.recall("boiler attic").memories]

        assert [hit.memory.id for hit in first.memories] == [router.id]
        assert again == [boiler.id]
        assert damage(memories.store) == Damage(space="default")


@requirement("trust.repair")
@pytest.mark.not_on_citus("asks past row-level security")
def test_a_vector_of_another_size_breaks_no_recall_on_a_server(
    known: Memories, store: Store, dialect: str, clock: FixedClock
) -> None:
    value = "'[1,0,0]'" if dialect == "postgresql" else "x'00112233'"
    with by_hand(store) as connection:
        connection.execute(text(f"UPDATE memory_vectors SET vector = {value} WHERE part = 0"))

    found = known.recall("router cellar")
    wrong = damage(store).vectors
    mended(store, clock)

    assert [hit.memory.subject for hit in found.memories] == ["router"]
    assert wrong > 0 or dialect == "sqlite"  # there the recall itself had it mended
    assert damage(store).vectors == 0


@requirement("trust.repair")
@pytest.mark.not_on_citus("asks past row-level security")
def test_missing_words_and_vectors_are_made_again(known: Memories, store: Store, clock: FixedClock) -> None:
    with by_hand(store) as connection:
        connection.execute(text("DELETE FROM memory_words"))
        connection.execute(text("DELETE FROM memory_vectors"))
        connection.execute(text("DELETE FROM message_vectors"))
    before = damage(store)

    mended(store, clock)

    assert (before.words, before.vectors) == (2, 3)
    assert damage(store) == Damage(space="default")
    assert [hit.memory.subject for hit in known.recall("router cellar").memories] == ["router"]


@requirement("trust.repair")
@pytest.mark.not_on_citus("asks past row-level security")
def test_words_and_rows_of_what_is_gone_are_removed(known: Memories, store: Store, clock: FixedClock) -> None:
    [router] = known.find(Filter(subject="router")).memories
    with by_hand(store) as connection:
        for statement in (
            "DELETE FROM memories WHERE id = :id",
            "INSERT INTO citations (space, message_id, memory_id, begins) VALUES ('default', 'none', :id, 0)",
        ):
            connection.execute(text(statement), {"id": router.id})
    before = damage(store)

    mended(store, clock)

    assert before.orphans >= 3  # a version, a vector, a citation
    assert before.words == 1
    assert damage(store) == Damage(space="default")


@requirement("trust.repair")
@pytest.mark.parametrize("table", ["memories", "versions"])
@pytest.mark.not_on_citus("asks past row-level security")
def test_a_text_that_is_kept_twice_is_mended_from_the_sound_one(
    known: Memories, store: Store, clock: FixedClock, table: str
) -> None:
    [router] = known.find(Filter(subject="router")).memories
    with by_hand(store) as connection:
        mine = "id" if table == "memories" else "memory_id"
        change = text(f"UPDATE {table} SET content = 'The router stands in the Cellar' WHERE {mine} = :id")
        connection.execute(change, {"id": router.id})
    before = damage(store)

    mended(store, clock)

    assert before.texts == (f"{router.id} version 1",)
    assert damage(store).texts == ()
    assert known.show(router.id).memory.content == "The router stands in the cellar"


@requirement("trust.repair")
@pytest.mark.not_on_citus("asks past row-level security")
def test_an_archive_without_checksums_gets_them(known: Memories, store: Store, clock: FixedClock) -> None:
    from holdfast.engine.archive import read
    from holdfast.engine.restore import take_rows

    [archive] = read(known.export())
    for row in archive.rows["versions"]:
        del row["checksum"]

    with store.write("default") as tx:
        tx.dump.clear()
        take_rows(archive, tx, context_for("default", store).judge)

    with by_hand(store) as connection:
        without = connection.execute(text("SELECT count(*) FROM versions WHERE checksum IS NULL")).scalar()
    assert without == 0
    assert damage(store).texts == ()
