"""Which files of a folder are basic-memory's notes: its markdown, and nothing that lies beside it.

Knows no note from the inside. What is left out is counted by the reason, so that nobody misses it unawares.
"""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.errors import Invalid

HIDDEN: Final = "hidden"
_OTHER: Final = "not Markdown"
_BINARY: Final = "binary"
_LARGE: Final = "over 1 MiB"
_MOST_NOTE: Final = 1024 * 1024
_HEAD: Final = 8_192  # bytes in which a file that is no text shows it
_PASSED_BY: Final = frozenset({"node_modules"})


@dataclass(frozen=True, slots=True)
class NoteFolder:
    """The notes below a folder, in order, and how much was left out for which reason."""

    notes: tuple[Path, ...]
    skipped: Mapping[str, int]


def notes_below(folder: Path) -> NoteFolder:
    """Sorts out a folder and those in it; a hidden folder counts as one, whatever it holds."""
    notes: list[Path] = []
    skipped: Counter[str] = Counter()
    for place, folders, names in os.walk(folder):
        skipped[HIDDEN] += sum(is_hidden(name) for name in folders)
        folders[:] = sorted(name for name in folders if not is_hidden(name) and name not in _PASSED_BY)
        for name in sorted(names):
            path = Path(place, name)
            reason = _why_not(path)
            if reason is None:
                notes.append(path)
            else:
                skipped[reason] += 1
    return NoteFolder(tuple(notes), {reason: number for reason, number in skipped.items() if number})


def is_hidden(name: str) -> bool:
    """Whether a file or folder of that name is some program's own: settings, a bin, a history."""
    return name.startswith(".")


def refuse_other(name: str) -> None:
    """Raises: Invalid, for a file that is no note by its name."""
    if Path(name).suffix.casefold() != ".md":
        raise Invalid(f"{name!r} is not a basic-memory note: these are .md files", command="leave out --from")


def _why_not(path: Path) -> str | None:
    """Why a file is no note, if so; one that can't be read is named by whoever reads it."""
    if is_hidden(path.name):
        return HIDDEN
    if path.suffix.casefold() != ".md" or not path.is_file():
        return _OTHER
    try:
        if path.stat().st_size > _MOST_NOTE:
            return _LARGE
        with path.open("rb") as file:
            return _BINARY if b"\0" in file.read(_HEAD) else None
    except OSError:
        return None
