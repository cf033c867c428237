"""The guards of a writing transaction, and that the checks notice when one is switched off."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import pytest
from sqlalchemy import Connection, event

from holdfast import Memories, Unavailable
from holdfast.domain.access import ALL_MEMORIES
from holdfast.domain.query import Filter
from holdfast.store import sqlite
from holdfast.store.database import Database
from holdfast.store.spaces import SpaceTable
from holdfast.store.transaction import SpaceTransaction
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement

WRITERS = 4
ROUNDS = 6


def say_the_same(url: str) -> list[str]:
    """Several writers say the same thing at once, round after round; answers what went wrong."""
    database = Database.open(url)
    memories = Memories.of(database, "default")
    start = threading.Barrier(WRITERS)
    troubles: list[str] = []

    def work() -> None:
        for number in range(ROUNDS):
            start.wait(timeout=60)
            try:
                memories.remember(f"Note {number} that everybody has", subject=f"s{number}")
            except Exception as error:
                troubles.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=work) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = troubles + wrong_in(memories)
    database.close()
    return told


def wrong_in(memories: Memories) -> list[str]:
    """One memory a round, each confirmed by all the other writers, or what is there instead."""
    with memories.store.read("default") as tx:
        entries = list(tx.dump.rows("journal"))
        found = tx.memories.find(Filter())
    wrong = []
    if len(found) != ROUNDS:
        wrong.append(f"{len(found)} memories for {ROUNDS} texts")
    if [entry["seq"] for entry in entries] != list(range(1, ROUNDS * WRITERS + 1)):
        wrong.append(f"{len(entries)} journal entries for {ROUNDS * WRITERS} calls")
    wrong += [f"confidence {memory.confidence}" for memory in found if memory.confidence != 1.0]
    return wrong


@requirement("sem.concurrent")
def test_writers_that_say_the_same_at_once_make_one_memory(database_url: str) -> None:
    assert say_the_same(database_url) == []


def pausing(write: Callable[..., Any], pause: threading.Barrier) -> Callable[..., Any]:
    """The same, but all writers meet between reading and writing: what a slow machine does by chance."""

    def paused(*arguments: Any, **options: Any) -> Any:
        with suppress(threading.BrokenBarrierError):
            pause.wait(timeout=0.3)
        return write(*arguments, **options)

    return paused


@pytest.fixture
def slow_between_reading_and_writing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from holdfast.store.memories import MemoryTable

    pause = threading.Barrier(WRITERS)
    monkeypatch.setattr(MemoryTable, "add", pausing(MemoryTable.add, pause))
    yield
    pause.abort()


def without_the_head_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpaceTable, "lock", lambda self, name: True)


def without_the_write_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite.WriteLock, "held", lambda self, patience=0.0, urgent=False: nullcontext())
    original = sqlite.open_engine

    def deferred(path: Any) -> Any:
        engine, file = original(path)

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            # After the product's own listener: takes its BEGIN IMMEDIATE back for a deferred one.
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            if driver.in_transaction:
                driver.execute("ROLLBACK")
            driver.execute("PRAGMA busy_timeout = 100")
            driver.execute("BEGIN")

        return engine, file

    monkeypatch.setattr(sqlite, "open_engine", deferred)


@requirement("sem.concurrent")
@pytest.mark.usefixtures("slow_between_reading_and_writing")
def test_without_the_write_lock_the_check_finds_trouble_on_sqlite(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memories.open(sqlite_url).close()
    without_the_write_lock(monkeypatch)

    assert "locked by another process" in " ".join(say_the_same(sqlite_url))


@requirement("sem.concurrent", "asst.postgres")
@pytest.mark.usefixtures("slow_between_reading_and_writing")
def test_without_the_head_row_lock_the_check_finds_trouble_on_postgresql(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memories.open(postgres_url).close()
    without_the_head_row(monkeypatch)

    assert "memories for" in " ".join(say_the_same(postgres_url))


def fail_half_way(memories: Memories) -> None:
    with memories.store.write("default") as tx:
        tx.dump.adopt_key("ab" * 32)
        for memory in tx.memories.find(Filter()):
            tx.memories.remove(memory.id)
        raise ZeroDivisionError


def test_a_transaction_that_fails_half_way_changes_nothing(database_url: str) -> None:
    with Memories.open(database_url) as memories:
        memories.remember("A note from before", subject="kept")
        before = list(memories.export())
        with pytest.raises(ZeroDivisionError):
            fail_half_way(memories)

        assert list(memories.export()) == before


def test_without_the_transaction_a_failure_half_way_is_noticed(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def committing(self: Database, space: str, **_: object) -> Iterator[SpaceTransaction]:
        with self.engine.connect() as connection:
            try:
                yield self._in(space, connection, ALL_MEMORIES)
            finally:
                connection.commit()

    with Memories.open(sqlite_url) as memories:
        memories.remember("A note from before", subject="kept")
        before = list(memories.export())
        monkeypatch.setattr(Database, "write", committing)
        with pytest.raises(ZeroDivisionError):
            fail_half_way(memories)

        assert list(memories.export()) != before


def test_a_writer_that_never_ends_does_not_keep_others_waiting_for_ever(
    new_database: NewDatabase, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.store import postgres

    monkeypatch.setattr(postgres, "_SETTINGS", "-c lock_timeout=200ms")
    monkeypatch.setattr(sqlite, "PATIENCE", 0.2)
    url = new_database()
    with Memories.open(url) as first, Memories.open(url) as second:
        with first.store.write("default"), pytest.raises(Unavailable, match="another process"):
            second.remember("A note that has to wait for too long")

        second.remember("A note that comes later")
        assert second.find().total == 1
