"""Ideas that several words express: the judge's synonyms, and topics whose words call each other to mind.

Synonyms may be merged upon, topics only searched by: "wifi" is not "router", but a question with one is
likely answered by a note with the other.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from holdfast.domain.compare.lexicon import lexicon, phrase

Phrase = tuple[str, ...]
_TOPICS = Path(__file__).parent / "data" / "topics.txt"


@dataclass(frozen=True, slots=True)
class Ideas:
    """Numbers of the ideas that a phrase expresses, by its stems."""

    of: dict[Phrase, frozenset[int]]
    starts: dict[str, tuple[Phrase, ...]]  # phrases of several words by their first, longest first


@cache
def ideas() -> Ideas:
    """The ideas, read when first asked for."""
    of = {entry: set(numbers) for entry, numbers in lexicon().groups.items()}
    first_topic = 1 + max((number for numbers in of.values() for number in numbers), default=0)
    for number, line in enumerate(_lines(), start=first_topic):
        for listed in line.split(","):
            of.setdefault(phrase(listed.strip()), set()).add(number)
    starts: dict[str, list[Phrase]] = {}
    for entry in of:
        if len(entry) > 1:
            starts.setdefault(entry[0], []).append(entry)
    return Ideas(
        of={entry: frozenset(numbers) for entry, numbers in of.items()},
        starts={first: tuple(sorted(found, key=len, reverse=True)) for first, found in starts.items()},
    )


def _lines() -> list[str]:
    text = _TOPICS.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
