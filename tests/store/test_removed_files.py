"""A database file that is removed or replaced while it is open: nothing is acknowledged into nowhere."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import Memories, Unavailable
from tests.requirements_ledger import requirement


def _removed(path: Path) -> None:
    path.unlink()


def _moved_away(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def _replaced(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.replace(path)


def _without_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


@requirement("trust.store-replaced")
@pytest.mark.parametrize(
    ("done", "said"),
    [
        (_removed, "was removed while it was open"),
        (_moved_away, "was removed while it was open"),
        (_replaced, "was replaced while it was open"),
        (_without_log, "was removed while it was open"),
    ],
)
def test_nothing_is_acknowledged_into_a_file_that_is_gone(
    sqlite_url: str, done: Callable[[Path], None], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    memories = Memories.open(sqlite_url)
    memories.remember("The router is in the cellar")

    done(path)

    for _ in range(3):
        with pytest.raises(Unavailable, match=said):
            memories.remember("The boiler is in the attic")
    assert len([record for record in caplog.records if "nothing can be saved" in record.message]) == 1
    assert path.exists() == (done in (_replaced, _without_log))
    memories.close()


@requirement("trust.store-replaced")
def test_a_new_connection_is_not_given_a_log_of_its_own(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    memories = Memories.open(sqlite_url)
    with memories.store.read("default"):  # keeps its connection, so that the write needs a new one
        _without_log(path)
        path.with_name(f"{path.name}-shm").unlink()

        with pytest.raises(Unavailable, match=r"was (removed|replaced) while it was open"):
            memories.remember("The boiler is in the attic")
    memories.close()


@requirement("trust.store-replaced")
def test_what_is_gone_is_not_read_either(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    memories = Memories.open(sqlite_url)
    memories.remember("The router is in the cellar")

    path.unlink()

    with pytest.raises(Unavailable, match="was removed while it was open"):
        memories.find()
    memories.close()


@requirement("trust.store-replaced")
def test_the_file_that_took_its_place_stays_as_it_is(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    memories = Memories.open(sqlite_url)
    memories.close()  # whoever uses it again connects anew
    with closing(sqlite3.connect(path.with_name("other.db"))) as other:
        other.execute("CREATE TABLE notes (note TEXT)")
    path.with_name("other.db").replace(path)
    before = path.read_bytes()

    with pytest.raises(Unavailable, match="was replaced while it was open"):
        memories.find()

    assert path.read_bytes() == before
    memories.close()


@requirement("trust.store-replaced")
def test_a_file_that_was_put_back_is_used_again(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    memories = Memories.open(sqlite_url)
    memories.remember("The router is in the cellar")
    away = path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(Unavailable):
        memories.remember("The boiler is in the attic")

    away.rename(path)
    memories.remember("The boiler is in the attic")

    assert memories.find().total == 2
    memories.close()


@requirement("trust.store-replaced")
def test_a_write_during_which_the_file_goes_is_not_acknowledged(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    memories = Memories.open(sqlite_url)
    memories.remember("The router is in the cellar")

    with pytest.raises(Unavailable, match="was removed"), memories.store.write("default"):
        path.unlink()

    memories.close()
