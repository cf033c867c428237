"""The command line on a store that can't be used: exit code 3 and one line, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from click.testing import CliRunner

from holdfast import Memories
from holdfast.cli import cli
from tests.faults.mounts import run_on
from tests.faults.test_foreign_files import (
    foreign_database,
    newer_version,
    newer_version_with_a_new_table,
    text_file,
)
from tests.requirements_ledger import requirement


def command(db: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "holdfast", "--db", db, *arguments]


def holdfast(db: str, *arguments: str) -> CompletedProcess[str]:
    return subprocess.run(command(db, *arguments), capture_output=True, text=True, check=False)


def assert_told(done: CompletedProcess[str], what: str) -> None:
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert what in done.stderr


def cut_short(file: Path) -> None:
    Memories.open(str(file)).close()
    with file.open("rb+") as stream:
        stream.truncate(20_000)


def zeroed(file: Path) -> None:
    Memories.open(str(file)).close()
    size = file.stat().st_size
    with file.open("rb+") as stream:
        stream.seek(4_096)
        stream.write(b"\0" * (size - 4_096))


def a_folder(file: Path) -> None:
    file.mkdir()


SAID: dict[Callable[[Path], None], str] = {
    text_file: "is not a Holdfast database",
    foreign_database: "belongs to another program",
    newer_version: "pip install ",
    newer_version_with_a_new_table: "pip install ",
    cut_short: "the file is damaged: restore a backup",
    zeroed: "the file is damaged: restore a backup",
    a_folder: "this is a folder",
}


@requirement("trust.durable")
@pytest.mark.parametrize("make", SAID, ids=lambda make: make.__name__)
def test_a_file_that_can_not_be_used_gives_one_line_and_exit_code_3(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    file = tmp_path / "holdfast.db"
    make(file)
    before = file.read_bytes() if file.is_file() else b""

    for arguments in (["list"], ["remember", "A note for a file that can't be used"]):
        done = CliRunner(catch_exceptions=False).invoke(cli, ["--db", str(file), *arguments])
        assert_told(CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr), SAID[make])

    assert (file.read_bytes() if file.is_file() else b"") == before


@pytest.mark.slow
@requirement("trust.durable")
def test_a_folder_that_can_not_be_written_gives_one_line_and_exit_code_3(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    closed = f"mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}"

    done = run_on(closed, folder, command(str(folder / "holdfast.db"), "remember", "A note"))

    assert_told(done, "the database can't be written")
    assert holdfast(str(folder / "holdfast.db"), "remember", "A note").returncode == 0


@pytest.mark.slow
@requirement("trust.durable")
@pytest.mark.parametrize("kilobytes", [64, 300])
def test_a_full_disk_gives_one_line_and_exit_code_3(tmp_path: Path, kilobytes: int) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = f"mount -t tmpfs -o size={kilobytes}k tmpfs {folder}"

    done = run_on(mount, folder, command(str(folder / "holdfast.db"), "remember", "A note"))

    assert_told(done, "the disk is full: free some space, then try again")


@requirement("trust.durable")
def test_a_server_that_is_away_gives_one_line_and_exit_code_3() -> None:
    done = holdfast("postgresql://ada:sesame@127.0.0.1:1/holdfast", "list")

    assert_told(done, "the database server is unreachable: start it, then try again")
    assert "sesame" not in done.stderr
