"""kill -9 while files are taken over and written: nothing is lost or doubled, and both sides agree again."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import pytest

from holdfast import Memories
from holdfast.files.directory_sync import DirectorySync
from holdfast.files.write_back import IndexFile, WriteBack
from tests.files.doomed import text_of
from tests.requirements_ledger import requirement

ROOT = Path(__file__).parents[2]
ITEM = re.compile(r"item (\w+) v(\d+)")
SEED = 20261115
PATIENCE = 60.0  # seconds until one that makes no progress counts as stuck
KEPT = 40  # files at least, so that each look at the directory takes a while

Known = dict[str, int]  # what there should be: the version of each token


class Doomed:
    """Processes that work on the space until they are killed."""

    def __init__(self, database: str, ledger: Path) -> None:
        self.ledger = ledger
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.files.doomed", database, "notes", str(ledger)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def killed_after(self, number: int, steps: int, seconds: float) -> None:
        """Starts one, and kills it a moment after it has noted so many steps."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(f"{number}\n")
        self._parent.stdin.flush()
        pid = int(self._parent.stdout.readline())
        wanted = len(self.noted()) + steps
        deadline = time.monotonic() + PATIENCE
        while len(self.noted()) < wanted and not self.errors():
            assert time.monotonic() < deadline, f"{len(self.noted())} steps where {wanted} were expected"
            time.sleep(0.002)
        time.sleep(seconds)  # the moment of the fault, not a synchronisation
        with suppress(ProcessLookupError):  # ended by itself, which `errors` tells
            os.kill(pid, signal.SIGKILL)
        assert self._parent.stdout.readline() == "gone\n"

    def noted(self) -> list[dict[str, object]]:
        lines = self.ledger.read_text().splitlines() if self.ledger.exists() else []
        return [json.loads(line) for line in lines]

    def errors(self) -> str:
        file = self.ledger.with_suffix(".errors")
        return file.read_text() if file.exists() else ""

    def close(self) -> None:
        self._parent.communicate()


@contextmanager
def doomed(database: str, ledger: Path) -> Iterator[Doomed]:
    fleet = Doomed(database, ledger)
    try:
        yield fleet
    finally:
        fleet.close()


def edit_by_hand(folder: Path, known: Known, number: int, chance: random.Random) -> None:
    """What a person does while nobody works: new, changed, moved and deleted files."""
    files = sorted(file for file in folder.rglob("*.md") if file.name != "MEMORY.md")
    chance.shuffle(files)
    for place in range(max(KEPT - len(files), 0) + 6):
        token = f"h{number}x{place}"
        heading = f"---\nname: Hand {token}\ntype: project\n---\n\n" if place % 2 else ""
        (folder / f"by_hand_{token}.md").write_text(f"{heading}{text_of(token, 1)}\n")
        known[token] = 1
    for file in files[:4]:
        text = file.read_text()
        found = ITEM.search(text)
        assert found is not None
        known[found[1]] = int(found[2]) + 100
        file.write_text(ITEM.sub(text_of(found[1], known[found[1]]), text))
    for file in files[4:6]:
        file.rename(folder / f"again_{number}_{file.name}")
    for file in files[KEPT:]:
        found = ITEM.search(file.read_text())
        assert found is not None
        del known[found[1]]
        file.unlink()


def follow(known: Known, lines: list[dict[str, object]]) -> tuple[str, object] | None:
    """Applies what was done; answers the last thing that was begun and may have been done or not."""
    begun = None
    for line in lines:
        if "done" in line:
            assert begun is not None
            apply(known, begun)
            begun = None
        else:
            begun = (str(line["token"]), line["version"])
    return begun


def apply(known: Known, change: tuple[str, object]) -> None:
    token, version = change
    if isinstance(version, int):
        known[token] = version
    else:
        known.pop(token, None)


def agree(memories: Memories, folder: Path) -> Known:
    """What both sides hold, after one use; fails when they differ in anything."""
    entries = memories.files()
    on_disk = {
        str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()
    }
    assert [path for path in on_disk if path.rpartition("/")[2].startswith(".")] == []
    assert on_disk.pop("MEMORY.md") == memories.file_index()
    assert on_disk == {entry.path: memories.file(entry.path).text for entry in entries}
    held = [ITEM.search(memory.content) for memory in memories.find().memories]
    found = [(match[1], int(match[2])) for match in held if match]
    assert len(found) == len(held) == len(dict(found)) == len(entries)
    assert memories.inbox() == []
    state = memories.directory()
    assert state is not None
    assert (state.asks, state.troubles) == (None, ())
    return dict(found)


def survive(database: str, memories: Memories, folder: Path, kills: int, ledger: Path) -> None:
    chance = random.Random(SEED)
    known: Known = {}
    seen = 0
    with doomed(database, ledger) as fleet:
        for number in range(kills):
            edit_by_hand(folder, known, number, chance)
            # While it takes over what was done by hand, or later, in the middle of what it does itself.
            steps = 0 if number % 3 == 0 else chance.randrange(1, 9)
            fleet.killed_after(number, steps, chance.uniform(0, 0.3 if steps == 0 else 0.06))
            lines = fleet.noted()
            unsure = follow(known, lines[seen:])
            seen = len(lines)
            if number % 2:  # a process that has seen it all, and one that knows nothing yet
                found = agree(memories, folder)
            else:
                with Memories.open(database, "notes") as fresh:
                    found = agree(fresh, folder)
            if unsure is not None and found != known:
                apply(known, unsure)
            assert found == known, f"after kill {number}"
            assert fleet.errors() == ""
    assert seen > kills  # they did work


@requirement("files.same-memory", "files.index")
@pytest.mark.parametrize(
    ("part", "moment"), [(DirectorySync, "_write"), (IndexFile, "write"), (WriteBack, "_agree")]
)
def test_the_next_use_ends_what_was_cut_off(
    notes: Memories, folder: Path, monkeypatch: pytest.MonkeyPatch, part: type, moment: str
) -> None:
    notes.put_file("old.md", f"{text_of('old', 1)}\n")
    (folder / "new.md").write_text(f"{text_of('new', 1)}\n")
    (folder / "old.md").rename(folder / "moved.md")

    def cut(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(part, moment, cut)
        with pytest.raises(KeyboardInterrupt):
            notes.remember(text_of("told", 1), category="user", subject="Told")
        (folder / ".holdfast-0123456789abcdef").write_text("half of a fi")

    assert agree(notes, folder).keys() >= {"old", "new"}


@pytest.mark.slow
@requirement("files.same-memory", "files.by-hand", "trust.durable")
def test_4_kills_lose_and_double_nothing(
    sqlite_url: str, sqlite_notes: Memories, folder: Path, tmp_path: Path
) -> None:
    survive(sqlite_url, sqlite_notes, folder, 4, tmp_path / "ledger.txt")


@pytest.mark.faults
@pytest.mark.timeout(1_800)
@requirement("files.same-memory", "files.by-hand", "trust.durable")
def test_200_kills_lose_and_double_nothing(
    sqlite_url: str, sqlite_notes: Memories, folder: Path, tmp_path: Path
) -> None:
    survive(sqlite_url, sqlite_notes, folder, 200, tmp_path / "ledger.txt")
