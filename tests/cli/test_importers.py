"""Imports from other programs on the command line: counted first, taken once, refused whole when broken."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from holdfast.agents.importers import FORMATS
from tests.agents.importers.test_exports import TALK, TREE
from tests.agents.importers.test_foreign_memories import MEM0, NOTE
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "given"
    made.mkdir()
    return made


def everything(shell: Shell) -> object:
    """All that there is, so that two moments can be compared."""
    return [
        shell.json("list", "--state", "all")["memories"],
        [line for line in shell.says("export").splitlines() if '"made_at"' not in line],
    ]


def given(folder: Path, form: str) -> Path:
    """A small file of each format."""
    match form:
        case "chatgpt":
            path = folder / "chatgpt.zip"
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("conversations.json", json.dumps([TREE]))
        case "claude-ai":
            path = folder / "conversations.json"
            path.write_text(json.dumps([TALK]), encoding="utf-8")
        case "basic-memory":
            path = folder / "notes"
            path.mkdir()
            (path / "coffee.md").write_text(NOTE, encoding="utf-8")
        case "mem0":
            path = folder / "mem0.json"
            path.write_text(json.dumps({"results": MEM0[:2]}), encoding="utf-8")
        case "csv":
            path = folder / "notes.csv"
            path.write_text("content,category\nOtto works at TechCorp,fact\nBeans are out,fact\n")
        case "mcp-memory":
            path = folder / "memory.jsonl"
            entity = {"type": "entity", "name": "Otto", "entityType": "person", "observations": ["Likes tea"]}
            path.write_text(json.dumps(entity) + "\n", encoding="utf-8")
        case _:
            path = folder / "lines.jsonl"
            path.write_text('{"content": "Otto works at TechCorp"}\n', encoding="utf-8")
    return path


FORMS = ["chatgpt", "claude-ai", "basic-memory", "mem0", "csv", "mcp-memory", "jsonl"]


@requirement("sem.import.mcp", "sem.tap.logs")
@pytest.mark.parametrize("form", FORMS)
def test_a_dry_run_counts_and_takes_nothing_then_twice_changes_nothing(
    shell: Shell, folder: Path, form: str
) -> None:
    path = str(given(folder, form))
    empty = everything(shell)

    counted = shell.json("import", path, "--dry-run")
    untouched = everything(shell)
    taken = shell.json("import", path)
    once = everything(shell)
    shell.clock.advance(hours=1)
    again = shell.json("import", path)

    assert counted["dry_run"] is True
    assert untouched == empty != once
    assert _figures(counted) == _figures(taken)
    assert sum(_figures(taken)) > 0
    assert everything(shell) == once
    assert _new(again) == 0


@requirement("trust.inbox")
@pytest.mark.parametrize("form", ["basic-memory", "mem0", "csv", "mcp-memory", "jsonl"])
def test_what_comes_in_is_labelled_as_imported(shell: Shell, folder: Path, form: str) -> None:
    shell.says("import", str(given(folder, form)))

    found = shell.json("list")["memories"]

    assert found
    assert {memory["origin"] for memory in found} == {"import"}
    assert all(memory["session"].startswith("import-") for memory in found)


@pytest.mark.parametrize("form", ["chatgpt", "claude-ai"])
def test_what_was_said_in_an_export_is_captured_like_any_conversation(
    shell: Shell, folder: Path, form: str
) -> None:
    shell.says("import", str(given(folder, form)))

    shell.says("capture")

    (memory,) = shell.json("list")["memories"]
    assert "host alpha" in memory["content"]
    assert memory["session"].startswith(f"{form}-")
    assert shell.json("recall", "on which host is the broker")["hits"]


def test_of_a_broken_export_nothing_is_taken_and_the_line_is_named(shell: Shell, folder: Path) -> None:
    whole = json.dumps([TREE, {**TREE, "id": "c-2", "conversation_id": "c-2"}], indent=1)
    path = folder / "conversations.json"
    path.write_text(whole[:-50], encoding="utf-8")
    empty = everything(shell)

    result = shell("import", str(path))

    assert result.exit_code == 1
    assert "line" in result.stderr
    assert "truncated" in result.stderr
    assert everything(shell) == empty


def test_of_a_folder_of_notes_only_the_markdown_is_taken_and_the_rest_is_counted(
    sqlite_shell: Shell, folder: Path
) -> None:
    notes = given(folder, "basic-memory")
    for hidden in (".obsidian", ".trash"):
        (notes / hidden).mkdir()
        (notes / hidden / "old.md").write_text(NOTE.replace("Coffee", "Old"), encoding="utf-8")
    (notes / "inner").mkdir()
    (notes / "inner" / "shopping.txt").write_text("Buy milk\n")
    (notes / "inner" / "todo.org").write_text("* Call Otto\n")
    (notes / "inner" / "photo.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (notes / "inner" / "._coffee.md").write_bytes(b"\0\5\x16\7")
    (notes / "inner" / "plain.md").write_text("Tea is drunk at four\n")
    (notes / "dump.md").write_text("x" * 2_000_000)

    told = sqlite_shell.json("import", str(notes), "--from", "basic-memory", "--dry-run")["notes"][0]
    said = sqlite_shell.says("import", str(notes), "--from", "basic-memory")

    found = [memory["content"] for memory in sqlite_shell.json("list")["memories"]]
    assert told["skipped"] == {"hidden": 3, "not Markdown": 2, "binary": 1, "over 1 MiB": 1}
    assert all(part in said for part in ("3 hidden", "2 not Markdown", "1 binary", "1 over 1 MiB"))
    assert "Tea is drunk at four" in found
    assert not [text for text in found if "milk" in text or "Otto" in text or "PNG" in text or "Old" in text]


def test_notes_in_hidden_folders_are_passed_over_when_the_format_is_recognised_too(
    sqlite_shell: Shell, folder: Path
) -> None:
    notes = given(folder, "basic-memory")
    (notes / ".trash").mkdir()
    (notes / ".trash" / "old.md").write_text(NOTE.replace("Coffee", "Old"), encoding="utf-8")

    said = sqlite_shell.says("import", str(notes))

    assert "  Skipped: 1 hidden" in said
    assert not [one for one in sqlite_shell.json("list")["memories"] if "Old" in one["content"]]


def test_where_there_is_no_markdown_no_note_is_made_of_anything_else(
    sqlite_shell: Shell, folder: Path
) -> None:
    place = folder / "other"
    place.mkdir()
    (place / "list.txt").write_text("Buy milk\n")

    whole = sqlite_shell("import", str(place), "--from", "basic-memory")
    single = sqlite_shell("import", str(place / "list.txt"), "--from", "basic-memory")

    assert (whole.exit_code, single.exit_code) == (1, 1)
    assert "has no .md files, so no basic-memory notes (1 not Markdown)" in whole.stderr
    assert "'list.txt' is not a basic-memory note: these are .md files" in single.stderr
    assert sqlite_shell.json("list")["memories"] == []


@pytest.mark.parametrize("form", ["", *(form.name for form in FORMATS)])
def test_a_device_or_a_pipe_is_not_read(sqlite_shell: Shell, folder: Path, form: str) -> None:
    """One may never end, and the other never begin."""
    (folder / "zeros.jsonl").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.jsonl")

    for name in ("zeros.jsonl", "pipe.jsonl"):
        refused = sqlite_shell("import", str(folder / name), *(["--from", form] if form else []))

        assert refused.exit_code == 1
        assert "is neither a file nor a folder: give a file, or - for standard input" in refused.output


def test_a_file_that_only_its_name_calls_a_zip_is_refused(sqlite_shell: Shell, folder: Path) -> None:
    path = folder / "export.zip"
    path.write_bytes(b"<html>please sign in</html>")

    result = sqlite_shell("import", str(path), "--from", "chatgpt")

    assert result.exit_code == 1
    assert result.stderr == "holdfast: 'export.zip' is not a zip file: nothing was imported\n"


def test_a_zip_of_something_else_is_refused(sqlite_shell: Shell, folder: Path) -> None:
    path = folder / "holiday.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("beach.txt", "sun")

    result = sqlite_shell("import", str(path))

    assert result.exit_code == 1
    assert "'holiday.zip' has no conversations.json: nothing was imported" in result.stderr


def test_json_of_nobody_does_not_become_memories_line_by_line(sqlite_shell: Shell, folder: Path) -> None:
    path = folder / "settings.json"
    path.write_text('{\n "a": 1,\n "b": 2\n}\n', encoding="utf-8")

    result = sqlite_shell("import", str(path))

    assert result.exit_code == 1
    assert "JSON in an unknown format" in result.stderr
    assert sqlite_shell.json("list")["memories"] == []


def test_a_dry_run_of_an_archive_tells_what_would_come_in(shell: Shell, folder: Path) -> None:
    shell.remembers("Otto works at TechCorp")
    shell.says("export", str(folder / "space.jsonl"))
    other = shell.in_space("other", "default")

    said = other.says("import", str(folder / "space.jsonl"), "--dry-run")

    assert said.startswith("Would import 1 memory; 0 already there\n")
    assert other.json("list")["memories"] == []


def test_following_and_a_dry_run_exclude_each_other(sqlite_shell: Shell, folder: Path) -> None:
    result = sqlite_shell("import", str(folder), "--follow", "--dry-run")

    assert result.exit_code == 2


def _figures(answer: dict[str, object]) -> list[int]:
    """New messages, and drafts by what became of them."""
    notes = answer.get("notes", [])
    assert isinstance(notes, list)
    counts = [answer.get("counts", {}), *(note["counts"] for note in notes)]
    told = [count for one in counts if isinstance(one, dict) for count in one.values()]
    new = answer.get("new", 0)
    assert isinstance(new, int)
    return [new, *told]


def _new(answer: dict[str, object]) -> int:
    notes = answer.get("notes", [])
    assert isinstance(notes, list)
    counts = [answer.get("counts", {}), *(note["counts"] for note in notes)]
    fresh = [
        count for one in counts if isinstance(one, dict) for name, count in one.items() if name != "known"
    ]
    new = answer.get("new", 0)
    assert isinstance(new, int)
    return new + sum(int(count) for count in fresh)
