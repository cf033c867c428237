"""While a service runs, changes in a bound directory are noticed, and the watcher ends with the service."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast import Filter, Memories
from holdfast.app.wiring import open_store, utc_now
from holdfast.engine.space_context import shown_later
from holdfast.engine.spaces import create_space
from holdfast.files.safe_directory import FileStamp, Listing, SafeDirectory
from holdfast.files.watcher import Watching, follow
from tests.requirements_ledger import requirement
from tests.web.service.conftest import Service, with_store

PATIENCE = 60.0  # seconds; a busy machine is no failure


def test_a_change_wakes_the_worker_and_the_thread_ends(sqlite_notes: Memories, folder: Path) -> None:
    woken = threading.Event()
    watching = Watching(woken.set)
    watching.start()
    names = [thread.name for thread in threading.enumerate()]

    number = 0
    while not woken.wait(0.5) and number < 2 * PATIENCE:  # written until the watch stands
        number += 1
        (folder / f"note{number}.md").write_text("A note\n")
    watching.stop()

    assert woken.is_set()
    assert "holdfast-files" in names
    assert "holdfast-files" not in [thread.name for thread in threading.enumerate()]


def test_the_watcher_waits_where_nothing_is_bound(tmp_path: Path) -> None:
    watching = Watching(lambda: None)
    watching.start()

    watching.stop()

    assert "holdfast-files" not in [thread.name for thread in threading.enumerate()]


@requirement("files.by-hand")
def test_the_chore_takes_over_what_was_done_by_hand(sqlite_notes: Memories, folder: Path) -> None:
    (folder / "note.md").write_text("A note by hand\n")

    follow(lambda: sqlite_notes.store)(lambda: False)

    with sqlite_notes.store.read("notes") as tx:
        assert [row.path for row in tx.files.all()] == ["note.md"]


def test_a_large_directory_is_taken_over_in_slices(sqlite_notes: Memories, folder: Path) -> None:
    for number in range(180):
        (folder / f"note_{number}.md").write_text(f"Note number {number} says {number * 7}.\n")
    chore = follow(lambda: sqlite_notes.store)

    known = [0]
    while chore(lambda: True):
        with sqlite_notes.store.read("notes") as tx:
            known.append(tx.memories.count(Filter()))
        assert len(known) < 30

    assert max(later - before for before, later in pairwise(known)) == 15
    assert len(known) == 15  # one to look, twelve to import, one to plan what is written; the last one writes
    assert sqlite_notes.find().total == 180
    assert len(list(folder.glob("note_*.md"))) == 180


def test_what_was_taken_over_is_not_read_again_with_every_slice(
    sqlite_notes: Memories, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(90):
        file = folder / f"note_{number}.md"
        file.write_text(f"Note number {number} says {number * 7}.\n")
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 10_000_000_000)  # they have settled long since
    read: list[str] = []
    whole = SafeDirectory.read

    def counted(self: SafeDirectory, path: str, most: int) -> tuple[bytes, FileStamp]:
        read.append(path)
        return whole(self, path, most)

    monkeypatch.setattr(SafeDirectory, "read", counted)
    chore = follow(lambda: sqlite_notes.store)

    while chore(lambda: True):
        pass

    assert sqlite_notes.find().total == 90
    assert sum(path.startswith("note_") for path in read) <= 3 * 90 + 1  # and not 15 + 30 + 45 ...


def test_many_files_are_written_in_slices(notes: Memories, folder: Path) -> None:
    with shown_later():
        for number in range(14):
            notes.remember(f"Note number {number} says {number * 7}.", category="user", subject=f"n{number}")
    chore = follow(lambda: notes.store)

    written = [len(list(folder.glob("*.md")))]
    while chore(lambda: True):
        written.append(len(list(folder.glob("*.md"))))

    assert [*dict.fromkeys(written)] == [1, 6, 11, 15]
    assert len(written) == 6  # to look, to plan, and for the index there are slices of their own
    assert "n13" in (folder / "MEMORY.md").read_text()


def test_the_index_is_written_though_the_space_changes_between_all_slices(
    notes: Memories, folder: Path
) -> None:
    chore = follow(lambda: notes.store)
    for number in range(8):
        with shown_later():
            notes.remember(f"Note number {number} says {number * 7}.", category="user", subject=f"n{number}")
        chore(lambda: True)

    assert len(list(folder.glob("n*.md"))) > 4
    assert "n4" in (folder / "MEMORY.md").read_text()


@requirement("files.by-hand")
def test_many_files_that_are_gone_are_forgotten_in_slices(notes: Memories, folder: Path) -> None:
    for number in range(9):
        (folder / f"note_{number}.md").write_text(f"Note number {number} says {number * 7}.\n")
    assert notes.find().total == 9
    for number in range(5, 9):
        (folder / f"note_{number}.md").unlink()
    chore = follow(lambda: notes.store)

    left = []
    more = True
    while more:
        more = chore(lambda: True)
        with notes.store.read("notes") as tx:
            left.append(tx.memories.count(Filter()))

    assert left == [9, 8, 7, 6, 5, 5, 5]  # first a look, at the end the plan and the index
    assert len(list(folder.glob("note_*.md"))) == 5
    index = (folder / "MEMORY.md").read_text()
    assert [f"note_{number}.md" in index for number in (0, 4, 5, 8)] == [True, True, False, False]


@pytest.mark.slow
def test_files_that_were_moved_among_many_are_the_same_memories_whatever_the_slice(
    notes: Memories, folder: Path
) -> None:
    for number in range(130):
        (folder / f"note_{number:03}.md").write_text(f"Note number {number} says {number * 7}.\n")
    before = {memory.content.strip(): memory.id for memory in notes.find(limit=200).memories}
    for number in range(120):
        (folder / f"note_{number:03}.md").rename(folder / f"moved_{(number * 53) % 127:03}.md")
    for number in range(120, 128):
        (folder / f"note_{number:03}.md").unlink()
    chore = follow(lambda: notes.store)

    rounds = 1
    while chore(lambda: True):
        rounds += 1

    after = {memory.content.strip(): memory.id for memory in notes.find(limit=200).memories}
    assert rounds > 2
    assert len(after) == 122
    assert after == {text: known for text, known in before.items() if text in after}


@pytest.mark.slow
def test_a_new_file_gets_the_name_of_one_that_is_gone_whatever_the_slice(
    notes: Memories, folder: Path
) -> None:
    for number in range(130):
        (folder / f"note_{number:03}.md").write_text(f"---\nname: Topic {number}\n---\nNote {number}.\n")
    notes.find()
    for number in range(130):
        (folder / f"note_{number:03}.md").unlink()
        (folder / f"other_{number:03}.md").write_text(
            f"---\nname: Topic {number}\n---\nNothing like it, for {number} is another matter.\n"
        )
    chore = follow(lambda: notes.store)

    while chore(lambda: True):
        pass

    found = notes.find(limit=200).memories
    assert {memory.subject for memory in found} == {f"Topic {number}" for number in range(130)}
    assert all("another matter" in memory.content for memory in found)


def test_files_that_can_not_be_imported_keep_no_others_waiting(sqlite_notes: Memories, folder: Path) -> None:
    for number in range(20):
        (folder / f"a_{number:02}.md").write_bytes(b"\xff\xfe no text")
        (folder / f"b_{number:02}.md").write_text(f"Note number {number} says {number * 7}.\n")
    chore = follow(lambda: sqlite_notes.store)

    rounds = 1
    while chore(lambda: True) and rounds < 50:
        rounds += 1

    state = sqlite_notes.directory()
    assert rounds < 50
    assert len(sqlite_notes.find(limit=100).memories) == 20
    assert state is not None
    assert len(state.troubles) == 20


def test_a_directory_is_not_listed_anew_for_each_slice(
    sqlite_notes: Memories, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(90):
        (folder / f"note_{number:02}.md").write_text(f"Note number {number} says {number * 7}.\n")
    listed = []
    real = SafeDirectory.list

    def noted(root: SafeDirectory) -> Listing:
        listed.append(root.path)
        return real(root)

    monkeypatch.setattr(SafeDirectory, "list", noted)
    chore = follow(lambda: sqlite_notes.store)

    rounds = 1
    while chore(lambda: True):
        rounds += 1

    assert rounds > 5
    assert len(listed) <= 4
    assert len(sqlite_notes.find(limit=100).memories) == 90


def test_what_changes_between_two_slices_is_not_missed(sqlite_notes: Memories, folder: Path) -> None:
    for number in range(60):
        (folder / f"note_{number:02}.md").write_text(f"Note number {number} says {number * 7}.\n")
    chore = follow(lambda: sqlite_notes.store)
    chore(lambda: True)
    (folder / "note_59.md").unlink()
    (folder / "note_58.md").write_text("Something else entirely.\n")
    (folder / "late.md").write_text("A note that came late.\n")
    sqlite_notes.remember("Written beside the sync", category="user", subject="beside")

    while chore(lambda: True):
        pass

    said = {memory.content.strip() for memory in sqlite_notes.find(limit=100).memories}
    assert "Something else entirely." in said
    assert "A note that came late." in said
    assert "Written beside the sync" in said
    assert not any("number 59" in text for text in said)
    assert len(said) == 61


def test_a_file_that_was_moved_among_many_new_ones_stays_the_same_memory(
    sqlite_notes: Memories, folder: Path
) -> None:
    sqlite_notes.write_file("zebra.md", "Zebras are striped.", name="Zebra", type="user")
    [known] = sqlite_notes.find().memories
    (folder / "zebra.md").rename(folder / "zz_moved.md")
    for number in range(120):
        (folder / f"note_{number}.md").write_text(f"Note number {number} says {number * 7}.\n")
    chore = follow(lambda: sqlite_notes.store)

    while chore(lambda: True):
        pass

    assert sqlite_notes.show(known.id).memory.active
    assert sqlite_notes.find().total == 121


@pytest.mark.slow
@requirement("files.by-hand", "files.same-memory")
def test_a_running_service_takes_over_an_edit_and_ends_cleanly(
    tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = with_store(tmp_path / "holdfast", sqlite_template)
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    folder = tmp_path / "memory"
    service = Service(home)
    try:
        store = open_store(f"sqlite:///{home}/holdfast.db")
        create_space("notes", store=store, clock=utc_now, profile="files")
        Memories.of(store, "notes").bind_directory(str(folder))
        store.close()
        (folder / "note.md").write_text("A note by hand\n")

        # The index follows by the service alone: nobody uses the space meanwhile.
        index = folder / "MEMORY.md"
        waited = threading.Event()
        for _ in range(int(PATIENCE * 5)):
            if "note.md" in index.read_text():
                break
            waited.wait(0.2)
        assert "- [note](note.md) - A note by hand" in index.read_text()
    finally:
        code = service.stop()
    assert code == 0
