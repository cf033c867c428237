"""Files that are made to be too much: each ends in one clear line, and none takes the machine's memory."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

MOST_MEMORY = 400  # MB, of which the interpreter and the libraries are 100
RUN = """
import re, sys
from holdfast.cli import main
try:
    main()
finally:  # not by getrusage, which counts what the process was before it became this program
    print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024, file=sys.stderr)
"""
MB = 1024 * 1024


def long_line(path: Path, size: int) -> None:
    path.write_bytes(b'{"content": "')
    with path.open("ab") as file:
        file.truncate(size)  # zeros that take no room on the disk


def large_graph(path: Path, size: int) -> None:
    line = b'{"type": "entity", "name": "a", "entityType": "b"}\n'
    with path.open("wb") as file:
        for _ in range(size // MB):
            file.write(line * (MB // len(line)))


def deep_list(path: Path, size: int) -> None:
    path.write_bytes(b'[{"a":' + b"[" * (size // 10) + b"]")


def deep_line(path: Path, size: int) -> None:
    path.write_bytes(b'{"content":' * (size // 100) + b"\n")


def zip_bomb(path: Path, size: int) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as member,
    ):
        for _ in range(size // MB):
            member.write(b" " * MB)


def gzip_bomb(path: Path, size: int) -> None:
    header = {"holdfast": "export", "format": 1, "space": "s", "profile": "ops", "profile_text": None}
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(json.dumps({**header, "key": "00"}).encode() + b"\n")
        for _ in range(size // MB):
            file.write((b" " * 999 + b"\n") * (MB // 1000))


SIZES: dict[Callable[[Path, int], None], int] = {long_line: 300, large_graph: 70, zip_bomb: 100}  # MB
FILES: dict[str, tuple[str, Callable[[Path, int], None], str]] = {
    "a line of 300 MB": ("notes.jsonl", long_line, "line 1: longer than 16 MB"),
    "a transcript with such a line": ("chat.json", long_line, "line 1: longer than 16 MB"),
    "a large graph": ("graph.jsonl", large_graph, "is larger than 64 MB"),
    "deep JSON in an export": ("conversations.json", deep_list, "nested"),
    "deep JSON in a line": ("notes.jsonl", deep_line, "invalid JSON"),
    "a zip bomb": ("export.zip", zip_bomb, "unpacks to more than 200 times its size"),
    "a packed archive that is a bomb": ("backup.jsonl.gz", gzip_bomb, "unpacks to more than 200 times"),
}


def imported(path: Path) -> tuple[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, "import", str(path)], capture_output=True, text=True, timeout=900
    )
    said, _, peak = done.stderr.strip().rpartition("\n")
    assert done.returncode, done.stdout
    return said or done.stdout.strip(), int(peak)


@pytest.mark.parametrize("name", FILES)
def test_what_is_too_much_to_import_ends_in_one_line_within_bounded_memory(name: str, tmp_path: Path) -> None:
    file, make, expected = FILES[name]
    make(tmp_path / file, SIZES.get(make, 24) * MB)

    said, peak = imported(tmp_path / file)

    assert expected in said
    assert len([line for line in said.splitlines() if "nothing" in line or expected in line]) <= 2
    assert "Traceback" not in said
    assert peak < MOST_MEMORY


@pytest.mark.faults
@pytest.mark.parametrize("name", FILES)
def test_what_is_far_too_much_to_import_takes_no_more_memory(name: str, tmp_path: Path) -> None:
    file, make, expected = FILES[name]
    make(tmp_path / file, 3_000 * MB)

    said, peak = imported(tmp_path / file)

    assert expected in said
    assert peak < MOST_MEMORY
