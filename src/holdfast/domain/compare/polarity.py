"""Finds where two texts say yes and no to the same thing: negation, opposites, how often, in what order.

Works on paired words; whether the texts speak of one thing is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.domain.compare.align import Alignment, Match
from holdfast.domain.compare.lexicon import Lexicon, lexicon
from holdfast.domain.compare.reading import Reading, Token

_MODALS = frozenset({"may", "must"})
_OFTEN = {
    "all": frozenset({"always", "all", "every", "each", "any", "everything", "everyone", "entire", "whole", "constantly"}),
    "some": frozenset({"sometimes", "occasionally", "some", "rarely", "seldom", "now and then", "at times", "partly", "half"}),
    "only": frozenset({"only", "solely", "exclusively", "just", "except"}),
    "none": frozenset({"never", "none", "nobody", "nothing"}),
}
_EARLIER = frozenset({"before", "until", "till", "prior", "ahead"})
_LATER = frozenset({"after", "once", "following", "behind"})
_RATHER = frozenset({"over", "than", "instead", "not", "versus", "vs"})
_PREFERRING = frozenset({"prefer", "rather", "would rather", "favour", "favor", "choose", "like", "want", "use", "pick"})

Pair = tuple[Token, Token]


def opposites(left: Reading, right: Reading) -> tuple[list[Pair], list[Pair]]:
    """Pairs of opposites that clash, and pairs where a negation makes the opposites agree."""
    words = lexicon()
    clashing: list[Pair] = []
    agreeing: list[Pair] = []
    for one in _comparable(left, words):
        for other in _comparable(right, words):
            if words.opposed(one.key, other.key):
                (clashing if one.negated == other.negated else agreeing).append((one, other))
    return clashing, agreeing


def _comparable(reading: Reading, words: Lexicon) -> list[Token]:
    return [
        token
        for token in reading.tokens
        if (token.weight > 0 or token.key[0] in _MODALS) and (token.key in words.left or token.key in words.right)
    ]


def negation_flips(matches: Iterable[Match], explained: Iterable[Pair]) -> tuple[float, Match | None]:
    """The share of the paired words that one text affirms and the other denies, and the heaviest of them.

    Names and what stands before the verb are left out: a denial is about what is said, not about whom.
    A clause whose negation an opposite makes good ("not long" beside "short") does not count.
    """
    excused_left = {one.clause for one, _ in explained}
    excused_right = {other.clause for _, other in explained}
    flipped, total = 0.0, 0.0
    heaviest: Match | None = None
    for match in matches:
        weight = min(match.left.weight, match.right.weight) * match.strength
        if match.left.clause in excused_left or match.right.clause in excused_right:
            continue
        total += weight
        if match.left.negated != match.right.negated:
            flipped += weight
            if heaviest is None or weight > min(heaviest.left.weight, heaviest.right.weight):
                heaviest = match
    return (flipped / total if total else 0.0), heaviest


def frequency(reading: Reading) -> frozenset[str]:
    """How generally the text speaks: of all, some, only some or none."""
    return frozenset(
        level for level, names in _OFTEN.items() if any(token.surface in names for token in reading.tokens)
    )


def frequency_clash(left: Reading, right: Reading) -> str | None:
    """Says so when one text speaks of all and the other of some, of only a part, or of none."""
    one, other = frequency(left), frequency(right)
    for first, second in ((one, other), (other, one)):
        if "all" in first and not second & {"all"}:
            for level in ("some", "only", "none"):
                if level in second and level not in first:
                    return f"all against {level}"
    return None


def order_clash(left: Reading, right: Reading, alignment: Alignment) -> tuple[bool, bool]:
    """Whether both texts put the same two things in an order, and whether the orders are opposite."""
    partner = {match.left.place: match.right.place for match in alignment.matches}
    one, other = _orders(left), _orders(right)
    for first, second in one:
        for third, fourth in other:
            first_there = {partner[place] for place in first if place in partner}
            second_there = {partner[place] for place in second if place in partner}
            straight = len(first_there & third) * len(second_there & fourth)
            crossed = len(first_there & fourth) * len(second_there & third)
            if straight != crossed:
                return True, crossed > straight
    return False, False


Sides = tuple[frozenset[int], frozenset[int]]  # places of the words of what comes first, and of what comes second


def _orders(reading: Reading) -> list[Sides]:
    found: list[Sides] = []
    tokens = reading.tokens
    rather = any(token.key[0] in _PREFERRING or token.surface in _PREFERRING for token in tokens)
    for index, token in enumerate(tokens):
        head = token.surface.split()[0]
        if not (head in _EARLIER or head in _LATER or (rather and head in _RATHER)):
            continue
        after = frozenset(one.place for one in tokens[index + 1 :] if one.weight > 0 and one.clause == token.clause)
        before = frozenset(one.place for one in tokens[:index] if one.weight > 0 and one.clause >= token.clause - 1)
        if index == 0 or not before:  # "Before committing, run the tests": the main clause follows
            before = frozenset(one.place for one in tokens if one.weight > 0 and one.clause == token.clause + 1)
        found.append((after, before) if head in _LATER else (before, after))
    return found or _ranked(tokens)


def _ranked(tokens: tuple[Token, ...]) -> list[Sides]:
    """ "The linter goes first, the formatter second": clauses that number what they speak of."""
    clauses = {word: token.clause for token in tokens for word in ("first", "second", "then", "last") if token.surface == word}
    later = next((clauses[word] for word in ("second", "then", "last") if word in clauses), None)
    if "first" not in clauses or later is None or later == clauses["first"]:
        return []
    sides = [frozenset(one.place for one in tokens if one.weight > 0 and one.clause == clause) for clause in (clauses["first"], later)]
    return [(sides[0], sides[1])]
