"""Finds which of two things comes first in a text, in time or in favour, and compares it between texts.

"A before B", "B after A", "prefers A over B", "A first, then B" are all the order A, B. Knows the
words of order, not what is ordered.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.domain.compare.align import Alignment
from holdfast.domain.compare.pieces import COMPARED_TIMES
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import stemmed

Sides = tuple[
    frozenset[int], frozenset[int]
]  # places of the words of what comes first, and of what comes second


def order_clash(left: Reading, right: Reading, paired: Alignment) -> tuple[bool, bool]:
    """Whether both texts put the same two things in an order, and whether the orders are opposite."""
    partner = {match.left.place: match.right.place for match in paired.matches}
    partner |= {one.place: other.place for one, other in paired.ties if one.surface == other.surface == "it"}
    theirs = orders(right)
    for first, second in orders(left):
        for third, fourth in theirs:
            first_there = {partner[place] for place in first if place in partner}
            second_there = {partner[place] for place in second if place in partner}
            straight = len(first_there & third) * len(second_there & fourth)
            crossed = len(first_there & fourth) * len(second_there & third)
            if straight != crossed:
                return True, crossed > straight
    return False, False


def freed(left: Reading, right: Reading) -> bool:
    """Whether one text sets an order and the other says that there is none: after B, independently of B."""
    return any(
        orders(one) and not orders(other) and _apart(other) for one, other in ((left, right), (right, left))
    )


def _apart(reading: Reading) -> bool:
    return any(token.surface in role("apart") for token in reading.tokens)


@lru_cache(maxsize=1_024)
def orders(reading: Reading) -> tuple[Sides, ...]:
    """The orders that a text sets."""
    tokens = reading.tokens
    preferring = stemmed("preferring")
    rather = any(word in preferring for token in tokens for word in token.key)
    prefers = any(token.key[0] == "prefer" for token in tokens)
    found: list[Sides] = []
    for index in range(len(tokens)):
        head = _head(tokens, index)
        later = head in role("later")
        preferred = rather and (head in role("rather") or (head == "to" and prefers))
        if later or head in role("earlier") or preferred:
            sides = _sides(tokens, index)
            found.append(sides[::-1] if later != _not_before(tokens, index) else sides)
    return tuple(found) or _ranked(tokens)


def _head(tokens: tuple[Token, ...], index: int) -> str:
    """The word that sets the order; "earlier than" is a "before", and "later than" an "after"."""
    head = tokens[index].surface.split(" ", 1)[0]
    if head in COMPARED_TIMES and index + 1 < len(tokens) and tokens[index + 1].surface == "than":
        return "after" if head == "later" else "before"
    return head


def _not_before(tokens: tuple[Token, ...], index: int) -> bool:
    """Whether it is "not before" or "not until", which is after."""
    clause = tokens[index].clause - 1
    return _head(tokens, index) in role("earlier") and any(
        token.clause == clause and token.surface in ("not", "never", "no") for token in tokens
    )


def _sides(tokens: tuple[Token, ...], index: int) -> Sides:
    clause = tokens[index].clause
    after = frozenset(one.place for one in tokens[index + 1 :] if _stands(one) and one.clause == clause)
    before = frozenset(one.place for one in tokens[:index] if _stands(one) and one.clause >= clause - 1)
    if not before:  # "Before committing, run the tests": the main clause follows
        before = frozenset(one.place for one in tokens if _stands(one) and one.clause == clause + 1)
    return before, after


def _stands(token: Token) -> bool:
    return token.weight > 0 or token.surface == "it"


def _ranked(tokens: tuple[Token, ...]) -> tuple[Sides, ...]:
    """The order of clauses that number what they speak of: "the linter goes first, the formatter second"."""
    clauses = {token.surface: token.clause for token in tokens}
    later = next(
        (
            clauses[word]
            for word in ("second", "then", "later", "afterwards", "last", "next")
            if word in clauses
        ),
        None,
    )
    if "first" not in clauses or later is None or later == clauses["first"]:
        return _one_then_the_other(tokens)
    first, second = (
        frozenset(one.place for one in tokens if _stands(one) and one.clause == clause)
        for clause in (clauses["first"], later)
    )
    return ((first, second),)


def _one_then_the_other(tokens: tuple[Token, ...]) -> tuple[Sides, ...]:
    """The order around a "then", or the "and" between first and afterwards. After an "if" there is none."""
    surfaces = [token.surface for token in tokens]
    then = surfaces.index("then") if "then" in surfaces else None
    if then is None and "first" in surfaces and "afterwards" in surfaces and "and" in surfaces:
        then = surfaces.index("and")
    if then is None or any(token.surface in role("condition") for token in tokens):
        return ()
    clause = tokens[then].clause
    before = frozenset(one.place for one in tokens[:then] if _ordered(one) and one.clause >= clause - 1)
    after = frozenset(one.place for one in tokens[then:] if _ordered(one) and one.clause == clause)
    return ((before, after),) if before and after else ()


def _ordered(token: Token) -> bool:
    """Whether a word is part of what is ordered: no word that ranks it, and no "it", which may be any."""
    return token.weight > 0 and token.surface not in ("first", "then", "afterwards")
