"""Wordings on pages: two side by side with what differs marked, and ids replaced by what they name."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from holdfast.domain.memory import Memory
from holdfast.web.dashboard.visit import Fields

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


def shared(pieces: Sequence[Piece]) -> float:
    """How much of a wording stands in the other one too, from 0 to 1; white space does not count."""
    lengths = [(len("".join(piece.text.split())), piece.changed) for piece in pieces]
    whole = sum(length for length, _ in lengths)
    return sum(length for length, changed in lengths if not changed) / whole if whole else 0.0


def named(text: str, memories: Iterable[Memory]) -> list[tuple[str, Memory | None]]:
    """A sentence in pieces, with each id of these memories as a piece of its own beside its memory."""
    known = {memory.id: memory for memory in memories}
    if not known:
        return [(text, None)]
    either = "|".join(map(re.escape, known))
    pieces = re.split(rf"(?<!\w)({either})(?!\w)", text)
    return [(piece, known.get(piece)) for piece in pieces if piece]


def not_used(sent: Fields, memory: Memory, usual: float) -> str:
    """What a form for a new memory said and the known one does not; `usual` is the slider's."""
    share = sent.share("confidence")
    left = [
        ("text", " ".join(sent.text("content").split()) != " ".join(memory.content.split())),
        ("confidence", share not in (None, memory.confidence, usual)),
        ("category", sent.text("category") not in ("", memory.category)),
        ("subject", sent.text("subject") not in ("", memory.subject)),
        ("tags", not set(sent.words("tags")) <= set(memory.tags)),
    ]
    names = [name for name, unused in left if unused]
    return f" Ignored from the form: {', '.join(names)}." if names else ""
