"""Ideas that several words express: the judge's synonyms, and words that call each other to mind.

Synonyms may be merged upon, the rest only searched by: "wifi" is not "router", but a question with one is
likely answered by a note with the other. Topics are narrow groups, themes wide ones; the more groups two
words share, the closer they are.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from holdfast.domain.compare.lexicon import lexicon
from holdfast.domain.compare.words import stem
from holdfast.domain.words import words

Phrase = tuple[str, ...]
_DATA = Path(__file__).parent / "data"
_LISTS = ("topics.txt", "themes.txt")


@dataclass(frozen=True, slots=True)
class Ideas:
    """Numbers of the ideas that a phrase expresses, by its stems."""

    of: dict[Phrase, frozenset[int]]
    starts: dict[str, tuple[Phrase, ...]]  # phrases of several words by their first, longest first


@cache
def ideas() -> Ideas:
    """The ideas, read when first asked for."""
    of = {entry: list(numbers) for entry, numbers in lexicon().groups.items()}
    first_group = 1 + max((number for numbers in of.values() for number in numbers), default=0)
    groups = [line for name in _LISTS for line in _lines(name)]
    # Many entries stand in several groups, and finding the stems of one is what reading costs.
    known: dict[str, Phrase] = {}
    for number, line in enumerate(groups, start=first_group):
        for listed in line.split(", "):
            entry = known.get(listed)
            if entry is None:
                entry = known[listed] = _phrase(listed)
            of.setdefault(entry, []).append(number)
    starts: dict[str, list[Phrase]] = {}
    for entry in of:
        if len(entry) > 1:
            starts.setdefault(entry[0], []).append(entry)
    return Ideas(
        of={entry: frozenset(numbers) for entry, numbers in of.items()},
        starts={first: tuple(sorted(found, key=len, reverse=True)) for first, found in starts.items()},
    )


def _phrase(listed: str) -> Phrase:
    """The stems of an entry, cut as the texts are that are searched; plain words need no cutting."""
    plain = listed.isascii() and listed.replace(" ", "").isalpha()
    return tuple(map(stem, listed.split() if plain else words(listed)))


def _lines(name: str) -> list[str]:
    text = (_DATA / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
