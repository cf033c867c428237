"""Backups made while four writers run: each restores, with every write acknowledged before it began."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store, utc_now
from holdfast.domain.query import Filter
from holdfast.engine.archive import read
from holdfast.engine.backup import backup_lines, put_back
from holdfast.errors import Conflict
from holdfast.store.database import Database
from holdfast.store.transaction import SpaceTransaction
from tests.conftest import NewDatabase
from tests.faults.fleet import Fleet
from tests.faults.nursery import text_of
from tests.requirements_ledger import requirement


def backups(url: str, ledger: Path, count: int) -> list[tuple[list[str], list[str]]]:
    """The lines of backups made under load, each with the ledger as it was when it began."""
    made = []
    with Fleet(url, ledger) as fleet:
        fleet.start("writer", range(4))
        store = open_store(url)
        for _ in range(count):
            acked = fleet.wait_for(more=5)  # others write between any two backups
            made.append((list(backup_lines(store)), acked))
        store.close()
        codes = fleet.finish()
    assert codes == [0] * 4
    assert fleet.errors() == ""
    return made


def restore(lines: list[str], url: str) -> dict[str, str]:
    """A backup put back into an empty store; answers text by "key id", as the ledger has them."""
    store = open_store(url)
    for archive in read(lines):
        put_back([archive], store=store, clock=utc_now)
    assert list(backup_lines(store)) == lines
    with store.read("default") as tx:
        found = {f"{memory.subject} {memory.id}": memory.content for memory in tx.memories.find(Filter())}
    store.close()
    return found


def drill(url: str, ledger: Path, count: int, into: Iterator[str]) -> list[int]:
    sizes = []
    for lines, acked in backups(url, ledger, count):
        found = restore(lines, next(into))
        assert {line: text_of(line.split()[0]) for line in acked}.items() <= found.items()
        sizes.append(len(found))
    assert sizes == sorted(sizes)
    assert len(sizes) == count
    assert sizes[-1] >= 5 * count
    return sizes


def alternating(one: NewDatabase, other: NewDatabase) -> Iterator[str]:
    while True:
        yield one()
        yield other()


@pytest.mark.slow
@requirement("trust.backup")
def test_6_backups_under_load_restore_on_either_database_with_every_older_write(
    new_database: NewDatabase,
    new_sqlite_database: NewDatabase,
    new_postgresql_database: NewDatabase,
    tmp_path: Path,
) -> None:
    into = alternating(new_sqlite_database, new_postgresql_database)

    drill(new_database(), tmp_path / "acked.txt", 6, into)


@pytest.mark.faults
@requirement("trust.backup")
def test_100_backups_under_load_restore_on_either_database_with_every_older_write(
    new_database: NewDatabase,
    new_sqlite_database: NewDatabase,
    new_postgresql_database: NewDatabase,
    tmp_path: Path,
) -> None:
    into = alternating(new_sqlite_database, new_postgresql_database)

    drill(new_database(), tmp_path / "acked.txt", 50, into)


@requirement("trust.backup")
def test_a_backup_is_not_put_back_over_a_fuller_space_unless_told_to(new_database: NewDatabase) -> None:
    with Memories.open(new_database()) as memories:
        kept = memories.remember("A note of the first day", subject="first")
        lines = list(backup_lines(memories.store))
        memories.remember("A note of the second day", subject="second")
        (archive,) = read(lines)

        with pytest.raises(Exception, match="back it up first") as caught:
            put_back([archive], store=memories.store, clock=utc_now)
        untouched = memories.find().total
        put_back([archive], store=memories.store, clock=utc_now, replace=True)

        assert type(caught.value).__name__ == "Conflict"
        assert untouched == 2
        assert [memory.id for memory in memories.find().memories] == [kept.memory.id]  # type: ignore[union-attr]
        assert memories.recall("first day").hits


@requirement("trust.backup")
def test_a_write_that_comes_while_a_backup_is_put_back_is_not_lost(database_url: str) -> None:
    """Acknowledged between the look at the space and the writing into it."""
    with Memories.open(database_url) as memories, Memories.open(database_url) as other:
        memories.remember("A note of the first day", subject="first")
        archives = list(read(list(backup_lines(memories.store))))
        assert isinstance(memories.store, Database)
        write = memories.store.write

        @contextmanager
        def late(space: str, **how: Any) -> Iterator[SpaceTransaction]:
            other.remember("A note that comes in between", subject="second")
            with write(space, **how) as tx:
                yield tx

        memories.store.write = late  # type: ignore[method-assign]
        with pytest.raises(Conflict, match="back it up first"):
            put_back(archives, store=memories.store, clock=utc_now)

        assert other.find().total == 2


@requirement("trust.backup", "trust.tombstone")
@pytest.mark.parametrize("how", ["forgotten", "erased"])
def test_what_was_deleted_since_a_backup_does_not_come_back_with_it(database_url: str, how: str) -> None:
    with Memories.open(database_url) as memories:
        gone = memories.remember("A note that will be deleted", subject="gone").memory.id  # type: ignore[union-attr]
        kept = memories.remember("A note that stays where it is", subject="kept").memory.id  # type: ignore[union-attr]
        archives = list(read(list(backup_lines(memories.store))))
        (memories.forget if how == "forgotten" else memories.erase)(gone)

        (told,) = put_back(archives, store=memories.store, clock=utc_now, replace=True)

        assert told.imported.buried == (gone,)
        assert [memory.id for memory in memories.find().memories] == [kept]
        again = memories.remember("A note that will be deleted", subject="gone")
        assert type(again).__name__ == "Refused"
