"""export and import: a space elsewhere and back, and other programs' files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement

LINES = """\
{"content": "Prefers green tea", "category": "preference", "subject": "tea", "tags": ["a"], "importance": 4}
not json
{"category": "preference"}
{"content": "Has a dog", "category": "nonsense"}
{"content": "Lives in Lisbon", "confidence": "high"}

{"content": "Lives in Lisbon", "confidence": 0.9, "project": "home", "unknown": true}
"""


def filled(shell: Shell) -> None:
    first = shell.remembers(
        "Takes 60s to start after restart", "-c", "timing", "-s", "jellyfin", "--session", "s1"
    )
    shell.says("remember", "Takes 30s to start after restart", "-c", "timing", "-s", "jellyfin")
    shell.says("revise", first, "Takes 61s to start after restart")
    shell.says("forget", shell.remembers("Likes jazz"))
    shell.says("brief", "--session", "s1")


@requirement("trust.export-erase")
def test_an_archive_restores_every_field_on_either_database(
    shell: Shell, new_sqlite_database: NewDatabase, tmp_path: Path
) -> None:
    filled(shell)
    file = tmp_path / "archive.jsonl"

    said = shell.says("export", str(file))
    other = Shell(new_sqlite_database(), shell.clock)
    taken = other.says("import", str(file))
    again = other.says("import", str(file))

    assert said == f"Exported 3 memories from space default to {file}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text(encoding="utf-8") == shell.says("export") == other.says("export")
    assert taken == "Imported 3 memories; 0 already there\n"
    assert again == "Imported 0 memories; 3 already there\n"


def test_what_was_deleted_here_does_not_come_back_by_import(shell: Shell, tmp_path: Path) -> None:
    ops = shell.in_space("ops", "ops")
    gone = ops.remembers("Needs the database first", "-c", "dependency")
    file = tmp_path / "ops.jsonl"
    ops.says("export", str(file))
    ops.says("forget", gone, "--yes")

    said = ops.says("import", str(file))

    assert said == f"Imported 0 memories; 0 already there\n  Deleted here, not restored: {gone}\n"


def test_what_reads_differently_here_stays_so(shell: Shell, tmp_path: Path) -> None:
    kept = shell.remembers("Lives in Lisbon")
    file = tmp_path / "archive.jsonl"
    shell.says("export", str(file))
    shell.says("revise", kept, "Lives in Porto")

    said = shell.says("import", str(file))

    assert said == f"Imported 0 memories; 1 already there\n  Different here, not overwritten: {kept}\n"
    assert shell.json("show", kept)["memory"]["content"] == "Lives in Porto"


def test_an_archive_of_another_profile_is_refused(shell: Shell, tmp_path: Path) -> None:
    filled(shell)
    file = tmp_path / "archive.jsonl"
    shell.says("export", str(file))

    result = shell.in_space("ops", "ops")("import", str(file))

    assert result.exit_code == 1
    assert (
        "space 'ops' has 'ops': import it into a space with profile 'default': `holdfast space create"
        in result.stderr
    )


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_archive_is_refused_as_a_whole(shell: Shell, tmp_path: Path, damage: str) -> None:
    filled(shell)
    lines = shell.says("export").splitlines(keepends=True)
    other = shell.in_space("other", "default")
    file = tmp_path / "archive.jsonl"
    if damage == "cut":
        file.write_text("".join(lines[:-1]), encoding="utf-8")
    else:
        file.write_text("".join(lines).replace("Takes 30s", "Takes 31s"), encoding="utf-8")

    result = other("import", str(file))

    assert result.exit_code == 1
    assert "nothing was changed" in result.stderr
    assert other.json("list", "--state", "all")["total"] == 0


def test_json_lines_come_in_and_broken_ones_are_named(shell: Shell) -> None:
    answer = shell.json("import", "-", stdin=LINES)
    memories = shell.json("list", "--sort", "created")["memories"]

    assert (answer["format"], answer["counts"]) == ("jsonl", {"added": 2})
    assert [broken["line"] for broken in answer["broken"]] == [2, 3, 4, 5]
    assert answer["broken"][0]["reason"] == "invalid JSON: write one object per line"
    assert answer["broken"][2]["reason"].startswith("unknown category 'nonsense'")
    by_content = {memory["content"]: memory for memory in memories}
    tea, home = by_content["Prefers green tea"], by_content["Lives in Lisbon"]
    assert (tea["subject"], tea["tags"], tea["importance"]) == ("tea", ["a"], 4)
    assert (home["confidence"], home["project"], home["category"]) == (0.9, "home", "general")
    assert (tea["origin"], tea["session"]) == ("import", answer["session"])


@requirement("trust.inbox")
def test_an_import_is_active_and_labelled_or_waits_for_review(shell: Shell) -> None:
    said = shell.says("import", "-", "--from", "text", stdin="- Lives in Lisbon\n\n* Has a dog\n")
    reviewed = shell.says("import", "-", "--review", stdin="Plays the violin\n")

    session = shell.json("list")["memories"][0]["session"]
    assert said == f"Imported from text: 2 added\n  Undo with `holdfast undo-session {session}`\n"
    assert {memory["origin"] for memory in shell.json("list")["memories"]} == {"import"}
    assert reviewed.startswith("Imported from text: 1 waiting\n")
    assert shell.json("inbox")["waiting"][0]["reason"] == "imported for review"


def test_importing_a_file_twice_counts_once(shell: Shell) -> None:
    text = "Lives in Lisbon\nHas a dog\n"
    shell.says("import", "-", stdin=text)

    again = shell.json("import", "-", stdin=text)

    assert again["counts"] == {"known": 2}
    assert {memory["confidence"] for memory in shell.json("list")["memories"]} == {0.7}


def test_an_import_can_be_taken_back(shell: Shell) -> None:
    session = shell.json("import", "-", stdin="Lives in Lisbon\nHas a dog\n")["session"]

    shell.says("undo-session", session)

    assert shell.json("list")["total"] == 0


def test_packed_and_marked_files_are_read(sqlite_shell: Shell, tmp_path: Path) -> None:
    packed, marked = tmp_path / "a.gz", tmp_path / "b.txt"
    packed.write_bytes(gzip.compress(b"Lives in Lisbon\n"))
    marked.write_bytes(b"\xef\xbb\xbfHas a dog\r\n")

    sqlite_shell.says("import", str(packed))
    sqlite_shell.says("import", str(marked))

    contents = {memory["content"] for memory in sqlite_shell.json("list")["memories"]}
    assert contents == {"Lives in Lisbon", "Has a dog"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty: nothing was imported"),
        (b"\n \n", "is empty: nothing was imported"),
        (b"caf\xe9\n", "is not UTF-8 text: nothing was changed"),
        (b"\x1f\x8b\x08\x00broken", "is damaged or truncated: nothing was changed"),
        (gzip.compress(b"Lives in Lisbon\n", mtime=0)[:-4], "is damaged or truncated: nothing was changed"),
    ],
    ids=["empty", "blank", "latin-1", "no gzip", "cut gzip"],
)
def test_a_file_that_can_not_be_read_is_refused(
    sqlite_shell: Shell, tmp_path: Path, content: bytes, reason: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)

    result = sqlite_shell("import", str(file))

    assert (result.exit_code, result.stderr) == (1, f"holdfast: {str(file)!r} {reason}\n")


def test_a_file_with_only_broken_lines_ends_with_1(sqlite_shell: Shell) -> None:
    result = sqlite_shell("import", "-", "--from", "jsonl", stdin="nothing\nhere\n")

    assert result.exit_code == 1
    assert result.stdout.startswith("Imported from jsonl: nothing\n  Line 1: invalid JSON")


def test_an_archive_is_not_reviewed(sqlite_shell: Shell) -> None:
    sqlite_shell.remembers("Lives in Lisbon")

    result = sqlite_shell("import", "-", "--review", stdin=sqlite_shell.says("export"))

    assert result.exit_code == 2
    assert "--review does not apply to archives" in result.stderr


def test_an_export_never_replaces_a_strangers_file(sqlite_shell: Shell, tmp_path: Path) -> None:
    sqlite_shell.remembers("Lives in Lisbon")
    letter, older = tmp_path / "letter.txt", tmp_path / "older.jsonl"
    letter.write_text("Dear Ada", encoding="utf-8")
    sqlite_shell.says("export", str(older))
    sqlite_shell.remembers("Has a dog")

    refused = sqlite_shell("export", str(letter))
    sqlite_shell.says("export", str(older))

    assert refused.exit_code == 1
    assert "exists and is not a Holdfast archive: choose another name" in refused.stderr
    assert letter.read_text(encoding="utf-8") == "Dear Ada"
    assert json.loads(older.read_text(encoding="utf-8").splitlines()[-1])["counts"]["memories"] == 2
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith(".")) == []
