"""Two wordings side by side, with the words that differ marked."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

_PIECES: Final = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_PIECES: Final = 4_000  # of a wording; longer ones are compared line by line


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text that both wordings share, or that this one has alone."""

    text: str
    changed: bool


def compared(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """The earlier and the later wording in pieces that, put together, are the wordings."""
    old, new = _split(before), _split(after)
    if max(len(old), len(new)) > _MOST_PIECES:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        changed = kind != "equal"
        if b > a:
            left.append(Piece("".join(old[a:b]), changed))
        if d > c:
            right.append(Piece("".join(new[c:d]), changed))
    return left, right


def _split(text: str) -> list[str]:
    return _PIECES.findall(text)
