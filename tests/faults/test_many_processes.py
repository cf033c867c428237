"""Sixteen processes write into one database at once: every write is kept, and nobody is turned away."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from holdfast import Memories
from tests.conftest import NewDatabase
from tests.faults.fleet import ALL_WELL, Fleet, plain_check
from tests.faults.nursery import text_of
from tests.requirements_ledger import requirement

# Writes in another process, then lets go of the database as the last or not the last to do so.
OTHER = """
import sys
from holdfast import Memories
with Memories.open(sys.argv[1]) as memories:
    print(memories.find().total)
"""


def seen_by_another(database: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", OTHER, str(database)], capture_output=True, text=True, check=True
    )
    return int(json.loads(done.stdout))


@requirement("sem.concurrent")
@pytest.mark.parametrize(
    ("writers", "each"),
    [pytest.param(4, 10, marks=pytest.mark.slow), pytest.param(16, 100, marks=pytest.mark.faults)],
)
def test_processes_that_write_at_once_all_store_in_a_new_file(
    tmp_path: Path, writers: int, each: int
) -> None:
    database, ledger = tmp_path / "holdfast.db", tmp_path / "acked.txt"
    with Fleet(str(database), ledger) as fleet:
        fleet.start("writer", range(writers), limit=each)
        fleet.start("reader", range(2), limit=20)
        codes = fleet.finish()

    counted = plain_check(database, ledger)

    assert fleet.errors() == ""
    assert codes == [0] * (writers + 2)
    assert counted["acked"] == counted["stored"] == writers * each
    assert counted | ALL_WELL == counted
    assert len(ledger.with_suffix(".reads").read_text().splitlines()) == 40


@pytest.mark.slow
@requirement("sem.concurrent", "asst.postgres")
def test_4_processes_with_8_writes_each_store_all_32_on_a_server(postgres_url: str, tmp_path: Path) -> None:
    with Fleet(postgres_url, tmp_path / "acked.txt") as fleet:
        fleet.start("writer", range(4), limit=8)
        fleet.start("reader", range(2), limit=20)
        codes = fleet.finish()
    engine = create_engine(postgres_url)
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT subject, id, content FROM memories")).all()
        entries, head = connection.execute(
            text("SELECT count(*), max(heads.seq) FROM journal, heads WHERE journal.space = heads.space")
        ).one()
    engine.dispose()

    assert fleet.errors() == ""
    assert codes == [0] * 6
    assert sorted(f"{row.subject} {row.id}" for row in rows) == sorted(fleet.acked())
    assert all(row.content == text_of(row.subject) for row in rows)
    assert len(rows) == entries == head == 32


def test_an_erase_does_not_open_the_file_to_others_while_it_is_in_use(sqlite_url: str) -> None:
    database = Path(sqlite_url.removeprefix("sqlite:///"))
    with Memories.open(str(database)) as memories:
        planted = memories.remember("A note that will be erased", subject="first")
        memories.erase(planted.memory.id)  # type: ignore[union-attr]
        seen_by_another(database)

        memories.remember("Acknowledged after the other process was gone", subject="second")

        assert seen_by_another(database) == 1


def test_opening_a_file_twice_in_one_process_keeps_the_first_one_safe(new_database: NewDatabase) -> None:
    database = new_database()
    with Memories.open(database) as first:
        Memories.open(database).close()
        other = subprocess.run(
            [sys.executable, "-c", OTHER, database], capture_output=True, text=True, check=True
        )

        first.remember("Acknowledged after the other process was gone", subject="second")

        again = subprocess.run(
            [sys.executable, "-c", OTHER, database], capture_output=True, text=True, check=True
        )
    assert (other.stdout, again.stdout) == ("0\n", "1\n")
