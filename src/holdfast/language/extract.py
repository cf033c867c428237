"""Makes memories of a message: what a reader marks in it, worded to stand alone.

Every name, number and day in them stands in the conversation. How memories are stored is not known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.language.passages import FactReader, statements
from holdfast.language.phrases import begins, phrases
from holdfast.language.sentences import spans
from holdfast.language.wording import Turn, worded


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A memory in the making; its words as `Worded` has them."""

    content: str
    kind: str
    taken_from: tuple[tuple[int, str], ...]


def extract(before: Sequence[Turn], turn: Turn, reader: FactReader) -> list[Extracted]:
    """What is worth keeping of a message that follows others, in the order in which it was said.

    Raises: Unavailable, as the reader.
    """
    said = [(each.role, each.text) for each in before]
    kept_from = _taken_back_to(turn)
    found: dict[str, Extracted] = {}
    for each in statements(said, turn.role, turn.text, reader):
        made = worded(before, turn, each.start, each.end) if each.start >= kept_from else None
        if made is not None:
            new = Extracted(content=made.content, kind=each.kind, taken_from=made.taken_from)
            found.setdefault(made.content, new)
    return list(found.values())


def takes_back(text: str) -> bool:
    """Whether a person's message begins by taking back the one before."""
    return begins("retracted", text)


def _taken_back_to(turn: Turn) -> int:
    """The place in a person's message up to which it is taken back further on in itself."""
    if turn.role != "user" or phrases("retracted").search(turn.text) is None:
        return 0
    later = [start for start, end in spans(turn.text) if takes_back(turn.text[start:end])]
    return max(later, default=0)
