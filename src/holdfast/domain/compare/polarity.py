"""Finds where two texts say yes and no to the same thing: negation, opposites, needed and not.

Works on paired words; whether the texts speak of one thing is decided elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from holdfast.domain.compare.align import Alignment, Match
from holdfast.domain.compare.lexicon import lexicon
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
    both = [match for match in every if match.left.negated and match.right.negated and _is_said(match)]
    excused_left = {one.clause for one, _ in explained} | {match.left.clause for match in both}
    excused_right = {one.clause for _, one in explained} | {match.right.clause for match in both}
    excused_left |= _failing(left, {match.left.place for match in every})
    excused_right |= _failing(right, {match.right.place for match in every})
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


def contraposed(left: Reading, right: Reading, matches: Iterable[Match]) -> Literal["agree", "apart", ""]:
    """Whether both what is done and its condition are denied in one text only, and what comes of it.

    "Never prune while a job runs" is "pruning waits until no job runs". Beside "restart if nobody is logged
    in", "never restart while somebody is logged in" is another rule, but no contradiction.
    """
    flips = {(match.left.clause, match.right.clause) for match in matches if _flipped(match)}
    ours, theirs = _conditions(left), _conditions(right)
    if not ours or not theirs:
        return ""
    conditions = {(one, other) for one, other in flips if one in ours and other in theirs}
    acts = {(one, other) for one, other in flips if one not in ours and other not in theirs}
    if not conditions or not acts:
        return ""
    return "agree" if _waits(left) or _waits(right) else "apart"


@lru_cache(maxsize=1_024)
def _conditions(reading: Reading) -> frozenset[int]:
    """The clauses that say when or under which condition."""
    opening = role("condition") | {"until"}
    return frozenset(token.clause for token in reading.tokens if token.surface in opening)


def _waits(reading: Reading) -> bool:
    """Whether the condition is the only one: wait until, only when."""
    waiting = stemmed("waiting")
    return any(word in waiting for token in reading.tokens for word in token.key)


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


def need_clash(left: Reading, right: Reading) -> bool:
    """Whether one text says that something is needed and the other that it is not."""
    return {_need(left), _need(right)} == {1, -1}


def _free(reading: Reading, any_: Token) -> bool:
    """Whether the choice is left open: can run on any host."""
    clause = [token for token in reading.tokens if token.clause == any_.clause]
    return any(token.key[0] in ("can", "may") for token in clause) and not any_.negated


def _by_way_of(reading: Reading, only: Token) -> bool:
    """Whether an "only" names the one way: can only be reached through the gateway."""
    return any(
        token.surface in ("through", "via", "with")
        for token in reading.tokens[only.place + 1 : only.place + 5]
        if token.clause == only.clause
    )


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
    signs |= {-1 for token in reading.tokens if token.surface == "any" and _free(reading, token)}
    signs |= {1 for token in reading.tokens if token.surface in role("only") and _by_way_of(reading, token)}
    return signs.pop() if len(signs) == 1 else 0
