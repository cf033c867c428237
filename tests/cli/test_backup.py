"""Backups: all spaces in one file, put back without losing what is newer or reviving what was deleted."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.wiring import open_store
from holdfast.engine.memories import Memories
from holdfast.engine.tokens import grant_of
from holdfast.errors import QuotaExceeded
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.store.test_continuous_copy import following


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


def token(shell: Shell, *options: str) -> dict[str, Any]:
    made: dict[str, Any] = shell.json("token", "create", *options)
    return made


def unpacked(file: str) -> list[str]:
    return gzip.decompress(Path(file).read_bytes()).decode().splitlines(keepends=True)


def opens(shell: Shell, secret: str) -> tuple[str, ...] | None:
    """The scopes that a secret has in a store."""
    store = open_store(shell.db)
    grant = grant_of(secret, store=store, now=shell.clock())
    store.close()
    return tuple(sorted(grant.scopes)) if grant else None


@requirement("trust.verified-backup")
def test_a_restored_store_knows_its_tokens_and_the_file_holds_no_secret(
    shell: Shell, new_database: NewDatabase, file: str
) -> None:
    shell.remembers("Lives in Lisbon")
    reader = token(shell, "--space", "default", "--scope", "read")["token"]
    metrics = token(shell, "--all-spaces", "--scope", "metrics")["token"]
    revoked = token(shell, "--space", "default", "--scope", "read")
    shell.says("token", "revoke", revoked["id"])

    said = shell.says("backup", file)
    other = Shell(new_database(), shell.clock)
    back = other.says("backup", file, "--restore")
    known = other.json("token", "list")

    assert "1 space with 1 memory and 3 tokens" in said
    assert back.endswith("Restored 3 tokens\n")
    assert opens(other, reader) == ("read",)
    assert opens(other, metrics) == ("metrics",)
    assert opens(other, revoked["token"]) is None
    assert all(secret not in "".join(unpacked(file)) for secret in (reader, metrics))
    assert known == shell.json("token", "list")


@requirement("trust.verified-backup", "trust.quotas")
def test_after_a_restore_a_space_and_a_token_have_as_much_room_as_before(
    shell: Shell, new_database: NewDatabase, file: str
) -> None:
    shell.remembers("Has a dog")
    made = token(shell, "--space", "default", "--scope", "write", "--max-memories", "2")
    adds(shell, made["token"], "Lives in Lisbon")
    shell.says("backup", file)
    stored = shell.json("space", "show", "default")["space"]["stored"]
    other = Shell(new_database(), shell.clock)

    other.says("backup", file, "--restore")
    other.says("backup", file, "--restore", "--replace")  # which counts nothing twice
    restored = other.json("space", "show", "default")["space"]["stored"]
    adds(other, made["token"], "Works at night")
    with pytest.raises(QuotaExceeded, match="this token in space 'default' is 2 memories: 2 are in use"):
        adds(other, made["token"], "Likes tea")
    other.says("backup", file, "--restore", "--replace")

    with pytest.raises(QuotaExceeded, match="2 are in use"):
        adds(other, made["token"], "Likes tea")
    assert restored == stored
    assert stored["memories"] == 2
    assert shell.json("backup", file, "--verify")["ok"]


def adds(shell: Shell, secret: str, content: str) -> None:
    """A program with this token remembers something."""
    store = open_store(shell.db)
    try:
        grant = grant_of(secret, store=store, now=shell.clock())
        assert grant is not None
        Memories.of(store, "default").granted(grant).remember(content)
    finally:
        store.close()


@requirement("trust.verified-backup")
def test_a_restore_opens_no_space_that_the_backup_lacks_and_revives_no_token(
    shell: Shell, new_database: NewDatabase, file: str
) -> None:
    shell.remembers("Lives in Lisbon")
    everywhere = token(shell, "--all-spaces", "--scope", "read")
    here = token(shell, "--space", "default", "--scope", "read")
    shell.says("backup", file)
    shell.says("token", "revoke", here["id"])
    shell.says("backup", file, "--restore", "--replace")
    other = Shell(new_database(), shell.clock)
    other.in_space("private", "default").remembers("Has another key")

    said = other.says("backup", file, "--restore")

    assert opens(shell, here["token"]) is None
    assert "Restored 1 token\n" in said
    assert f"that are not in the backup (create new ones): {everywhere['id']}" in said
    assert opens(other, everywhere["token"]) is None
    assert opens(other, here["token"]) == ("read",)


@requirement("trust.verified-backup")
def test_a_backup_is_verified_by_a_restore_that_touches_no_store(shell: Shell, file: str) -> None:
    first = shell.remembers("Lives in Lisbon")
    shell.in_space("ops", "ops").remembers("Starts slowly", "-c", "timing")
    token(shell, "--space", "ops", "--scope", "read")
    shell.says("backup", file)
    shell.remembers("Has a dog")

    said = shell.says("backup", file, "--verify")
    told = shell.json("backup", file, "--verify")

    assert said.startswith(f"Verified {file}: ")
    assert "restored and equal" in said
    assert told["ok"] is True
    assert all(table["equal"] and table["backup"]["rows"] > 0 for table in told["tables"])
    assert sorted({table["space"] for table in told["tables"]} - {"default"}, key=str)[::-1] == ["ops", None]
    assert contents(shell) == {"Lives in Lisbon", "Has a dog"}
    assert first


@requirement("trust.verified-backup")
def test_what_a_restore_would_not_bring_back_makes_the_verification_fail(
    sqlite_shell: Shell, file: str
) -> None:
    """As of a newer release, whose columns this one does not have."""
    sqlite_shell.remembers("Lives in Lisbon")
    sqlite_shell.says("backup", file)
    digest = hashlib.sha256()
    lines = []
    for line in unpacked(file):
        entry = json.loads(line)
        if entry.get("table") == "memories":
            entry["row"]["mood"] = "calm"
        if "sha256" in entry:
            entry["sha256"] = digest.hexdigest()
        lines.append(json.dumps(entry, sort_keys=True, separators=(",", ":")) + "\n")
        if "row" in entry:
            digest.update(lines[-1].encode())
    Path(file).write_bytes(gzip.compress("".join(lines).encode()))

    result = sqlite_shell("backup", file, "--verify")

    assert result.exit_code == 1
    assert "memories of default: 1 in the file, 1 restored, which differ" in result.output
    assert "can't be restored exactly" in result.output


@requirement("trust.verified-backup")
def test_a_damaged_text_or_a_cut_file_is_not_verified(sqlite_shell: Shell, file: str) -> None:
    damaged = sqlite_shell.remembers("Lives in Lisbon")
    with closing(sqlite3.connect(sqlite_shell.db.removeprefix("sqlite:///"))) as connection:
        connection.execute("UPDATE versions SET content = 'Lives in Lisbom'")
        connection.commit()
    sqlite_shell.says("backup", file, "--anyway")
    cut = f"{file}.cut"
    Path(cut).write_bytes(Path(file).read_bytes()[:-40])

    of_damaged = sqlite_shell("backup", file, "--verify")
    of_cut = sqlite_shell("backup", cut, "--verify")

    assert [of_damaged.exit_code, of_cut.exit_code] == [1, 1]
    assert f"do not match their checksum: {damaged}" in of_damaged.output
    assert of_cut.stderr.startswith(f"holdfast: not verified: {cut!r} is damaged or truncated: ")
    assert "import" not in of_cut.stderr


@requirement("trust.verified-backup")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"hash": "x"}, "a token has no id or no hash"),
        ({"scopes": ["everything"]}, "a token has ['everything'] for scopes, expected some of read"),
        ({"spaces": "all"}, "a token has 'all' for spaces, expected a list of names or null"),
        ({"added": {"default": {"memories": "5"}}}, "a token has {'default': {'memories': '5'}} for added"),
        ({"created_at": "soon"}, "a token has 'soon' for created_at, expected a time"),
        (None, "the tokens were changed or damaged"),
    ],
)
def test_a_token_that_no_release_wrote_is_refused_and_nothing_is_restored(
    sqlite_shell: Shell,
    new_sqlite_database: NewDatabase,
    file: str,
    change: dict[str, Any] | None,
    reason: str,
) -> None:
    sqlite_shell.remembers("Lives in Lisbon")
    token(sqlite_shell, "--space", "default", "--scope", "read")
    sqlite_shell.says("backup", file)
    lines = unpacked(file)
    row = json.loads(lines[-2])
    row["token"] |= change if change is not None else {"name": "forged"}
    Path(file).write_bytes(gzip.compress("".join([*lines[:-2], json.dumps(row), "\n", lines[-1]]).encode()))
    other = Shell(new_sqlite_database(), sqlite_shell.clock)

    result = other("backup", file, "--restore")

    assert result.exit_code == 1
    assert reason in result.stderr
    assert contents(other) == set()


@requirement("trust.continuous-copy")
def test_a_copy_is_verified_and_restored_from_the_command_line(sqlite_shell: Shell, tmp_path: Path) -> None:
    folder, restored = tmp_path / "copy", tmp_path / "restored.db"
    sqlite_shell.remembers("Lives in Lisbon")
    with following(Path(sqlite_shell.db.removeprefix("sqlite:///")), folder):
        pass

    doctor = sqlite_shell("doctor").output
    verified = sqlite_shell.says("backup", str(folder), "--verify")
    said = Shell(str(restored), sqlite_shell.clock).says("backup", str(folder), "--restore")
    too_early = Shell(f"{restored}.2", sqlite_shell.clock)(
        "backup", str(folder), "--restore", "--at", "2020-01-01"
    )

    assert "nothing keeps the continuous copy of the database up to date" in doctor
    assert verified.startswith(f"Verified {folder} as of 20")
    assert verified.endswith(": 1 space with 1 memory\n")
    assert said.startswith(f"Restored {restored} as of 20")
    assert contents(Shell(str(restored), sqlite_shell.clock)) == {"Lives in Lisbon"}
    assert too_early.exit_code == 1
    assert "name a later time" in too_early.stderr


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--restore", "--verify"], "--restore and --verify can't be combined"),
        (["--at", "2026-01-01"], "--at needs --restore"),
        (["--restore", "--at", "2026-01-01"], "--at works only with the folder of a continuous copy"),
        (["--every", "5"], "--every needs --follow"),
        (["--verify", "--keep", "3"], "--keep needs --follow"),
    ],
)
def test_options_that_do_not_go_together_are_named(
    sqlite_shell: Shell, file: str, options: list[str], reason: str
) -> None:
    result = sqlite_shell("backup", file, *options)

    assert result.exit_code == 2
    assert reason in result.stderr


def test_on_a_server_a_copy_is_the_servers_own_affair(
    postgres_url: str, clock: FixedClock, tmp_path: Path
) -> None:
    shell = Shell(postgres_url, clock)

    result = shell("backup", str(tmp_path / "copy"), "--follow")

    assert result.exit_code == 1
    assert "only SQLite files are copied" in result.stderr
    assert not (tmp_path / "copy").exists()
