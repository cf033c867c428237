"""An encrypted SQLite file: everything works with its key, and nothing can be read without it.

In processes of their own, because a process decides once which driver it uses.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements_ledger import requirement

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("sqlcipher3") is None, reason="SQLCipher is not installed"),
]
SECRET = "The safe is behind the picture"


class Encrypted:
    """A home with a key beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "holdfast"
        self.key = folder / "key"
        self.key.write_text(secrets.token_hex(32) + "\n")
        self.key.chmod(0o600)

    def __call__(
        self, *arguments: str, key: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        given = {"HOLDFAST_KEY_FILE": str(self.key)} if key is None else {"HOLDFAST_KEY_FILE": key}
        known = {**os.environ, "HOLDFAST_HOME": str(self.home), **given, **environment}
        command = [sys.executable, "-m", "holdfast", *arguments]
        return subprocess.run(command, env=known, capture_output=True, text=True, timeout=120)

    def says(self, *arguments: str) -> str:
        done = self(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def bytes_on_disk(self) -> bytes:
        return b"".join(file.read_bytes() for file in sorted(self.home.rglob("*")) if file.is_file())


@pytest.fixture
def encrypted(tmp_path: Path) -> Encrypted:
    return Encrypted(tmp_path)


@requirement("trust.encryption")
def test_what_is_remembered_is_found_and_not_a_byte_of_it_lies_on_the_disk(encrypted: Encrypted) -> None:
    encrypted.says("remember", SECRET, "-s", "safe")
    encrypted.says("remember", "The code is seven digits", "-s", "safe")

    found = encrypted.says("recall", "where is the safe")

    assert SECRET in found
    assert SECRET in encrypted.says("brief")
    assert "No problems found" in encrypted.says("doctor")
    assert b"picture" not in encrypted.bytes_on_disk()
    assert b"SQLite format" not in encrypted.bytes_on_disk()


@requirement("trust.encryption")
def test_without_its_key_or_with_another_a_file_is_refused_and_stays_as_it_is(encrypted: Encrypted) -> None:
    encrypted.says("remember", SECRET)
    before = (encrypted.home / "holdfast.db").read_bytes()
    other = Encrypted(encrypted.folder)

    without = encrypted("list", key="")
    wrong = encrypted("list", key=str(other.key))

    assert (without.returncode, wrong.returncode) == (3, 3)
    assert "or it is encrypted" in without.stderr
    assert "encrypted with another key" in wrong.stderr
    assert "sqlcipher" not in wrong.stderr.lower()
    assert (encrypted.home / "holdfast.db").read_bytes() == before


@requirement("trust.encryption")
def test_a_plain_store_moves_into_an_encrypted_one_by_a_backup(encrypted: Encrypted) -> None:
    encrypted("remember", SECRET, key="")
    backup = encrypted.folder / "backup.jsonl"
    encrypted("backup", str(backup), key="")
    (encrypted.home / "holdfast.db").unlink()

    encrypted.says("backup", str(backup), "--restore")

    assert SECRET in encrypted.says("list")
    assert b"picture" not in (encrypted.home / "holdfast.db").read_bytes()


@requirement("trust.encryption")
def test_what_is_erased_is_gone_and_a_command_can_give_the_key(encrypted: Encrypted) -> None:
    memory = encrypted.says("remember", SECRET).split()[1]
    by_command = {"HOLDFAST_KEY_COMMAND": f"cat {encrypted.key}"}

    erased = encrypted("erase", memory, "--yes", key="", **by_command)

    assert erased.returncode == 0, erased.stderr
    assert SECRET not in encrypted.says("list", "--state", "all")
    assert "No problems found" in encrypted.says("doctor")


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        ("short", 0o600, "64 hexadecimal digits"),
        ("é" * 64, 0o600, "64 hexadecimal digits"),
        ("0" * 64, 0o640, "can be read by others: chmod 600"),
        (None, 0o600, "can't be read: No such file"),
    ],
)
def test_a_key_that_is_none_is_refused(
    encrypted: Encrypted, content: str | None, mode: int, says: str
) -> None:
    key = encrypted.folder / "other"
    if content is not None:
        key.write_text(content)
        key.chmod(mode)

    done = encrypted("list", key=str(key))

    assert done.returncode in (1, 3)
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_that_fails_is_named(encrypted: Encrypted) -> None:
    done = encrypted("list", key="", HOLDFAST_KEY_COMMAND="false")

    assert done.returncode == 3
    assert "HOLDFAST_KEY_COMMAND failed" in done.stderr


@requirement("trust.encryption", "trust.continuous-copy")
def test_its_continuous_copy_is_encrypted_too_and_restored_with_the_key(
    encrypted: Encrypted, tmp_path: Path
) -> None:
    encrypted.says("remember", "The first note")
    copy = tmp_path / "copy"
    given = {**os.environ, "HOLDFAST_HOME": str(encrypted.home), "HOLDFAST_KEY_FILE": str(encrypted.key)}
    command = [sys.executable, "-m", "holdfast", "backup", str(copy), "--follow"]
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        follower.stdout.readline()
        encrypted.says("remember", SECRET, "-s", "safe")
        follower.send_signal(signal.SIGINT)

    verified = encrypted.says("backup", str(copy), "--verify")
    encrypted.says("--db", str(tmp_path / "new.db"), "backup", "--restore", str(copy))

    assert "1 space with 2 memories" in verified
    assert SECRET in encrypted.says("--db", str(tmp_path / "new.db"), "list")
    unpacked = [gzip.decompress(one.read_bytes()) for one in copy.rglob("*.gz")]
    assert unpacked
    assert not any(
        b"picture" in one for one in [*unpacked, *(one.read_bytes() for one in copy.rglob("*.db"))]
    )
