"""Finds what stands in one text where something else stands in the other: another value, or another thing.

A value that differs contradicts; a thing that differs (another person, host, environment) makes
two facts. Where in the sentence the difference stands tells which of the two it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from holdfast.domain.compare.align import Alignment
from holdfast.domain.compare.lexicon import lexicon
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import stemmed

# Two texts that differ in thirty words each are no sentence with another word in one place.
_MOST_PAIRS = 900

Kind = Literal["place", "topic", "quantity", "value", "name", "filler"]


@dataclass(frozen=True, slots=True)
class Swap:
    """Two words that stand in the same place of two sentences."""

    left: Token
    right: Token
    kind: Kind
    fit: float  # 0: elsewhere, 0.5: one neighbour agrees, 1: both do
    which: bool = False  # they tell which one of a kind is meant: debug builds, release builds

    @property
    def named(self) -> bool:
        """Whether both are proper names or labels."""
        return (self.left.name and self.right.name) or bool(self.left.quantity or self.right.quantity)


def swaps(left: Reading, right: Reading, paired: Alignment) -> list[Swap]:
    """The places where the texts run alike but for one word or quantity."""
    if len(paired.left_rest) * len(paired.right_rest) > _MOST_PAIRS:
        return []
    partner = {match.left.place: match.right.place for match in paired.matches}
    found = []
    for one in paired.left_rest:
        for other in paired.right_rest:
            family = _family(one, other)
            fit = _fit(left, right, one, other, partner)
            if family.startswith("place") and _stands_there(left, one) and _stands_there(right, other):
                family = "value"  # it is one thing, and stands in one place
            kind = _kind(one, other, family, fit)
            if kind is not None:
                which = kind == "topic" and fit == 1.0 and _describes(left, one, partner)
                found.append(Swap(one, other, kind, fit, which))
    return found


def _stands_there(reading: Reading, token: Token) -> bool:
    """Whether it is the place of what is spoken of: is on the first floor, has been moved to the cellar."""
    between = reading.tokens[reading.verb : token.place] if 0 <= reading.verb < token.place else ()
    standing = stemmed("standing")
    return bool(between) and all(
        one.weight == 0 or one.key[0] in standing or one.key[-1] in role("preposition") for one in between
    )


def _describes(reading: Reading, token: Token, partner: dict[int, int]) -> bool:
    """Whether the next word is what is spoken of in both texts."""
    after = reading.tokens[token.place + 1] if token.place + 1 < len(reading.tokens) else None
    return after is not None and after.topic and after.weight >= 1.0 and after.place in partner


def alike(left: Reading, right: Reading) -> float:
    """How far two sentences are built alike from their beginning: 0, 0.5 for two words, 1 for three or more.

    Who puts a fact in other words changes the beginning first; who states another fact often keeps it.
    """
    shared = 0
    for one, other in zip(left.tokens, right.tokens, strict=False):
        if one.key != other.key:
            break
        shared += 1
    return min(shared // 2, 2) / 2 if shared < 3 else 1.0


@lru_cache(maxsize=1_024)
def several(reading: Reading) -> bool:
    """Whether the sentence says something of which there may be more than one at once."""
    many = stemmed("several")
    return any(
        token.key[-1] in many for token in reading.tokens[: max(reading.verb + 3, 3)] if not token.topic
    )


def _kind(one: Token, other: Token, family: str, fit: float) -> Kind | None:
    if family.startswith("place"):
        return "place"
    measured, theirs = one.quantity, other.quantity
    spoken_of = one.topic and other.topic
    if measured is not None and theirs is not None:
        if measured.kind != theirs.kind:
            return None
        # Node 3 and node 4, the budget of 2021 and that of 2022.
        which = (one.label and other.label) or (spoken_of and measured.kind == "year")
        return "topic" if which else "quantity"
    if measured is not None or theirs is not None:  # nightly builds, tagged builds
        return "topic" if spoken_of and fit == 1.0 else None
    if spoken_of and (fit > 0 or (one.name and other.name)):
        return "topic"
    if family and (fit > 0 or one.topic == other.topic):
        return "value"
    if fit == 0 or one.topic != other.topic:
        return None
    return "name" if one.name and other.name else "filler"


def _family(one: Token, other: Token) -> str:
    families = lexicon().families
    mine = families.get((one.surface,), families.get(one.key, ()))
    theirs = families.get((other.surface,), families.get(other.key, ()))
    return next((family for family in mine if family in theirs), "")


def _fit(left: Reading, right: Reading, one: Token, other: Token, partner: dict[int, int]) -> float:
    ahead = _neighbour(left, right, one.place - 1, other.place - 1, partner)
    behind = _neighbour(left, right, one.place + 1, other.place + 1, partner)
    return 0.5 * ahead + 0.5 * behind


def _neighbour(left: Reading, right: Reading, i: int, j: int, partner: dict[int, int]) -> bool:
    one = left.tokens[i] if 0 <= i < len(left.tokens) else None
    other = right.tokens[j] if 0 <= j < len(right.tokens) else None
    if one is None or other is None:
        return one is None and other is None
    return partner.get(one.place) == other.place or one.surface == other.surface
