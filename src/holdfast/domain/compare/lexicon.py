"""Looks words up: which mean the same, which are opposites, which are alternatives of one kind.

Built from the word lists on first use. Knows single words and phrases by their base forms, not sentences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from holdfast.domain.compare.resources import lines, listed
from holdfast.domain.compare.words import expand, stem

# Negating prefixes with the shortest word that they are trusted on: "indent" has nothing to do with a dent.
_PREFIXES = (("un", 4), ("non", 4), ("dis", 5), ("in", 5), ("im", 5), ("ir", 5), ("il", 5), ("a", 8))
_NO_OPPOSITES = frozenset(
    {"display", "discover", "discount", "dispatch", "disport", "discharge", "inform", "install"}
)

# Forms of one word share their beginning: deploy and deployment, configure and configuration.
SHARED_LETTERS = 5

Phrase = tuple[str, ...]  # base forms, one or more


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What is known about words, by phrase of base forms."""

    groups: dict[Phrase, frozenset[int]]  # groups of one meaning that the phrase stands in
    left: dict[Phrase, frozenset[int]]  # oppositions in which it stands on the left side
    right: dict[Phrase, frozenset[int]]
    families: dict[Phrase, tuple[str, ...]]  # kinds of alternatives it is one of
    kinds: dict[Phrase, frozenset[str]]  # what it is a kind of, or names the kind of
    verbs: frozenset[str]
    starts: dict[str, tuple[Phrase, ...]]  # phrases of several words by their first, longest first

    def opposed(self, one: Phrase, other: Phrase) -> bool:
        """Whether the two are listed as opposites."""
        nothing: frozenset[int] = frozenset()
        return bool(
            self.left.get(one, nothing) & self.right.get(other, nothing)
            or self.right.get(one, nothing) & self.left.get(other, nothing)
        ) or (len(one) == len(other) == 1 and _negates(one[0], other[0]))


@lru_cache(maxsize=8192)
def handles(entry: Phrase, measured: str) -> frozenset[str]:
    """All by which an entry may be tied to another: its letters, groups, oppositions, kinds and parts.

    `measured` is the kind of quantity, if it is one; a duration may stand for a period.
    """
    words = lexicon()
    found = {"=" + "".join(entry)}
    found |= {f"g{number}" for number in words.groups.get(entry, ())}
    found |= {f"o{number}" for side in (words.left, words.right) for number in side.get(entry, ())}
    found |= {f"k{name}" for name in words.kinds.get(entry, ())}
    if measured:
        found.add("q" + ("time" if measured == "period" else measured))
        return frozenset(found)
    letters = "".join(entry)
    if len(letters) >= SHARED_LETTERS:
        found.add("l" + letters[:SHARED_LETTERS])
    found |= {"=" + letters.removeprefix(prefix) for prefix, _ in _PREFIXES}
    found |= {"w" + word for word in entry if len(word) > 3}
    return frozenset(found)


def _negates(one: str, other: str) -> bool:
    """Whether one word is the other with a negating prefix, or they end in -ful and -less."""
    short, long = sorted((one, other), key=len)
    for prefix, least in _PREFIXES:
        if len(short) >= least and len(long) == len(short) + len(prefix) and long == prefix + short:
            return long not in _NO_OPPOSITES
    full, less = sorted((one, other), key=lambda word: word.endswith("less"))
    return full.endswith("ful") and less.endswith("less") and full[:-3] == less[:-4]


def phrase(text: str) -> Phrase:
    """The base forms of a listed entry."""
    parts = (part for word in text.lower().replace("-", " ").split() for part in expand(word))
    return tuple(stem(part) for part in parts)


@cache
def lexicon() -> Lexicon:
    """The one lexicon, read when first asked for."""
    groups = _grouped(listed(line) for line in lines("synonyms.txt"))
    sides = [line.split("|") for line in lines("antonyms.txt")]
    left = _grouped(listed(side[0]) for side in sides)
    right = _grouped(listed(side[1]) for side in sides)
    families, kinds = _families()
    known = {*groups, *left, *right, *families, *kinds}
    starts: dict[str, list[Phrase]] = defaultdict(list)
    for entry in known:
        if len(entry) > 1:
            starts[entry[0]].append(entry)
    return Lexicon(
        groups=groups,
        left=left,
        right=right,
        families={entry: tuple(names) for entry, names in families.items()},
        kinds={entry: frozenset(names) for entry, names in kinds.items()},
        verbs=frozenset(stem(verb) for line in lines("verbs.txt") for verb in line.split()),
        starts={first: tuple(sorted(found, key=len, reverse=True)) for first, found in starts.items()},
    )


def _grouped(rows: Iterable[list[str]]) -> dict[Phrase, frozenset[int]]:
    found: dict[Phrase, set[int]] = defaultdict(set)
    for number, entries in enumerate(rows):
        for entry in entries:
            found[phrase(entry)].add(number)
    return {entry: frozenset(numbers) for entry, numbers in found.items()}


def _families() -> tuple[dict[Phrase, list[str]], dict[Phrase, list[str]]]:
    families: dict[Phrase, list[str]] = defaultdict(list)
    kinds: dict[Phrase, list[str]] = defaultdict(list)
    for line in lines("kinds.txt"):
        head, members = line.split(":", 1)
        role, name = head.split(maxsplit=1)
        if role == "kind":
            kinds[phrase(name)].append(name)
        for member in listed(members):
            if role == "kind":
                kinds[phrase(member)].append(name)
            else:
                families[phrase(member)].append(head)
    return families, kinds
