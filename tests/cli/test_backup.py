"""Backups: all spaces in one file, put back without losing what is newer or reviving what was deleted."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

from holdfast.engine.memories import Memories
from tests.cli.conftest import Shell
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "backup.gz")


def contents(shell: Shell) -> set[str]:
    return {memory["content"] for memory in shell.json("list", "--state", "all")["memories"]}


@requirement("trust.backup")
def test_a_backup_holds_all_spaces_and_goes_into_an_empty_store(
    shell: Shell, new_database: NewDatabase, file: str
) -> None:
    shell.remembers("Lives in Lisbon")
    shell.in_space("ops", "ops").remembers("Starts slowly", "-c", "timing")

    said = shell.says("backup", file)
    other = Shell(new_database(), shell.clock)
    back = other.says("backup", file, "--restore")

    assert said == (f"Backed up 2 spaces with 2 memories to {file} ({os.path.getsize(file):,} bytes)\n")
    assert os.stat(file).st_mode & 0o777 == 0o600
    assert back == "Restored space default with 1 memory\nRestored space ops with 1 memory\n"
    assert other.says("export", "--space", "ops") == shell.says("export", "--space", "ops")


@requirement("trust.backup")
def test_a_restore_refuses_to_undo_later_changes_without_the_flag(shell: Shell, file: str) -> None:
    shell.remembers("Lives in Lisbon")
    shell.says("backup", file)
    shell.remembers("Has a dog")

    refused = shell("backup", file, "--restore")
    replaced = shell.json("backup", file, "--restore", "--replace")

    assert refused.exit_code == 1
    assert "has 1 change newer than the backup" in refused.stderr
    assert replaced["spaces"] == [{"space": "default", "memories": 1, "buried": []}]
    assert contents(shell) == {"Lives in Lisbon"}


@requirement("trust.backup", "trust.tombstone")
def test_a_restore_does_not_bring_back_what_was_deleted_since(shell: Shell, file: str) -> None:
    ops = shell.in_space("ops", "ops")
    gone = ops.remembers("Needs the database first", "-c", "dependency")
    ops.remembers("Starts slowly", "-c", "timing")
    ops.says("backup", file)
    ops.says("forget", gone, "--yes")

    said = ops.says("backup", file, "--restore", "--replace")

    assert said == f"Restored space ops with 1 memory; deleted since, not restored: {gone}\n"
    assert contents(ops) == {"Starts slowly"}


@requirement("trust.backup")
def test_a_backup_under_load_is_whole(shell: Shell, new_database: NewDatabase, file: str) -> None:
    stop = threading.Event()
    written = threading.Event()

    def write() -> None:
        with Memories.open(shell.db) as memories:
            for number in range(10_000):
                memories.remember(
                    f"Fact number {number} of many about subject {number}", subject=f"s{number}"
                )
                if number >= 5:
                    written.set()
                if stop.is_set():
                    return

    writer = threading.Thread(target=write)
    writer.start()
    written.wait(timeout=60)
    try:
        for _ in range(3):
            shell.says("backup", file)
    finally:
        stop.set()
        writer.join()
    other = Shell(new_database(), shell.clock)

    other.says("backup", file, "--restore")

    assert len(contents(other)) >= 5
    assert contents(other) <= contents(shell)


@pytest.mark.parametrize("damage", ["cut", "last space cut", "changed", "stranger"])
def test_a_damaged_backup_puts_nothing_back(shell: Shell, file: str, damage: str) -> None:
    shell.remembers("Lives in Lisbon")
    shell.in_space("ops", "ops").remembers("Starts slowly", "-c", "timing")
    shell.says("backup", file)
    kept = Path(file).read_bytes()
    text = gzip.decompress(kept)
    damaged = {
        "cut": kept[: len(kept) // 2],
        "last space cut": gzip.compress(b"".join(text.splitlines(keepends=True)[:-1])),
        "changed": gzip.compress(text.replace(b"Starts slowly", b"Starts quickly")),
        "stranger": b"Dear Ada",
    }
    Path(file).write_bytes(damaged[damage])
    shell.remembers("Has a dog")

    result = shell("backup", file, "--restore", "--replace")

    assert result.exit_code == 1
    assert result.stderr.startswith("holdfast: ")
    assert contents(shell) == {"Lives in Lisbon", "Has a dog"}


def test_a_backup_replaces_an_older_one_but_no_other_file(sqlite_shell: Shell, tmp_path: Path) -> None:
    sqlite_shell.remembers("Lives in Lisbon")
    older, letter = tmp_path / "backup.gz", tmp_path / "letter.gz"
    sqlite_shell.says("backup", str(older))
    letter.write_bytes(gzip.compress(b"Dear Ada"))

    sqlite_shell.says("backup", str(older))
    over_a_letter = sqlite_shell("backup", str(letter))
    over_the_store = sqlite_shell("backup", sqlite_shell.db.removeprefix("sqlite:///"))
    into_nowhere = sqlite_shell("backup", str(tmp_path / "none" / "backup.gz"))

    assert [over_a_letter.exit_code, over_the_store.exit_code, into_nowhere.exit_code] == [1, 1, 1]
    assert "choose another name" in over_a_letter.stderr
    assert "choose another name" in over_the_store.stderr
    assert "can't be written: No such file or directory" in into_nowhere.stderr


def test_an_empty_store_has_nothing_to_back_up(sqlite_shell: Shell, file: str) -> None:
    result = sqlite_shell("backup", file)

    assert result.exit_code == 1
    assert "nothing to back up: there are no spaces yet" in result.stderr
    assert not os.path.exists(file)
