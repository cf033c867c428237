"""kill -9 of writers at random moments: what was acknowledged is there, once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.faults.fleet import ALL_WELL, Fleet, plain_check
from tests.requirements_ledger import requirement

WRITERS = 4
SEED = 20261115


def kill_at_random(fleet: Fleet, kills: int, acks: int, chance: random.Random) -> int:
    """Kills one writer after another, each up to 40 ms after the last replacement was ready."""
    pids = dict(enumerate(fleet.start("writer", range(WRITERS))))
    killed = 0
    while killed < kills or len(fleet.acked()) < acks:
        time.sleep(chance.uniform(0, 0.04))  # the moment of the fault, not a synchronisation
        victim = chance.randrange(WRITERS)
        os.kill(pids[victim], signal.SIGKILL)
        killed += 1
        (pids[victim],) = fleet.start("writer", [victim])
    return killed


def survive(folder: Path, kills: int, acks: int) -> None:
    database, ledger = folder / "holdfast.db", folder / "acked.txt"
    with Fleet(str(database), ledger) as fleet:
        killed = kill_at_random(fleet, kills, acks, random.Random(SEED))
        codes = fleet.finish()

    counted = plain_check(database, ledger)

    assert fleet.errors() == ""
    assert codes.count(-signal.SIGKILL) == killed >= kills
    assert codes.count(0) == WRITERS
    assert counted["acked"] >= acks
    assert counted | ALL_WELL == counted


@pytest.mark.slow
@requirement("trust.durable")
def test_12_kills_of_4_writers_lose_and_double_nothing(tmp_path: Path) -> None:
    survive(tmp_path, kills=12, acks=60)


@pytest.mark.faults
@requirement("trust.durable")
def test_1000_kills_of_4_writers_lose_and_double_nothing(tmp_path: Path) -> None:
    survive(tmp_path, kills=1_000, acks=5_000)


TAMPERED = {
    "lost": "UPDATE memories SET content = 'other' WHERE subject = '0-1'",
    "doubled": "UPDATE memories SET content = (SELECT content FROM memories WHERE subject = '0-2')",
    "key answers another": "DELETE FROM calls WHERE key = '0-1'",
    "without key": "DELETE FROM calls WHERE key = '0-1'",
    "without version 1": "DELETE FROM versions WHERE rowid = 1",
    "without journal entry": "UPDATE journal SET memory_id = 'nobody' WHERE seq = 1",
    "journal has gaps": "DELETE FROM journal WHERE seq = 2",
    "foreign keys": "DELETE FROM memories WHERE subject = '0-1'",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database and its ledger after one writer's four writes."""
    folder = tmp_path_factory.mktemp("written")
    with Fleet(str(folder / "holdfast.db"), folder / "acked.txt") as fleet:
        fleet.start("writer", [0], limit=4)
        assert fleet.finish() == [0]
    return folder


@pytest.mark.parametrize("fault", TAMPERED)
def test_the_check_finds_what_it_looks_for(written: Path, tmp_path: Path, fault: str) -> None:
    database = tmp_path / "holdfast.db"
    shutil.copyfile(written / "holdfast.db", database)
    before = plain_check(database, written / "acked.txt")
    with sqlite3.connect(database) as connection:
        connection.execute(TAMPERED[fault])
    connection.close()

    after = plain_check(database, written / "acked.txt")

    assert before | ALL_WELL == before
    assert after[fault] != before[fault]
