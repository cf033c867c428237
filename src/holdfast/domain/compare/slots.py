"""Finds what stands in one text where something else stands in the other: another value, or another thing.

A value that differs contradicts; a thing that differs (another person, host, environment) makes
two facts. Where in the sentence the difference stands tells which of the two it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.compare.align import Alignment
from holdfast.domain.compare.lexicon import lexicon
from holdfast.domain.compare.reading import Reading, Token

# Of these a person or a system has many at once: who is afraid of dogs may be afraid of heights too.
_MANY = frozenset(
    """have use like love hate enjoy fear afraid allergic know speak play read need require support include contain own learn
    visit reach approve handl cover study eat drink buy dislike collect follow watch teach fix raise avoid see take return""".split()
)


@dataclass(frozen=True, slots=True)
class Swap:
    """Two words that stand in the same place of two sentences."""

    left: Token
    right: Token
    fit: float  # 0.5: one neighbour agrees, 1: both do
    family: str  # the kind of alternatives both belong to, if any
    topic: bool  # stands in what is spoken of, not in what is said of it


def swaps(left: Reading, right: Reading, alignment: Alignment) -> list[Swap]:
    """The places where the texts run alike but for one word or quantity."""
    partner = {match.left.place: match.right.place for match in alignment.matches}
    found = []
    for one in alignment.left_rest:
        for other in alignment.right_rest:
            if (one.quantity is None) != (other.quantity is None):
                continue
            if one.quantity and other.quantity and one.quantity.kind != other.quantity.kind:
                continue
            family = _family(one, other)
            fit = _fit(left, right, one, other, partner)
            if fit or family or one.quantity:
                found.append(Swap(one, other, fit, family, one.topic and other.topic))
    return found


def many_valued(reading: Reading) -> bool:
    """Whether the sentence says something of which there may be several at once."""
    return any(token.key[-1] in _MANY for token in reading.tokens[: max(reading.verb + 3, 3)] if not token.topic)


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
