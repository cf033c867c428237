"""Copies of the files taken while writers run, as a crash would leave them.

The writers are stopped by SIGSTOP, wherever they are, in the middle of a write, a commit or a checkpoint;
then the files are copied and the writers go on. While nobody runs nothing moves, so the copies belong to one
moment, whatever their order: the same bytes that kill -9 of all writers at that moment would leave. The
shared memory file is not copied: it dies with the machine, and SQLite makes it anew from the log.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast import Memories
from tests.faults.fleet import ALL_WELL, Fleet, plain_check
from tests.requirements_ledger import requirement

PATIENCE = 60.0


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@contextmanager
def stopped(pids: list[int]) -> Iterator[None]:
    """All of them stand still for the block."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + PATIENCE
    while not all(state_of(pid) == "T" for pid in pids):
        assert time.monotonic() < deadline, "a writer did not stop"
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def log_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")


def take_copies(folder: Path, copies: int, acks: int = 3) -> Iterator[tuple[Path, Path]]:
    """Copies of a database under load, each with the ledger of that moment and some `acks` more in it."""
    database, ledger = folder / "holdfast.db", folder / "acked.txt"
    chance = random.Random(4)
    with Fleet(str(database), ledger) as fleet:
        pids = fleet.start("writer", range(4))
        for number in range(copies):
            image = folder / f"copy-{number}"
            image.mkdir()
            fleet.wait_for(acks)
            time.sleep(chance.uniform(0, 0.15))  # the moment of the fault, not a synchronisation
            with stopped(pids):
                for file in (database, log_of(database), ledger):
                    if file.exists():
                        shutil.copyfile(file, image / file.name)
            yield image / database.name, image / ledger.name
        assert fleet.finish() == [0] * 4
        assert fleet.errors() == ""


def reopen_all(folder: Path, copies: int, acks: int) -> None:
    images = list(take_copies(folder, copies, acks=-(-acks // copies)))
    moments = set()

    for image, ledger in images:
        if not ledger.exists():
            ledger.touch()
        counted = plain_check(image, ledger)
        with Memories.open(str(image)) as memories:
            total = memories.find().total

        moments.add(counted["acked"])
        assert counted | ALL_WELL == counted
        assert total == counted["stored"] >= counted["acked"]

    assert counted["acked"] >= acks
    assert len(moments) > copies // 2  # the copies are not all of one moment


@pytest.mark.slow
@requirement("trust.durable")
def test_8_copies_of_database_and_log_reopen_with_every_acknowledged_write(tmp_path: Path) -> None:
    reopen_all(tmp_path, copies=8, acks=20)


@pytest.mark.faults
@requirement("trust.durable")
def test_300_copies_of_database_and_log_reopen_with_every_acknowledged_write(tmp_path: Path) -> None:
    reopen_all(tmp_path, copies=300, acks=1_000)


@pytest.mark.slow
def test_a_copy_without_its_log_is_found_out(tmp_path: Path) -> None:
    Memories.open(str(tmp_path / "holdfast.db")).close()
    images = list(take_copies(tmp_path, copies=8))
    for image, _ in images:
        log_of(image).unlink()

    # A moment right after a checkpoint needs no log; not all eight are such moments.
    assert any(plain_check(image, ledger)["lost"] for image, ledger in images)
