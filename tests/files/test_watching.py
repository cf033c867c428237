"""While a service runs, changes in a bound directory are noticed, and the watcher ends with the service."""

from __future__ import annotations

import threading
from pathlib import Path

from holdfast import Memories
from holdfast.files.watching import Watching, follow
from tests.doors.service.conftest import Service
from tests.requirements_ledger import requirement

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


@requirement("files.by-hand", "files.same-memory")
def test_a_running_service_takes_over_an_edit_and_ends_cleanly(tmp_path: Path) -> None:
    service = Service(tmp_path / "holdfast")
    folder = tmp_path / "memory"
    try:
        db = str(tmp_path / "holdfast" / "holdfast.db")
        import subprocess
        import sys

        def holdfast(*arguments: str) -> str:
            done = subprocess.run(
                [sys.executable, "-m", "holdfast", *arguments, "--db", db],
                env=service.environment, capture_output=True, text=True, check=True,
            )  # fmt: skip
            return done.stdout

        holdfast("space", "create", "notes", "--profile", "files")
        holdfast("files", "init", str(folder), "--space", "notes")
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
