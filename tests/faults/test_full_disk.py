"""A full disk: one clear line, nothing acknowledged is lost, and all works again when there is room."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from sqlalchemy import event

from holdfast import Memories
from holdfast.store.database import Database
from tests.faults.full_disk import TEXT, all_there, write_until_full
from tests.faults.mounts import run_on
from tests.requirements_ledger import requirement

FULL = "the disk is full: free some space, then try again; saved data is safe"


def fill(folder: Path, kilobytes: int) -> dict[str, object]:
    mount = f"mount -t tmpfs -o size={kilobytes}k tmpfs {folder}"
    done = run_on(mount, folder, [sys.executable, "-m", "tests.faults.full_disk", str(folder)])
    assert done.returncode == 0, done.stderr
    told: dict[str, object] = json.loads(done.stdout)
    return told


def check(folder: Path, kilobytes: int) -> int:
    told = fill(folder, kilobytes)
    assert told["said"] == [f"{folder}/holdfast.db: {FULL}"] * 2
    assert told["readable when full"] is True
    assert told["said on opening"] in ("", f"Unavailable: {folder}/holdfast.db: {FULL}")
    assert told["erasing"] in ("erased", f"Unavailable: {folder}/holdfast.db: {FULL}")
    assert told["all there"] is True
    acked, later = told["acked"], told["acked after room was made"]
    assert isinstance(acked, int)
    assert isinstance(later, int)
    assert acked > 0
    assert later > 0
    assert told["total"] == acked + later
    return acked + later


@pytest.mark.slow
@requirement("trust.durable")
@pytest.mark.parametrize("kilobytes", [1_200, 1_604, 2_048])
def test_a_full_tmpfs_loses_nothing_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kilobytes: int
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    (tmp_path / "small").mkdir()

    check(tmp_path / "small", kilobytes)


@pytest.mark.faults
@requirement("trust.durable")
def test_50_sizes_of_a_full_tmpfs_lose_nothing_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    (tmp_path / "small").mkdir()

    acked = [check(tmp_path / "small", 1_200 + 40 * step) for step in range(50)]

    assert sum(acked) >= 500


@requirement("trust.durable")
def test_a_page_limit_loses_nothing_acknowledged(sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    limit = {"pages": 150}

    @event.listens_for(database.engine, "checkout")
    def limited(connection: object, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {limit['pages']}").fetchall()  # type: ignore[attr-defined]

    memories = Memories.of(database, "default")
    acked, said = write_until_full(memories, 0)
    readable = all_there(memories, acked)
    limit["pages"] = 10_000
    memories.remember("There is room again", subject="later")

    assert said.endswith(FULL)
    assert acked
    assert readable
    assert memories.find().total == len(acked) + 1
    memories.close()


def test_a_write_that_finds_the_disk_full_can_be_repeated_under_its_key(sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    limit = {"pages": 1}

    @event.listens_for(database.engine, "checkout")
    def limited(connection: object, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {limit['pages']}").fetchall()  # type: ignore[attr-defined]

    memories = Memories.of(database, "default")
    acked, _ = write_until_full(memories, 0)
    number = len(acked)
    limit["pages"] = 10_000

    for _ in range(2):
        memories.remember(f"{TEXT} Number {number}.", subject=f"s{number}", key=f"k{number}")

    assert memories.find().total == number + 1
    memories.close()
