"""How connections are set up: full sync, on every one that the engine hands out."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from holdfast import Memories
from holdfast.errors import Unavailable
from holdfast.store import sqlite
from holdfast.store.database import Database
from tests.requirements_ledger import requirement

PROMISED = {
    "journal_mode": "wal",
    "synchronous": 2,  # FULL: the log is on the disk before a commit returns
    "fullfsync": 1,  # and so on macOS
    "foreign_keys": 1,
    "secure_delete": 1,
    "wal_autocheckpoint": 0,
    "auto_vacuum": 2,
    "busy_timeout": 60_000,
    "journal_size_limit": 8 * 1024 * 1024,
}


@requirement("trust.durable")
def test_every_connection_of_the_pool_is_in_full_sync(sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    held = [database.engine.connect() for _ in range(8)]

    found = [
        {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in PROMISED}
        for connection in held
    ]

    for connection in held:
        connection.close()
    database.close()
    assert found == [PROMISED] * 8


def test_a_connection_is_still_in_full_sync_after_a_checkpoint_and_an_erase(sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    with database.engine.connect() as connection:
        sqlite.checkpoint(connection)
    database.scrub(["something erased"], ["Ab3dEf9h"], "default")

    with database.engine.connect() as connection:
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in PROMISED}

    database.close()
    assert found == PROMISED


@requirement("trust.durable", "asst.postgres")
def test_every_connection_to_a_server_waits_for_its_disk(postgres_url: str) -> None:
    with_options = f"{postgres_url}&options=-c%20synchronous_commit%3Doff%20-c%20work_mem%3D5MB"
    database = Database.open(with_options)

    with database.engine.connect() as connection:
        found = [
            connection.execute(text(f"SHOW {name}")).scalar()
            for name in ("synchronous_commit", "timezone", "lock_timeout", "work_mem")
        ]

    database.close()
    assert found == ["on", "UTC", "1min", "5MB"]


def test_opening_and_reading_write_nothing_into_the_log(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    first = Database.open(sqlite_url)

    second = Database.open(sqlite_url)
    second.spaces()

    assert sqlite.log_size(path) == 0
    second.close()
    first.close()


def test_a_long_log_is_emptied_by_the_writer_that_made_it_long(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LOG_LIMIT", 100_000)
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    sizes = []
    with Memories.open(sqlite_url) as memories:
        for number in range(40):
            memories.remember(f"Note {number} of a long series", subject=f"s{number}")
            sizes.append(sqlite.log_size(path))

    assert max(sizes) <= 100_000
    assert sizes.count(0) >= 2


def test_a_writer_that_waits_too_long_is_told_so_in_one_line(tmp_path: Path) -> None:
    lock = sqlite.WriteLock(tmp_path / "holdfast.db")
    other = sqlite.WriteLock(tmp_path / "holdfast.db")

    impatient = other.held(patience=0.01)
    with (
        lock.held(),
        pytest.raises(Unavailable, match="another process has been writing") as caught,
        impatient,
    ):
        pytest.fail("two writers held the lock")

    assert "\n" not in str(caught.value)
    with other.held(patience=1):
        pass


def test_nothing_is_written_while_another_process_holds_the_write_lock(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memories.open(sqlite_url).close()
    database = Database.open(sqlite_url)
    monkeypatch.setattr(sqlite, "PATIENCE", 0.01)

    with (
        sqlite.WriteLock(Path(sqlite_url.removeprefix("sqlite:///"))).held(),
        pytest.raises(Unavailable, match="another process"),
        database.write("default"),
    ):
        pytest.fail("it was let in")

    database.close()


def test_a_program_that_knows_nothing_of_our_lock_waits_for_our_writer(sqlite_url: str) -> None:
    Memories.open(sqlite_url).close()
    database = Database.open(sqlite_url)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), timeout=0)

    with database.write("default"), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")

    other.close()
    database.close()


def test_closing_waits_for_no_writer(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE", 10_000)  # whoever waits for the lock waits past the test's end
    database = Database.open(sqlite_url)
    database.spaces()

    with sqlite.WriteLock(Path(sqlite_url.removeprefix("sqlite:///"))).held():
        database.close()


@pytest.mark.parametrize("urgent", [False, True])
def test_threads_of_one_process_wait_for_each_other(tmp_path: Path, urgent: bool) -> None:
    lock = sqlite.WriteLock(tmp_path / "holdfast.db")
    told: list[str] = []

    def enter() -> None:
        try:
            with lock.held(patience=0.01, urgent=urgent):
                told.append("let in")
        except Unavailable:
            told.append("kept out")

    with lock.held(), lock.held():
        other = threading.Thread(target=enter)
        other.start()
        other.join()
    enter()

    assert told == ["kept out", "let in"]


def test_who_is_urgent_passes_the_writers_that_wait(tmp_path: Path) -> None:
    lock = sqlite.WriteLock(tmp_path / "holdfast.db")
    passed: list[str] = []

    def writes(name: str, *, urgent: bool) -> None:
        with lock.held(urgent=urgent):
            passed.append(name)

    with lock.held():  # nobody else is first in the queue
        waiting = threading.Thread(target=writes, args=("waiting",), kwargs={"urgent": False})
        waiting.start()
        urgent = threading.Thread(target=writes, args=("urgent",), kwargs={"urgent": True})
        lock._threads.release()  # as after this write, with the queue still behind it
        urgent.start()
        urgent.join()
        lock._threads.acquire()
        assert passed == ["urgent"]
    waiting.join()
    assert passed == ["urgent", "waiting"]


def test_who_holds_the_lock_does_not_wait_behind_those_who_want_it(tmp_path: Path) -> None:
    lock = sqlite.WriteLock(tmp_path / "holdfast.db")
    lined_up = threading.Event()

    def writes() -> None:
        with lock._queue:
            lined_up.set()
            with lock.held():
                pass

    with lock.held(urgent=True):
        other = threading.Thread(target=writes)
        other.start()
        lined_up.wait()
        with lock.held(patience=0.0):
            pass
    other.join()
