"""Writers and the follower are killed, then the disk is lost: the copy has all that it had acknowledged."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.store.copy_restore import restore_copy
from tests.faults.fleet import ALL_WELL, PATIENCE, ROOT, Fleet, plain_check
from tests.faults.test_killed_writers import WRITERS
from tests.requirements_ledger import requirement


@contextmanager
def follower(database: Path, folder: Path, every: str = "0.1") -> Iterator[subprocess.Popen[str]]:
    """`holdfast backup FOLDER --follow`, once its first snapshot is there."""
    command = [sys.executable, "-m", "holdfast", "--db", str(database), "backup", str(folder), "--follow"]
    process = subprocess.Popen(
        [*command, "--every", every], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Copying")
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def copied_after(folder: Path, moment: datetime) -> None:
    """Waits until something that was read after a moment is in the copy."""
    stamp = moment.strftime("%Y%m%dT%H%M%S.%fZ")
    deadline = time.monotonic() + PATIENCE
    while json.loads((folder / "state.json").read_text())["at"] <= stamp:
        assert time.monotonic() < deadline, "the follower does not copy"
        time.sleep(0.01)


def survive(place: Path, kills: int) -> None:
    database, ledger, folder = place / "disk" / "holdfast.db", place / "acked.txt", place / "copy"
    chance = random.Random(20261119)
    moments = []
    with Fleet(str(database), ledger) as fleet:
        pids = dict(enumerate(fleet.start("writer", range(WRITERS))))
        for _ in range(3):  # followers, each killed in turn
            with follower(database, folder):
                for _ in range(kills // 3):
                    time.sleep(chance.uniform(0, 0.04))  # the moment of the fault, not a synchronisation
                    victim = chance.randrange(WRITERS)
                    os.kill(pids[victim], signal.SIGKILL)
                    (pids[victim],) = fleet.start("writer", [victim])
                acked = fleet.wait_for(more=5)
                for _ in range(2):  # the first may have begun to read before that
                    copied_after(folder, datetime.now(UTC))
                moments.append((datetime.now(UTC), acked))
        fleet.finish()
        assert fleet.errors() == ""
    shutil.rmtree(database.parent)

    for number, (at, acked) in enumerate(moments):
        restored, known = place / f"restored-{number}.db", place / f"known-{number}.txt"
        known.write_text("".join(f"{line}\n" for line in acked))
        restore_copy(str(folder), str(restored), at)

        counted = plain_check(restored, known)

        assert counted["acked"] == len(acked) > 5 * number
        assert counted | ALL_WELL == counted


@pytest.mark.slow
@requirement("trust.continuous-copy")
def test_9_killed_writers_and_3_killed_followers_cost_no_acknowledged_write(tmp_path: Path) -> None:
    survive(tmp_path, kills=9)


@pytest.mark.faults
@requirement("trust.continuous-copy")
def test_600_killed_writers_and_3_killed_followers_cost_no_acknowledged_write(tmp_path: Path) -> None:
    survive(tmp_path, kills=600)


@pytest.mark.slow
@requirement("trust.continuous-copy")
def test_a_follower_that_is_stopped_copies_the_rest_and_one_whose_database_is_replaced_ends(
    tmp_path: Path,
) -> None:
    database, folder = tmp_path / "disk" / "holdfast.db", tmp_path / "copy"
    with Memories.open(str(database)) as memories:
        with follower(database, folder, every="60") as stopped:
            memories.remember("Written just before the stop")
            stopped.terminate()
            code = stopped.wait(PATIENCE)
        expected = list(memories.export())
        with follower(database, folder) as replaced:
            shutil.copyfile(database, tmp_path / "other.db")
            (tmp_path / "other.db").replace(database)
            told = replaced.communicate(timeout=PATIENCE)[0]

    restore_copy(str(folder), str(tmp_path / "restored.db"))
    with Memories.open(str(tmp_path / "restored.db")) as memories:
        assert list(memories.export()) == expected
    assert code == 0
    assert replaced.returncode == 3
    assert "the database file was replaced while it was open" in told
