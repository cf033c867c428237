"""Tells whether two texts speak of two things: other circumstances, another direction, somebody's relative.

Complements the slots, which find a name or a label in the place of another one.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from holdfast.domain.compare.align import PART, Alignment
from holdfast.domain.compare.lexicon import lexicon
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import stemmed


def elsewhere(left: Reading, right: Reading, paired: Alignment) -> float:
    """How surely the texts speak of two things, between 0 and 1."""
    if another_time(left, right, paired) or another_of_its(left, right, paired):
        return 1.0
    apart = circumstances(left, right, paired)
    return max(
        0.7 if apart else 0.0,
        narrowed(left, right, paired),
        stranger(left, right, paired),
        turned(left, right, paired),
    )


def another_time(left: Reading, right: Reading, paired: Alignment) -> bool:
    """Whether the texts speak of two times: last year, this year; Crete in 2021, Norway in 2022.

    Where nothing but the year differs it is the year that is spoken of.
    """
    ours, theirs = dict(_periods(left)), dict(_periods(right))
    if any(theirs.get(span, which) != which for span, which in ours.items()):
        return True
    return all(
        any(_is_year(token) for token in rest) and any(_is_figure(token) for token in rest)
        for rest in (paired.left_rest, paired.right_rest)
    )


@lru_cache(maxsize=1_024)
def _periods(reading: Reading) -> tuple[tuple[str, str], ...]:
    """Which year, month or season is meant, as counted from when it was said: (year, last)."""
    return tuple(
        (after.key[0], which.surface)
        for which, after in pairwise(reading.tokens)
        if which.surface in role("counted") and after.key[0] in stemmed("span") and not _ends(reading, which)
    )


def _ends(reading: Reading, token: Token) -> bool:
    """Whether a time only ends or begins what is spoken of: until next year."""
    before = reading.tokens[token.place - 1].surface if token.place else ""
    return before in role("earlier") or before in role("later") or before in ("by", "since", "from")


def _is_year(token: Token) -> bool:
    return token.quantity is not None and token.quantity.kind == "year"


def _is_figure(token: Token) -> bool:
    return token.name or (token.quantity is not None and token.quantity.kind != "year")


def another_of_its(left: Reading, right: Reading, paired: Alignment) -> bool:
    """Whether both speak of something of one thing, and of two such: Milo's birthday, Milo's name day."""
    heads = [_head(reading) for reading in (left, right)]
    if heads[0] is None or heads[1] is None:
        return False
    alone = all(head in rest for head, rest in zip(heads, (paired.left_rest, paired.right_rest), strict=True))
    return alone and any(
        match.left.topic and match.right.topic and (match.left.name or match.right.name)
        for match in paired.matches
    )


@lru_cache(maxsize=1_024)
def _head(reading: Reading) -> Token | None:
    """The last word before the verb: what is spoken of."""
    before = [token for token in reading.content if token.topic and not token.aside and not token.quantity]
    return before[-1] if before else None


def circumstances(left: Reading, right: Reading, paired: Alignment) -> bool:
    """Whether both texts speak of a case and the cases have nothing in common: if it rains, if it snows."""
    one, other = _case(left), _case(right)
    if not one or not other:
        return False
    pairs = (*paired.matches, *paired.echoes)
    return not any(match.left.place in one and match.right.place in other for match in pairs)


@lru_cache(maxsize=1_024)
def _case(reading: Reading) -> frozenset[int]:
    opened = {token.clause: token.place for token in reading.tokens if token.surface in role("condition")}
    return frozenset(
        one.place for one in reading.content if one.place > opened.get(one.clause, len(reading.tokens))
    )


def narrowed(left: Reading, right: Reading, paired: Alignment) -> float:
    """Whether what is spoken of is only akin, and one text describes it further: sessions, reset links.

    More where two words do, and 1 if both texts do: nightly builds, tagged builds.
    """
    heads = [match for match in paired.matches if match.left.topic and match.right.topic]
    if not heads or any(match.strength == 1.0 for match in heads):
        return 0.0
    rest = (*paired.left_rest, *paired.right_rest)
    described = [token for token in rest if token.topic and token.weight >= 1.0]
    if not described:
        return 0.0
    partly = {id(token) for match in heads if match.strength == PART for token in (match.left, match.right)}
    for token in described:
        for reading in (left, right):
            after = reading.tokens[token.place + 1 : token.place + 2]
            if after and id(after[0]) in partly and reading.tokens[token.place] is token:
                return 1.0
    return 0.9 if len(described) > 1 else 0.7


def stranger(left: Reading, right: Reading, paired: Alignment) -> float:
    """Whether only one text speaks of somebody's relative: Bea's sister is not Bea.

    1 if it is a relative of who the other text speaks of. A relative beside a name of their own ("sister
    Eva") is that person.
    """
    one, other = _relative(left, paired.left_rest), _relative(right, paired.right_rest)
    if (one is None) == (other is None):
        return 0.0
    if one is not None:
        spoken_of = {match.left.place for match in paired.matches if match.right.topic}
        return 1.0 if one.place - 1 in spoken_of else 0.7
    spoken_of = {match.right.place for match in paired.matches if match.left.topic}
    return 1.0 if other is not None and other.place - 1 in spoken_of else 0.7


def _relative(reading: Reading, rest: tuple[Token, ...]) -> Token | None:
    families = lexicon().families
    for token in rest:
        kin = "place relative" in families.get(token.key, ()) or token.key[0] in stemmed("acquaintance")
        if kin and token.topic and token.place:
            after = reading.tokens[token.place + 1 : token.place + 2]
            if not (after and after[0].name):
                return token
    return None


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
