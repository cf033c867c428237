"""Tells how generally a text speaks: of all, of most, of some, of only one, of none, of all but one.

Looks at the words that say so and at what they bear on; whether two texts speak of one thing is decided
elsewhere.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.domain.compare.align import Alignment
from holdfast.domain.compare.lexicon import lexicon, phrase
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import stemmed

_LESS_THAN_ALL = ("some", "part", "only", "none")
_MORE = frozenset({"and", "or", "plus", "also"})


def generality_clash(left: Reading, right: Reading, paired: Alignment) -> str | None:
    """Says so when one text speaks of all and the other of less, or one of a single thing and one of more."""
    one, other = levels(left), levels(right)
    for first, second in ((one, other), (other, one)):
        if "all" in first and "all" not in second:
            for level in _LESS_THAN_ALL:
                if level in second and level not in first:
                    return f"all against {level}"
        if "all" in first and "but" in second and "but" not in first:
            return "all against all but some"
    if not _single(left) and not _single(right):
        return None
    there = {match.left.place: match.right for match in paired.matches}
    here = {match.right.place: match.left for match in paired.matches}
    return _only_against_more(left, right, there, paired.right_rest) or _only_against_more(
        right, left, here, paired.left_rest
    )


@lru_cache(maxsize=1_024)
def levels(reading: Reading) -> frozenset[str]:
    """The levels a text speaks of, by listed words and by phrases of the same meaning."""
    groups = lexicon().groups
    sometimes, always = groups[phrase("sometimes")], groups[phrase("always")]
    hardly_any = groups[phrase("hardly any")]
    spoken: set[str] = set()
    for token in reading.tokens:
        meant = groups.get(token.key, frozenset())
        if meant & sometimes:
            spoken.add("some")
        if meant & always:
            spoken.add("all")
        if meant & hardly_any:
            spoken.add("part")
        level = _level(reading, token)
        if level:
            spoken.add(level)
    return frozenset(spoken)


def _level(reading: Reading, token: Token) -> str:
    surface = token.surface
    before = reading.tokens[token.place - 1].surface if token.place else ""
    if surface in role("all"):
        # "Not all" is some; "not any" is a denial, which is compared as one.
        if not _denied(reading, token):
            return "all"
        return "" if surface.startswith("any") else "part"
    if surface in role("none"):  # nothing leaves without it, nothing that is not signed: that is no "none"
        return "" if _needs(reading, token.clause) or _denies_again(reading, token) else "none"
    if surface in role("exception"):
        return "but" if "all" in _before(reading, token) else "only"
    if surface in role("part") and before not in ("the", "at", "a", "his", "her", "their"):
        return "part"
    return next((level for level in ("some", "only") if surface in role(level)), "")


def _denied(reading: Reading, token: Token) -> bool:
    """Whether a denial stands right before a word of all, or before any of the clause for "any"."""
    if not token.surface.startswith("any"):
        return bool(token.place) and reading.tokens[token.place - 1].surface == "not"
    return any(
        one.clause == token.clause and one.key[0] in stemmed("denial")
        for one in reading.tokens[: token.place]
    )


def _needs(reading: Reading, clause: int) -> bool:
    return any(token.required and token.clause in (clause, clause + 1) for token in reading.tokens)


def _denies_again(reading: Reading, token: Token) -> bool:
    after = reading.tokens[token.place + 1 :]
    return any(one.clause == token.clause and one.key[0] in stemmed("denial") for one in after)


def _before(reading: Reading, token: Token) -> set[str]:
    """The levels of the words before an exception; only "all" counts."""
    return {"all" for one in reading.tokens[: token.place] if one.surface in role("all")}


def _only_against_more(
    narrow: Reading, wide: Reading, partner: dict[int, Token], rest: tuple[Token, ...]
) -> str | None:
    """Whether one text has "only X" where the other has "X and Y", a Y that the first does not speak of."""
    left_alone = {token.place for token in rest}
    for single in _single(narrow):
        answer = partner.get(single.place)
        more = _joined(wide, answer.place) if answer is not None else None
        if more is not None and more.place in left_alone:
            return f"only {single.surface} against {more.surface} as well"
    return None


@lru_cache(maxsize=1_024)
def _single(reading: Reading) -> tuple[Token, ...]:
    """What an "only" bears on."""
    only = role("only")
    found = (
        _next_content(reading, token.place)
        for token in reading.tokens
        if token.surface in only or token.surface == "nothing but"
    )
    return tuple(token for token in found if token is not None)


def _next_content(reading: Reading, place: int) -> Token | None:
    clause = reading.tokens[place].clause
    after = (one for one in reading.tokens[place + 1 :] if one.clause == clause and one.weight >= 1.0)
    return next(after, None)


def _joined(reading: Reading, place: int) -> Token | None:
    """The word that "and" joins to the one in a place, on either side."""
    tokens = reading.tokens
    if place + 2 < len(tokens) and tokens[place + 1].surface in _MORE and tokens[place + 2].weight > 0:
        return tokens[place + 2]
    if place >= 2 and tokens[place - 1].surface in _MORE and tokens[place - 2].weight > 0:
        return tokens[place - 2]
    return None
