"""Finds where two texts say yes and no to the same thing: negation, opposites, how generally they speak.

Works on paired words; whether the texts speak of one thing is decided elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from holdfast.domain.compare.align import Alignment, Match
from holdfast.domain.compare.lexicon import lexicon, phrase
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import stemmed

# Function words that take part in oppositions all the same.
_MODALS = frozenset({"may", "must", "own", "against"})

_ENOUGH = 1.5  # a noun and a half; verbs count double
_HAVE_TO = ("have", "to")

Pair = tuple[Token, Token]


def opposites(paired: Alignment) -> tuple[list[Pair], list[Pair]]:
    """Pairs of opposites that clash, and pairs where a negation makes the opposites agree.

    A word that has its like in the other text is no party to a clash: "short, not long" agrees with "short".
    """
    words = lexicon()
    taken_left = {match.left.place for match in paired.matches if match.strength >= 0.8}
    taken_right = {match.right.place for match in paired.matches if match.strength >= 0.8}
    partners = {(match.left.place, match.right.place) for match in paired.matches}
    clashing: list[Pair] = []
    agreeing: list[Pair] = []
    for one, other in paired.ties:
        if _comparable(one) and _comparable(other) and words.opposed(one.key, other.key):
            free = one.place not in taken_left and other.place not in taken_right
            if one.negated != other.negated:
                if free or (one.place, other.place) in partners:
                    agreeing.append((one, other))
            elif free:
                clashing.append((one, other))
    return clashing, agreeing


def linked(pair: Pair, paired: Alignment) -> bool:
    """Whether the clauses in which two opposites stand share a word, so that both speak of one thing."""
    one, other = pair
    return any(
        match.left.clause == one.clause and match.right.clause == other.clause for match in paired.matches
    )


def _comparable(token: Token) -> bool:
    return token.weight > 0 or token.key[0] in _MODALS


def negation_flips(
    left: Reading, right: Reading, matches: Iterable[Match], explained: Iterable[Pair]
) -> tuple[float, Match | None]:
    """How far one clause affirms what a clause of the other text denies, and the heaviest word of it.

    What stands behind a preposition in both is left out: a denial is about what happens, not about where.
    A clause whose negation an opposite makes good ("not long" beside "short") does not count, and neither
    does one that says that the thing fails ("logins fail" beside "nobody can log in").
    """
    every = list(matches)
    excused_left = {one.clause for one, _ in explained} | _failing(
        left, {match.left.place for match in every}
    )
    excused_right = {one.clause for _, one in explained} | _failing(
        right, {match.right.place for match in every}
    )
    clauses: dict[tuple[int, int], list[Match]] = defaultdict(list)
    for match in [one for one in every if not (one.left.aside and one.right.aside)] or every:
        if match.left.clause not in excused_left and match.right.clause not in excused_right:
            clauses[match.left.clause, match.right.clause].append(match)
    share, heaviest, most = 0.0, None, 0.0
    for group in clauses.values():
        flipped = [match for match in group if _flipped(match)]
        weight = sum(map(_weight, flipped))
        if weight > most:
            # A clause that shares one small word with the other text denies little of it.
            share, most = weight / sum(map(_weight, group)) * min(weight / _ENOUGH, 1.0), weight
            # Under other verbs a denial of the same noun may well agree: not renewed, runs out.
            share *= 1.0 if any(map(_is_said, flipped)) else 0.5
            heaviest = max(flipped, key=_weight)
    return share, heaviest


def _is_said(match: Match) -> bool:
    """Whether a word is part of what is said, not of what is spoken of."""
    one, other = match.left, match.right
    if one.key[0] in lexicon().verbs or other.key[0] in lexicon().verbs:
        return True
    return not (one.topic or other.topic)


def _failing(reading: Reading, paired: set[int]) -> set[int]:
    """The clauses that say of something that it fails, where the other text does not say so too."""
    failing = stemmed("failing")
    return {one.clause for one in reading.content if one.key[0] in failing and one.place not in paired}


def _flipped(match: Match) -> bool:
    # Opposites of which one is negated were paired because they agree.
    one, other = match.left, match.right
    return one.negated != other.negated and not lexicon().opposed(one.key, other.key)


def _weight(match: Match) -> float:
    # What is denied is above all what is done.
    verbs = lexicon().verbs
    done = 2.0 if match.left.key[0] in verbs or match.right.key[0] in verbs else 1.0
    return min(match.left.weight, match.right.weight) * match.strength * done


def frequency_clash(left: Reading, right: Reading) -> str | None:
    """Says so when one text speaks of all and the other of some, of only a part, or of none."""
    one, other = _frequency(left), _frequency(right)
    for first, second in ((one, other), (other, one)):
        if "all" in first and "all" not in second:
            for level in ("some", "only", "none"):
                if level in second and level not in first:
                    return f"all against {level}"
    return None


@lru_cache(maxsize=1_024)
def _frequency(reading: Reading) -> frozenset[str]:
    """The levels a text speaks of, by listed words and by phrases of the same meaning."""
    surfaces = {token.surface for token in reading.tokens}
    spoken = {level for level in ("all", "some", "only", "none") if surfaces & role(level)}
    groups = lexicon().groups
    for level, word in (("some", phrase("sometimes")), ("all", phrase("always"))):
        if any(groups[word] & groups.get(token.key, frozenset()) for token in reading.tokens):
            spoken.add(level)
    return frozenset(spoken)


def need_clash(left: Reading, right: Reading) -> bool:
    """Whether one text says that something is needed and the other that it is not."""
    return {_need(left), _need(right)} == {1, -1}


@lru_cache(maxsize=1_024)
def _need(reading: Reading) -> int:
    """1: something is needed, -1: something is said not to be, 0: neither, or both."""
    needing, optional = stemmed("need"), stemmed("optional")
    signs = {
        -1 if token.negated else 1
        for token in reading.tokens
        if token.key[0] in needing or token.key == _HAVE_TO or token.required
    }
    signs |= {1 if token.negated else -1 for token in reading.tokens if token.key[0] in optional}
    signs |= {-1 for token in reading.tokens if token.surface == "without" and not token.required}
    return signs.pop() if len(signs) == 1 else 0
