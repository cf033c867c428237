"""Files that are not, or no longer, a store of ours: one clear line, and the file stays as it is."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import pytest

from holdfast import HoldfastError, Memories, Unavailable
from holdfast.domain.query import Filter
from tests.faults.mounts import run_on
from tests.requirements_ledger import requirement

NOTES = 30
PAGE = 4_096


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with some notes in it, closed, so that the file alone is the database."""
    file = tmp_path_factory.mktemp("healthy") / "holdfast.db"
    with Memories.open(str(file)) as memories:
        for number in range(NOTES):
            memories.remember(text_of(number), subject=f"s{number}", tags=["kept"], key=f"k{number}")
        memories.brief()
    return file


def text_of(number: int) -> str:
    return f"Note {number} about the matter, " + "with more words to fill a page, " * (number * 3)


def copied(healthy: Path, folder: Path) -> Path:
    file = folder / "holdfast.db"
    shutil.copyfile(healthy, file)
    return file


def use(file: Path) -> list[str]:
    """What the store answers to reading everything and writing once."""
    with Memories.open(str(file)) as memories:
        found = memories.find(Filter())
        for memory in found.memories:
            memories.why(memory.id)
        memories.recall("which matter")
        memories.remember("One more note, written to a file that may be damaged", subject="new")
        return [memory.content for memory in found.memories]


# --------------------------------------------------------------------------------------------------- damaged


def outcome_of(file: Path, expected: list[str]) -> str:
    """Whether all was "fine", "told" or "refused"; "silent", when something else was read than written."""
    inode = file.stat().st_ino
    found: list[str] = []
    trouble: HoldfastError | None = None
    try:
        found = use(file)
    except HoldfastError as caught:
        trouble = caught
    assert file.stat().st_ino == inode
    if trouble is None:
        return "fine" if found == expected else "silent"
    assert "\n" not in str(trouble)
    return "told" if isinstance(trouble, Unavailable) and str(file) in str(trouble) else "refused"


@requirement("trust.durable")
def test_a_file_cut_short_anywhere_is_told_and_stays(healthy: Path, tmp_path: Path) -> None:
    size = healthy.stat().st_size
    file = copied(healthy, tmp_path)
    told = []
    for length in (1, 99, 512, 4_096, 5_000, size // 3, size // 2, size - 4_096, size - 5_000):
        shutil.copyfile(healthy, file)
        with file.open("rb+") as stream:
            stream.truncate(length)
        told.append(outcome_of(file, []))
        assert file.stat().st_size == length

    assert told == ["told"] * 9


def zero(healthy: Path, folder: Path, step: int) -> list[str]:
    """Zeroes one page after the other, each in a fresh copy."""
    file = copied(healthy, folder)
    expected = use(file)
    seen = []
    for page in range(0, healthy.stat().st_size // PAGE, step):
        renew(file, healthy.read_bytes())
        with file.open("rb+") as stream:
            stream.seek(page * PAGE)
            stream.write(b"\0" * PAGE)
        seen.append(outcome_of(file, expected))
    return seen


def renew(file: Path, content: bytes) -> None:
    """The file with this content, and nothing of a log beside it."""
    for rest in file.parent.glob(f"{file.name}-*"):
        rest.unlink()
    file.write_bytes(content)


@pytest.mark.slow
@requirement("trust.durable")
def test_a_file_with_a_zeroed_page_is_told_or_fully_read(healthy: Path, tmp_path: Path) -> None:
    seen = zero(healthy, tmp_path, step=16)

    assert len(seen) > 6
    assert seen.count("told") >= len(seen) // 4
    assert seen.count("silent") == 0


@pytest.mark.faults
@requirement("trust.durable")
def test_any_zeroed_page_is_told_or_leaves_all_else_readable(healthy: Path, tmp_path: Path) -> None:
    seen = zero(healthy, tmp_path, step=1)

    assert len(seen) > 100
    assert seen.count("told") > len(seen) // 3
    assert (
        seen.count("silent") <= NOTES
    )  # the end of a long text has pages of its own, which carry no checksum


def flip(healthy: Path, folder: Path, rounds: int) -> list[str]:
    """Flips bits at random places, a few at a time; no exception but the product's own may come out.

    A flipped bit inside a text can't be told from another text: SQLite keeps no checksums.
    """
    file = copied(healthy, folder)
    expected = use(file)
    chance = random.Random(7)
    seen = []
    for _ in range(rounds):
        content = bytearray(healthy.read_bytes())
        for _ in range(chance.choice((1, 8, 64))):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        renew(file, bytes(content))
        seen.append(outcome_of(file, expected))
    return seen


@pytest.mark.slow
@requirement("trust.durable")
def test_10_files_with_flipped_bits_never_bring_the_product_down(healthy: Path, tmp_path: Path) -> None:
    seen = flip(healthy, tmp_path, rounds=10)

    assert len(seen) == 10
    assert seen.count("told") >= 2


@pytest.mark.faults
@requirement("trust.durable")
def test_1000_files_with_flipped_bits_never_bring_the_product_down(healthy: Path, tmp_path: Path) -> None:
    seen = flip(healthy, tmp_path, rounds=1_000)

    assert len(seen) == 1_000
    assert seen.count("told") > 100


# ------------------------------------------------------------------------------------------------- read-only

WRITE = """
import sys
from holdfast import Memories, Unavailable
try:
    with Memories.open(sys.argv[1]) as memories:
        memories.remember("Something new in a folder that can't be written")
except Unavailable as trouble:
    print(trouble)
    sys.exit(3)
"""


@requirement("trust.durable")
@pytest.mark.parametrize("state", ["with a store", "empty"])
def test_a_folder_that_can_not_be_written_is_told_in_one_line(
    healthy: Path, tmp_path: Path, state: str
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    file = folder / "holdfast.db"
    if state == "with a store":
        shutil.copyfile(healthy, file)
    closed = f"mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}"

    done = run_on(closed, folder, [sys.executable, "-c", WRITE, str(file)])

    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith(f"{file}: the database can't be ")
    assert done.stdout.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ([file.name] if state == "with a store" else [])
    if state == "with a store":
        assert file.read_bytes() == healthy.read_bytes()
        assert len(use(file)) == NOTES
