"""Fills the disk that a database lies on, and frees it again.

Run as `python -m tests.faults.full_disk FOLDER`. The folder is a small file system of its own. Prints as JSON
what was acknowledged, what was said when it was full, and whether everything worked again with more room.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from holdfast import HoldfastError, Memories, Unavailable
from holdfast.domain.outcomes import settled

TEXT = "A note that takes some room on the disk. " * 20


def write_until_full(memories: Memories, first: int) -> tuple[dict[str, str], str]:
    """What was acknowledged, and what the first refusal said."""
    acked: dict[str, str] = {}
    for number in range(first, first + 5_000):
        content = f"{TEXT} Number {number}."
        try:
            memory = settled(memories.remember(content, subject=f"s{number}", key=f"k{number}"))
        except Unavailable as trouble:
            return acked, str(trouble)
        assert memory is not None
        acked[memory.id] = memory.content
    raise AssertionError("the disk was never full")


def all_there(memories: Memories, acked: dict[str, str]) -> bool:
    return all(memories.show(memory_id).memory.content == content for memory_id, content in acked.items())


def opening_says(database: str) -> str:
    """What a new process would hear: a line, or nothing when it can open."""
    try:
        Memories.open(database).close()
    except HoldfastError as trouble:
        return f"{type(trouble).__name__}: {trouble}"
    return ""


def erasing_says(memories: Memories, acked: dict[str, str]) -> str:
    """Erases one when the disk is full: done, and then it is out of `acked`, or refused in a line."""
    memory_id = next(iter(acked))
    try:
        memories.erase(memory_id)
    except HoldfastError as trouble:
        return f"{type(trouble).__name__}: {trouble}"
    del acked[memory_id]
    return "erased"


def main(folder: Path) -> dict[str, object]:
    ballast = folder / "ballast"
    ballast.write_bytes(b"x" * 300_000)
    database = str(folder / "holdfast.db")
    memories = Memories.open(database)
    acked, said = write_until_full(memories, 0)
    readable_when_full = all_there(memories, acked)
    said_on_opening = opening_says(database)
    erasing = erasing_says(memories, acked)
    ballast.unlink()
    later, said_again = write_until_full(memories, 10_000)
    for file in folder.glob("holdfast.db*"):
        assert file.stat().st_size or file.suffix == ".db-lock"
    memories.close()
    with Memories.open(database) as memories:
        still = all_there(memories, acked | later)
        total = memories.find().total
    return {
        "acked": len(acked),
        "acked after room was made": len(later),
        "said": [said, said_again],
        "said on opening": said_on_opening,
        "erasing": erasing,
        "readable when full": readable_when_full,
        "all there": still,
        "total": total,
    }


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1])), sys.stdout)
