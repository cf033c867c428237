"""Tells whether two texts speak of two things: other circumstances, another direction, somebody's relative.

Complements the slots, which find a name or a label in the place of another one.
"""

from __future__ import annotations

from holdfast.domain.compare.align import Alignment
from holdfast.domain.compare.lexicon import lexicon
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import role


def elsewhere(left: Reading, right: Reading, paired: Alignment) -> float:
    """How surely the texts speak of two things, between 0 and 1."""
    apart = circumstances(left, right, paired) or narrowed(paired) or stranger(left, right, paired)
    return max(0.7 if apart else 0.0, turned(left, right, paired))


def circumstances(left: Reading, right: Reading, paired: Alignment) -> bool:
    """Whether both texts speak of a case and the cases have nothing in common: if it rains, if it snows."""
    one, other = _case(left), _case(right)
    if not one or not other:
        return False
    pairs = (*paired.matches, *paired.echoes)
    return not any(match.left.place in one and match.right.place in other for match in pairs)


def _case(reading: Reading) -> frozenset[int]:
    opened = {token.clause: token.place for token in reading.tokens if token.surface in role("condition")}
    return frozenset(
        one.place for one in reading.content if one.place > opened.get(one.clause, len(reading.tokens))
    )


def narrowed(paired: Alignment) -> bool:
    """Whether what is spoken of is only akin, and one text describes it further: sessions, reset links."""
    heads = [match for match in paired.matches if match.left.topic and match.right.topic]
    if not heads or any(match.strength == 1.0 for match in heads):
        return False
    return any(token.topic and token.weight >= 1.0 for token in (*paired.left_rest, *paired.right_rest))


def stranger(left: Reading, right: Reading, paired: Alignment) -> bool:
    """Whether only one text speaks of somebody's relative: Bea's sister is not Bea.

    A relative beside a name of their own ("sister Eva") is that person.
    """
    return _has_relative(left, paired.left_rest) != _has_relative(right, paired.right_rest)


def _has_relative(reading: Reading, rest: tuple[Token, ...]) -> bool:
    families = lexicon().families
    for token in rest:
        if token.topic and token.place and "place relative" in families.get(token.key, ()):
            after = reading.tokens[token.place + 1 : token.place + 2]
            if not (after and after[0].name):
                return True
    return False


def turned(left: Reading, right: Reading, paired: Alignment) -> float:
    """Whether a thing is the goal in one text and the start in the other: to Lisbon, from Lisbon.

    1 if that tells what is spoken of (the flight to Lisbon leaves), less elsewhere.
    """
    for match in paired.matches:
        if match.left.place and match.right.place:
            before = {left.tokens[match.left.place - 1].surface, right.tokens[match.right.place - 1].surface}
            if before == {"to", "from"}:
                return 1.0 if match.left.topic and match.right.topic else 0.6
    return 0.0
