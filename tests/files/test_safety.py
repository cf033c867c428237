"""No name and no link leads out of the directory, whatever happens while a file is read or written."""

from __future__ import annotations

import os
import random
import shutil
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import Memories
from holdfast.domain.file_paths import checked_path, wrong_name
from holdfast.domain.render import file_name
from holdfast.errors import Conflict, HoldfastError, Invalid, NotFound, TooLong
from holdfast.files import safe_directory
from holdfast.files.safe_directory import SafeDirectory
from tests.requirements_ledger import requirement

CANARY = "nobody may read or write this"


@requirement("files.safe")
@pytest.mark.parametrize(
    "path",
    [
        "",
        " ",
        ".",
        "..",
        "../x.md",
        "a/../../x.md",
        "a/./x.md",
        "/etc/passwd",
        "//x.md",
        "~/x.md",
        "a//x.md",
        "a/",
        "C:\\x.md",
        "C:x.md",
        "a\\b.md",
        "a\0.md",
        "a\n.md",
        "x.md\u202egnp",
        "e\u0301.md",
        "a\uff0fb.md",
        "a\u2215b.md",
        "a\u2044b.md",
        "\uff0e\uff0e/x.md",
        "\u2024\u2024/x.md",
        "a\u200bb.md",
        "a\u00a0b.md",
        "\ud800.md",
        ".hidden.md",
        ".git/config",
        "x.md~",
        "x.",
        " x.md",
        "x.md ",
        "con.md",
        "NUL",
        "a/com1.txt",
        "MEMORY.md",
        "memory.MD",
        "a/b/c/d.md",
        "x" * 201,
        "x:stream",
        'a"b.md',
        "a|b.md",
        "a?.md",
    ],
)
def test_a_path_that_could_mean_something_else_is_refused(path: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked_path(path)

    assert refused.value.field == "path"
    assert str(refused.value).isprintable()


@requirement("files.safe")
@pytest.mark.parametrize(
    "path", ["x.md", "a/b/x.txt", "Grüße, Welt (2).md", "日本語.md", "हिन्दी.md", "a.b-c_d"]
)
def test_ordinary_names_of_any_script_are_taken(path: str) -> None:
    assert checked_path(path) == path


@requirement("files.safe")
@given(st.text(max_size=120))
def test_the_name_that_a_memory_gets_is_always_one_that_may_be(subject: str) -> None:
    assert checked_path(file_name(subject), folders=0)


@requirement("files.safe")
def test_what_is_too_deep_for_a_tool_is_not_too_deep_for_another() -> None:
    assert checked_path("a/b.md") == "a/b.md"
    with pytest.raises(Invalid, match="without folders"):
        checked_path("a/b.md", folders=0)


# ------------------------------------------------------------------------------------- names, by the thousand

PIECES = (
    *(
        "..",
        ".",
        "/",
        "\\",
        "//",
        "../",
        "..\\",
        "~",
        "\0",
        ":",
        "C:",
        "C:\\",
        "%2e%2e%2f",
        "%00",
        "a",
        "b.md",
    ),
    *(
        "\uff0e\uff0e",
        "\uff0f",
        "\u2215",
        "\u2024",
        "\u202e",
        "\u200b",
        "\u0301",
        "e\u0301",
        "\ud83d",
        "\n",
        "\r",
    ),
    *(
        "CON",
        "nul",
        "MEMORY.md",
        ".git",
        "outside",
        "canary.md",
        "link",
        "folder",
        "etc",
        "passwd",
        "x" * 120,
        " ",
    ),
    *(
        "日本",
        "ß",
        "\u0130",
        ".md",
        ".txt",
        "-",
        "_",
        "*",
        "?",
        "|",
        "$(id)",
        "`id`",
        ";",
        "'",
        '"',
        "<",
        "&",
    ),
)


def generated(amount: int, seed: int, outside: Path) -> Iterator[str]:
    chance = random.Random(seed)
    known = [str(outside / "canary.md"), os.path.relpath(outside / "canary.md", outside.parent / "memory")]
    for number in range(amount):
        if number % 50 == 0:
            yield chance.choice(known)
        yield "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 8)))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def try_names(notes: Memories, folder: Path, amount: int, seed: int) -> tuple[int, int]:
    """Every name through every verb; answers how many were tried and how many were taken."""
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "canary.md").write_text(CANARY)
    (folder / "link").symlink_to(outside)
    (folder / "canary.md").symlink_to(outside / "canary.md")
    (folder / "folder").mkdir()
    (folder / "folder" / "link").symlink_to(outside)
    before = tree(outside)
    tried = taken = 0
    with SafeDirectory(str(folder)) as safe:
        for name in generated(amount, seed, outside):
            tried += 1
            for work in (
                lambda name=name: safe.read(name, 1_000)[0],
                lambda name=name: safe.write(name, b"ours"),
                lambda name=name: safe.delete(name),
            ):
                with suppress(Invalid, NotFound, Conflict):
                    answer = work()
                    assert CANARY.encode() not in (answer if isinstance(answer, bytes) else b"")
                    taken += 1
            if tried % 20 == 0:
                with suppress(HoldfastError):
                    notes.put_file(name, "through the verb")
                with suppress(HoldfastError):
                    assert CANARY not in notes.file(name).text
    assert tree(outside) == before
    assert sorted(entry.name for entry in folder.parent.iterdir() if entry.name == "canary.md") == []
    return tried, taken


@requirement("files.safe")
def test_1000_names_reach_nothing_outside(sqlite_notes: Memories, folder: Path) -> None:
    tried, taken = try_names(sqlite_notes, folder, 1_000, seed=7)

    assert tried >= 1_000
    assert taken > 20  # some of them are names like any other


@pytest.mark.faults
@requirement("files.safe")
def test_10000_names_reach_nothing_outside(sqlite_notes: Memories, folder: Path) -> None:
    tried, taken = try_names(sqlite_notes, folder, 10_000, seed=70)

    assert tried >= 10_000
    assert taken > 200


# ------------------------------------------------------------------------------------------------- link races


def race(folder: Path, rounds: int) -> tuple[int, int]:
    """Writes while a folder is swapped for a link and back; answers swaps and writes that went through."""
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "x.md").write_text(CANARY)
    real, hidden = folder / "inner", folder / ".hidden"
    real.mkdir(parents=True)
    stopping = threading.Event()
    swaps = 0

    def swap() -> None:
        nonlocal swaps
        while not stopping.is_set():
            # The writer makes the folder when it is missing, so any step may fail.
            with suppress(OSError):
                os.rename(real, hidden)
            with suppress(OSError):
                os.symlink(outside, real)
                swaps += 1
            with suppress(OSError):
                os.unlink(real)
            with suppress(OSError):
                os.rename(hidden, real)
            if hidden.exists():
                shutil.rmtree(hidden, ignore_errors=True)

    swapper = threading.Thread(target=swap)
    swapper.start()
    written = 0
    try:
        with SafeDirectory(str(folder)) as safe:
            for number in range(rounds):
                for work in (
                    lambda number=number: safe.write("inner/x.md", f"ours {number}".encode()),
                    lambda: safe.read("inner/x.md", 100),
                    lambda: safe.delete("inner/x.md"),
                    safe.list,
                ):
                    with suppress(Invalid, NotFound):
                        answer = work()
                        assert CANARY not in repr(answer)
                        written += 1
    finally:
        stopping.set()
        swapper.join()
    assert [(file.name, file.read_text()) for file in outside.iterdir()] == [("x.md", CANARY)]
    return swaps, written


@requirement("files.safe")
def test_50_writes_against_swapped_links_stay_inside(tmp_path: Path) -> None:
    swaps, written = race(tmp_path / "memory", 50)

    assert swaps > 0
    assert written > 0


@pytest.mark.faults
@requirement("files.safe")
def test_1000_writes_against_swapped_links_stay_inside(tmp_path: Path) -> None:
    swaps, written = race(tmp_path / "memory", 1_000)

    assert swaps > 100
    assert written > 100


def test_without_the_handles_the_race_would_be_lost(tmp_path: Path) -> None:
    """The twin without the guard: a plain path follows the link, so the tests above can fail."""
    outside, inner = tmp_path / "outside", tmp_path / "memory" / "inner"
    outside.mkdir()
    inner.parent.mkdir()
    inner.symlink_to(outside)

    (inner / "x.md").write_text("written through")
    with SafeDirectory(str(inner.parent)) as safe, pytest.raises(Invalid):
        safe.write("inner/y.md", b"not written")

    assert sorted(file.name for file in outside.iterdir()) == ["x.md"]


@requirement("files.safe")
def test_a_link_in_place_of_a_file_is_left_alone_and_told(notes: Memories, folder: Path) -> None:
    outside = folder.parent / "outside.md"
    outside.write_text(CANARY)
    change = notes.write_file("note.md", "Ours", type="user")
    assert change.memory is not None
    (folder / "note.md").unlink()
    (folder / "note.md").symlink_to(outside)

    notes.revise(change.memory.id, "Ours, changed")

    assert (folder / "note.md").is_symlink()
    assert outside.read_text() == CANARY
    assert CANARY not in "".join(notes.export())
    state = notes.directory()
    assert state is not None
    assert any("link, which is not followed" in trouble for trouble in state.troubles)
    (folder / "note.md").unlink()
    notes.sync_directory()
    assert "Ours, changed" in (folder / "note.md").read_text()


@requirement("files.safe")
def test_a_pipe_in_place_of_a_file_is_not_waited_for_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.md")

    with SafeDirectory(str(tmp_path)) as safe:
        with pytest.raises(Invalid, match="not a regular file"):
            safe.read("x.md", 10)
        with pytest.raises(Invalid, match="not a regular file"):
            safe.delete("x.md")

    assert (tmp_path / "x.md").is_fifo()


@requirement("files.safe")
def test_no_more_is_read_than_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_directory, "MOST_ENTRIES", 2)
    with SafeDirectory(str(tmp_path / "memory"), create=True) as safe:
        for name in ("a.md", "b.md"):
            safe.write(name, b"0123456789")
        assert safe.read("a.md", 10)[0] == b"0123456789"
        assert len(safe.list().files) == 2
        safe.write("c.md", b"0123456789")

        with pytest.raises(TooLong, match="larger than 9 bytes"):
            safe.read("a.md", 9)
        with pytest.raises(TooLong, match="over 2 files"):
            safe.list()


@requirement("files.safe")
def test_an_archive_can_not_bring_a_path_that_leads_outside(notes: Memories) -> None:
    notes.write_file("note.md", "Ours", type="user")
    lines = list(notes.export())
    forged = [line.replace('"path":"note.md"', '"path":"../note.md"') for line in lines]
    assert forged != lines

    with pytest.raises(Invalid, match="invalid path"):
        notes.import_archive(forged)


@requirement("files.safe")
def test_what_somebody_wrote_at_the_last_moment_is_handed_back(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with SafeDirectory(str(folder), create=True) as safe:
        seen, lost = safe.write("x.md", b"first")
        assert lost is None
        (folder / "x.md").write_text("by hand")

        _, lost = safe.write("x.md", b"second", seen)
        seen, _ = safe.write("x.md", b"third")
        kept = safe.delete("x.md", seen)

    assert lost == b"by hand"
    assert kept is None


def test_wrong_names_are_the_same_in_every_normal_form() -> None:
    for name in ("Ångström.md", "ﬁ.md", "１.md"):
        forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")}
        assert sum(wrong_name(form) is None for form in forms) <= 1
