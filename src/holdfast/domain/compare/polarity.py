"""Finds where two texts say yes and no to the same thing: negation, opposites, how generally they speak.

Works on paired words; whether the texts speak of one thing is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.domain.compare.align import Alignment, Match
from holdfast.domain.compare.lexicon import Lexicon, lexicon, phrase
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import role

_MODALS = frozenset({"may", "must"})

Pair = tuple[Token, Token]


def opposites(left: Reading, right: Reading, paired: Alignment) -> tuple[list[Pair], list[Pair]]:
    """Pairs of opposites that clash, and pairs where a negation makes the opposites agree.

    A word that has its like in the other text is no party to a clash: "short, not long" agrees with "short".
    """
    words = lexicon()
    taken_left = {match.left.place for match in paired.matches if match.strength >= 0.8}
    taken_right = {match.right.place for match in paired.matches if match.strength >= 0.8}
    clashing: list[Pair] = []
    agreeing: list[Pair] = []
    for one in _comparable(left, words):
        for other in _comparable(right, words):
            if not words.opposed(one.key, other.key):
                continue
            if one.negated != other.negated:
                agreeing.append((one, other))
            elif one.place not in taken_left and other.place not in taken_right:
                clashing.append((one, other))
    return clashing, agreeing


def linked(pair: Pair, paired: Alignment) -> bool:
    """Whether the clauses in which two opposites stand share a word, so that both speak of one thing."""
    one, other = pair
    return any(
        match.left.clause == one.clause and match.right.clause == other.clause for match in paired.matches
    )


def _comparable(reading: Reading, words: Lexicon) -> list[Token]:
    return [
        token
        for token in reading.tokens
        if (token.weight > 0 or token.key[0] in _MODALS)
        and (token.key in words.left or token.key in words.right)
    ]


def negation_flips(matches: Iterable[Match], explained: Iterable[Pair]) -> tuple[float, Match | None]:
    """The share of the paired words that one text affirms and the other denies, and the heaviest of them.

    A clause whose negation an opposite makes good ("not long" beside "short") does not count.
    """
    excused_left = {one.clause for one, _ in explained}
    excused_right = {other.clause for _, other in explained}
    flipped, total = 0.0, 0.0
    heaviest: Match | None = None
    for match in matches:
        weight = _weight(match)
        total += weight
        if match.left.clause in excused_left or match.right.clause in excused_right:
            continue
        if match.left.negated != match.right.negated:
            flipped += weight
            if heaviest is None or weight > _weight(heaviest):
                heaviest = match
    return (flipped / total if total else 0.0), heaviest


def _weight(match: Match) -> float:
    return min(match.left.weight, match.right.weight) * match.strength


def frequency_clash(left: Reading, right: Reading) -> str | None:
    """Says so when one text speaks of all and the other of some, of only a part, or of none."""
    one, other = _frequency(left), _frequency(right)
    for first, second in ((one, other), (other, one)):
        if "all" in first and "all" not in second:
            for level in ("some", "only", "none"):
                if level in second and level not in first:
                    return f"all against {level}"
    return None


def _frequency(reading: Reading) -> frozenset[str]:
    """The levels a text speaks of, by listed words and by phrases of the same meaning."""
    surfaces = {token.surface for token in reading.tokens}
    spoken = {level for level in ("all", "some", "only", "none") if surfaces & role(level)}
    groups = lexicon().groups
    for level, word in (("some", phrase("sometimes")), ("all", phrase("always"))):
        if any(groups[word] & groups.get(token.key, frozenset()) for token in reading.tokens):
            spoken.add(level)
    return frozenset(spoken)
