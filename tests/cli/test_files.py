"""`holdfast files`: binding a directory, looking at it, bringing it to agree, letting go."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement


@requirement("files.init", "files.same-memory")
def test_a_directory_is_bound_told_of_and_let_go(
    shell: Shell, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "memory"
    notes = shell.in_space("notes", "files")

    said = notes.says("files", "init", str(folder))
    memory = notes.remembers("Uses vim", "-c", "user", "-s", "Editor")
    status = notes.says("files", "status")
    told = notes.json("files", "status")["directory"]
    again = notes("files", "init", str(tmp_path / "other"))
    unbound = notes("files", "unbind")

    assert f"Bound space notes to {folder}" in said
    assert (folder / "editor.md").read_text().endswith(f"id: {memory}\n---\n\nUses vim\n")
    assert f"Bound to {folder}" in status
    assert (told["files"], told["layout"], told["here"], told["troubles"]) == (1, "files", True, [])
    assert again.exit_code == 1
    assert "is bound to" in again.stderr
    assert "its files are kept" in unbound.stdout
    assert caplog.messages == []
    assert (folder / "editor.md").exists()
    notes("forget", memory)
    assert (folder / "editor.md").exists()
    assert notes.json("files", "status")["directory"] is None


@requirement("files.by-hand")
def test_sync_tells_what_was_done_and_asks_when_all_is_gone(sqlite_shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    notes = sqlite_shell.in_space("notes", "files")
    notes.says("files", "init", str(folder))
    (folder / "a.md").write_text("Note a\n")
    (folder / "b.md").write_text("Note b\n")

    taken = notes.says("files", "sync")
    quiet = notes.says("files", "sync")
    shutil.rmtree(folder)
    asked = notes("files", "sync")
    doctor = notes("doctor")
    both = notes("files", "sync", "--accept-empty", "--write-back")
    back = notes.json("files", "sync", "--write-back")

    assert "Imported: a.md, b.md" in taken
    assert quiet == "Already in sync\n"
    assert asked.exit_code == 1
    assert "Nothing was deleted" in asked.stdout
    assert doctor.exit_code == 1
    assert "the files of space 'notes' need a decision" in doctor.stdout
    assert both.exit_code == 2
    assert sorted(back["sync"]["written"]) == ["MEMORY.md", "a.md", "b.md"]


@pytest.mark.parametrize("command", ["status", "sync"])
@pytest.mark.parametrize("how", ["emptied", "vanished"])
def test_what_a_directory_asks_is_said_once(
    sqlite_shell: Shell, tmp_path: Path, caplog: pytest.LogCaptureFixture, command: str, how: str
) -> None:
    folder = tmp_path / "memory"
    notes = sqlite_shell.in_space("notes", "files")
    notes.says("files", "init", str(folder))
    notes.remembers("Uses vim", "-c", "user", "-s", "Editor")
    notes.remembers("Drinks tea", "-c", "user", "-s", "Drinks")
    shutil.rmtree(folder)
    if how == "emptied":
        folder.mkdir()

    result = notes("files", command)

    assert result.stdout.count("Nothing was deleted") == 1
    assert caplog.messages == []
    assert result.stderr == ""


def test_a_use_that_does_not_show_what_a_directory_asks_logs_it_once(
    sqlite_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(sqlite_url)
    create_space("notes", store=store, clock=FixedClock(), profile="files")
    memories = Memories.of(store, "notes")
    memories.bind_directory(str(tmp_path / "memory"))
    memories.remember("Uses vim", category="user", subject="Editor")
    shutil.rmtree(tmp_path / "memory")

    memories.find()
    memories.find()
    state = memories.directory()
    store.close()

    assert state is not None
    assert caplog.messages == [f"space notes: {state.asks}"]


@requirement("files.safe")
def test_a_directory_shows_one_space_and_a_space_one_directory(sqlite_shell: Shell, tmp_path: Path) -> None:
    notes = sqlite_shell.in_space("notes", "files")
    other = sqlite_shell.in_space("other", "files")
    notes.says("files", "init", str(tmp_path / "memory"))

    inside = other("files", "init", str(tmp_path / "memory" / "inner"))
    above = other("files", "init", str(tmp_path))
    missing = other("files", "sync", "--json")

    assert inside.exit_code == above.exit_code == 1
    assert "overlaps" in inside.stderr
    assert json.loads(missing.stdout)["error"]["kind"] == "not_found"
