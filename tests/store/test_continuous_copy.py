"""The continuous copy of a file: whole at each moment, nothing missed, nothing kept of what was erased."""

from __future__ import annotations

import gzip
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.engine.administration import Administration
from holdfast.errors import Conflict, Invalid, NotFound, Unavailable
from holdfast.store import continuous_copy, sqlite
from holdfast.store.continuous_copy import generations
from holdfast.store.copy_follower import Follower, open_follower, registered
from holdfast.store.copy_restore import restore_copy
from tests.requirements_ledger import requirement

WEEK = timedelta(days=7)


@contextmanager
def following(database: Path, folder: Path, keep: timedelta = WEEK) -> Iterator[Follower]:
    """A follower with its first snapshot."""
    with ExitStack() as held:
        follower = open_follower(str(database), str(folder), keep)
        held.callback(follower.close)
        follower.start(held)
        follower.step()
        yield follower


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "store" / "holdfast.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "copy"


@pytest.fixture
def short_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint every few writes."""
    monkeypatch.setattr(sqlite, "LOG_LIMIT", 300_000)


def restored(folder: Path, name: str, at: datetime | None = None) -> list[str]:
    """The archive of a store restored from the copy."""
    target = folder.with_name(name)
    restore_copy(str(folder), str(target), at)
    with Memories.open(str(target)) as memories:
        return list(memories.export())


def write(memories: Memories, first: int, last: int) -> None:
    for number in range(first, last):
        memories.remember(f"Shelf {number} holds the books of the {number}th year", subject=f"s{number}")


@requirement("trust.continuous-copy")
def test_every_moment_of_the_copy_is_the_store_as_it_was_then(
    database: Path, folder: Path, short_log: None
) -> None:
    moments: list[tuple[datetime, list[str]]] = []
    with Memories.open(str(database)) as memories, following(database, folder) as follower:
        for number in range(0, 80, 10):
            write(memories, number, number + 10)
            follower.step()
            moments.append((datetime.now(UTC), list(memories.export())))
        copies = len(generations(folder))

        found = [restored(folder, f"moment-{at.timestamp()}.db", at) for at, _ in moments]

    assert found == [lines for _, lines in moments]
    assert copies == 1  # though the log was emptied between


@requirement("trust.continuous-copy")
def test_a_restore_to_the_time_before_a_deletion_has_what_was_deleted(database: Path, folder: Path) -> None:
    with Memories.open(str(database)) as memories, following(database, folder) as follower:
        kept = memories.remember("The key lies under the third stone", subject="key").memory.id  # type: ignore[union-attr]
        follower.step()
        before = datetime.now(UTC)
        memories.forget(kept)
        follower.step()

    restore_copy(str(folder), str(folder.with_name("before.db")), before)
    restore_copy(str(folder), str(folder.with_name("newest.db")))

    with Memories.open(str(folder.with_name("before.db"))) as memories:
        assert [memory.id for memory in memories.find().memories] == [kept]
    with Memories.open(str(folder.with_name("newest.db"))) as memories:
        assert memories.find().total == 0


@requirement("trust.continuous-copy")
@pytest.mark.parametrize("other", ["one of ours", "another program's"])
def test_what_was_written_and_moved_out_of_the_log_without_a_follower_is_in_the_next_snapshot(
    database: Path, folder: Path, other: str
) -> None:
    with Memories.open(str(database)) as memories:
        write(memories, 0, 3)
    with following(database, folder) as follower:
        follower.finish()
    if other == "one of ours":
        with Memories.open(str(database)) as memories:
            write(memories, 3, 6)  # the last connection empties the log when it closes
    else:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("UPDATE memories SET importance = 5")
            connection.commit()

    with following(database, folder):
        found = restored(folder, "restored.db")

    with Memories.open(str(database)) as memories:
        assert found == list(memories.export())
    assert len(generations(folder)) == 2


@requirement("trust.continuous-copy")
def test_a_writer_waits_for_no_snapshot_and_the_snapshot_is_as_of_its_beginning(
    database: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_to = sqlite.copy_to
    with Memories.open(str(database)) as memories:
        write(memories, 0, 3)

        def slow_copy(connection: object, target: Path) -> None:
            write(memories, 3, 6)  # would wait for a minute, and fail
            copy_to(connection, target)  # type: ignore[arg-type]

        monkeypatch.setattr(sqlite, "PATIENCE", 1.0)
        monkeypatch.setattr(sqlite, "copy_to", slow_copy)
        with following(database, folder) as follower:
            as_of = datetime.now(UTC)
            monkeypatch.setattr(sqlite, "copy_to", copy_to)
            follower.step()

            assert restored(folder, "newest.db") == list(memories.export())
            assert len(generations(folder)) == 1
            with Memories.open(str(folder.with_name("newest.db"))) as newest:
                assert newest.find().total == 6
    restore_copy(str(folder), str(folder.with_name("first.db")), as_of)
    with Memories.open(str(folder.with_name("first.db"))) as first:
        assert first.find().total == 3


@requirement("trust.continuous-copy", "trust.export-erase")
def test_what_is_erased_is_in_no_file_of_the_copy_when_the_erase_returns(
    database: Path, folder: Path, short_log: None
) -> None:
    with Memories.open(str(database)) as memories, following(database, folder) as follower:
        write(memories, 0, 10)
        secret = memories.remember("The safe opens with quokka4711wombat", subject="safe").memory.id  # type: ignore[union-attr]
        write(memories, 10, 20)
        follower.step()
        before = datetime.now(UTC)
        held = holds(folder, b"quokka4711wombat")

        report = memories.erase(secret)

        assert holds(folder, b"quokka4711wombat") == []
        follower.step()
        assert holds(folder, b"quokka4711wombat") == []
        assert restored(folder, "restored.db") == list(memories.export())
    assert held != []
    assert report.left == ()
    with pytest.raises(NotFound, match="name a later time"):
        restore_copy(str(folder), str(folder.with_name("before.db")), before)


@requirement("trust.continuous-copy")
def test_a_space_that_is_deleted_can_be_restored_from_the_copy(database: Path, folder: Path) -> None:
    with Memories.open(str(database)) as memories, following(database, folder) as follower:
        write(memories, 0, 10)
        follower.step()
        before, held = datetime.now(UTC), list(memories.export())

        Administration(memories.store).delete_space("default")

        follower.step()
    assert restored(folder, "before.db", before) == held


@requirement("trust.continuous-copy", "trust.export-erase")
def test_an_erase_says_when_it_can_not_reach_the_copy_and_the_follower_makes_up_for_it(
    database: Path, folder: Path
) -> None:
    away = folder.with_name("away")
    with Memories.open(str(database)) as memories:
        secret = memories.remember("The safe opens with quokka4711wombat", subject="safe").memory.id  # type: ignore[union-attr]
        with following(database, folder):
            pass
        folder.rename(away)

        report = memories.erase(secret)

        away.rename(folder)
        found_in = holds(folder, b"quokka4711wombat")
        with following(database, folder):
            assert holds(folder, b"quokka4711wombat") == []
    assert found_in != []
    assert [str(folder) in left for left in report.left] == [True]


@requirement("trust.continuous-copy")
def test_a_folder_that_can_not_be_written_stops_no_writer_and_the_copy_begins_anew(
    database: Path, folder: Path, short_log: None
) -> None:
    with Memories.open(str(database)) as memories, following(database, folder) as follower:
        write(memories, 0, 3)
        (generations(folder)[0] / "segment.part").mkdir()  # as if the disk were full or away
        with pytest.raises(Unavailable, match="can't be written"):
            follower.step()

        write(memories, 3, 60)

        assert sqlite.log_size(database) < 2 * 300_000
        follower.step()
        assert restored(folder, "restored.db") == list(memories.export())
    assert len(generations(folder)) == 2


@requirement("trust.continuous-copy")
def test_another_file_in_place_of_the_database_begins_a_new_snapshot(database: Path, folder: Path) -> None:
    other = database.with_name("other.db")
    with Memories.open(str(database)) as memories, following(database, folder):
        write(memories, 0, 3)
    with Memories.open(str(other)) as memories:
        write(memories, 3, 9)
    other.replace(database)

    with Memories.open(str(database)) as memories, following(database, folder) as follower:
        write(memories, 9, 12)
        follower.step()
        expected = list(memories.export())
        with Memories.open(str(other)) as stranger:
            write(stranger, 20, 23)
        other.replace(database)

        with pytest.raises(Unavailable, match="replaced"):
            follower.step()

    assert restored(folder, "restored.db") == expected


@requirement("trust.continuous-copy")
def test_who_writes_into_another_file_in_its_place_adds_nothing_to_the_copy(
    database: Path, folder: Path, short_log: None
) -> None:
    other = database.with_name("other.db")
    with Memories.open(str(other)) as memories:
        write(memories, 0, 3)
    with following(database, folder) as follower:
        with Memories.open(str(database)) as memories:
            while not follower.copy.state().emptied:  # type: ignore[union-attr]
                write(memories, memories.find().total, memories.find().total + 1)
            expected = list(memories.export())
        other.replace(database)
        with Memories.open(str(database)) as memories:
            write(memories, 100, 160)
            emptied = sqlite.log_size(database) < 2 * 300_000

    assert emptied
    assert restored(folder, "restored.db") == expected


@requirement("trust.continuous-copy", "trust.export-erase")
def test_an_erase_during_a_long_snapshot_is_made_up_for_by_the_next_one(
    database: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_to = sqlite.copy_to
    left: list[str] = []
    with Memories.open(str(database)) as memories:
        secret = memories.remember("The safe opens with quokka4711wombat", subject="safe").memory.id  # type: ignore[union-attr]

        def slow_copy(connection: object, target: Path) -> None:
            copy_to(connection, target)  # type: ignore[arg-type]
            monkeypatch.setattr(sqlite, "copy_to", copy_to)
            left.extend(memories.erase(secret).left)

        monkeypatch.setattr(continuous_copy, "_PATIENCE", 0.1)
        monkeypatch.setattr(sqlite, "copy_to", slow_copy)
        with following(database, folder) as follower:
            held = holds(folder, b"quokka4711wombat")
            follower.step()

            assert holds(folder, b"quokka4711wombat") == []
            assert restored(folder, "restored.db") == list(memories.export())
    assert held != []
    assert any(str(folder) in each for each in left)


@pytest.mark.parametrize("fault", ["a bit", "cut", "missing"])
def test_a_damaged_segment_is_named_with_the_time_up_to_which_the_copy_is_good(
    database: Path, folder: Path, fault: str
) -> None:
    with Memories.open(str(database)) as memories, following(database, folder) as follower:
        write(memories, 0, 3)
        follower.step()
        good = datetime.now(UTC)
        expected = list(memories.export())
        for number in (3, 6):
            write(memories, number, number + 3)
            follower.step()
    (segment,) = generations(folder)[0].glob("000002-*")
    content = gzip.decompress(segment.read_bytes())
    at = len(content) - 1000
    changed = {
        "a bit": gzip.compress(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]),
        "cut": gzip.compress(content[:at]),
        "missing": None,
    }[fault]
    segment.unlink()
    if changed is not None:
        segment.write_bytes(changed)

    with pytest.raises(Invalid, match=r"restore to a time before 20\d\d-"):
        restore_copy(str(folder), str(folder.with_name("newest.db")))

    assert not folder.with_name("newest.db").exists()
    assert restored(folder, "good.db", good) == expected


def test_only_one_follower_copies_into_a_folder_and_a_file_has_one_folder(
    database: Path, folder: Path
) -> None:
    with Memories.open(str(database)), following(database, folder):
        with pytest.raises(Conflict, match="stop it first"), following(database, folder):
            pass
        with pytest.raises(Conflict, match="is copied into"), following(database, folder / "other"):
            pass
    assert registered(database) is not None


def test_older_snapshots_go_when_nothing_to_be_kept_needs_them(
    database: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        Memories.open(str(database)) as memories,
        following(database, folder, keep=timedelta(0)) as follower,
    ):
        monkeypatch.setattr(continuous_copy, "_DAY", timedelta(0))  # a snapshot after every change
        for number in range(3):
            write(memories, number, number + 1)
            follower.step()

        assert restored(folder, "restored.db") == list(memories.export())
    assert [each.name[:6] for each in generations(folder)] == ["000004"]


def test_a_restore_overwrites_nothing(database: Path, folder: Path) -> None:
    with Memories.open(str(database)) as memories:
        write(memories, 0, 1)
        with following(database, folder):
            pass

        with pytest.raises(Conflict, match="name a new file"):
            restore_copy(str(folder), str(database))

    assert [file.stat().st_mode & 0o077 for file in folder.rglob("*") if file.is_file()] == [0] * len(
        [file for file in folder.rglob("*") if file.is_file()]
    )


def holds(folder: Path, text: bytes) -> list[str]:
    """The files of a copy that hold a text."""
    found = []
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        content = file.read_bytes()
        content = gzip.decompress(content) if file.suffix == ".gz" else content
        if text in content:
            found.append(os.fspath(file.relative_to(folder)))
    return found
