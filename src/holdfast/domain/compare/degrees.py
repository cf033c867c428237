"""Finds what a text sets above what else on which scale, and compares it between texts.

"Ann is taller than Bea", "Bea is shorter than Ann" and "Ann is the tallest" are claims on one scale.
Knows the forms of comparison, not the measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from holdfast.domain.compare.lexicon import Phrase, lexicon
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.words import stem

# Forms that no rule of endings gives, each with the word that the scale is called by.
_FORMS = {
    "more": "more",
    "most": "more",
    "less": "less",
    "least": "less",
    "fewer": "less",
    "fewest": "less",
    "better": "good",
    "best": "good",
    "worse": "bad",
    "worst": "bad",
    "sooner": "early",
    "soonest": "early",
}
_TOPS = frozenset({"most", "least", "fewest", "best", "worst", "soonest"})
# Words in -er and -est that compare nothing, and those that only say "instead".
_NO_SCALE = frozenset({"rather", "other", "better", "under", "over", "after", "never", "either", "whether"})
# "More time" is "longer".
_TIME = {"more": "long", "less": "short"}
_REACH = 4  # how far a "than" may stand behind its word: more disk space than

Keys = frozenset[Phrase]


@dataclass(frozen=True, slots=True)
class Claim:
    """That one thing stands higher on a scale than another one, or than all others."""

    scale: str
    of: Phrase  # what there is more or less of, or nothing
    above: Keys
    below: Keys  # empty: than all others
    place: int  # of the word that names the scale


Answer = Literal["agree", "clash", ""]


def compare_degrees(left: Reading, right: Reading) -> tuple[Answer, frozenset[int]]:
    """Whether claims on one scale agree or clash; with the places in the left text that name the scale."""
    for one in claims(left):
        for other in claims(right):
            turned = _turned(one, other)
            answer = _answer(one, other, turned) if turned is not None else ""
            if answer:
                return answer, frozenset({one.place})
    return "", frozenset()


def _turned(one: Claim, other: Claim) -> bool | None:
    """Whether two claims measure from opposite ends of one scale; None if it is not one scale."""
    if one.of and other.of and one.of != other.of:
        return None
    if one.scale == other.scale:
        return False
    words, mine, theirs = lexicon(), (stem(one.scale),), (stem(other.scale),)
    if {one.scale, other.scale} == {"more", "less"} or words.opposed(mine, theirs):
        return True
    nothing: frozenset[int] = frozenset()
    return False if words.groups.get(mine, nothing) & words.groups.get(theirs, nothing) else None


def _answer(one: Claim, other: Claim, turned: bool) -> Answer:
    if one.below and other.below:
        straight = bool(one.above & other.above) + bool(one.below & other.below)
        crossed = bool(one.above & other.below) + bool(one.below & other.above)
        if straight == crossed or max(straight, crossed) < 2:
            return ""
        return "agree" if (crossed > straight) == turned else "clash"
    if not one.below and not other.below:
        # Two things cannot both be the tallest; whether it is the same two is seen where they stand.
        apart = one.above - other.above and other.above - one.above
        return "clash" if apart and not turned and one.of == other.of else ""
    pair, top = (one, other) if one.below else (other, one)
    higher, lower = bool(top.above & pair.above), bool(top.above & pair.below)
    if higher == lower:
        return ""
    return "agree" if higher != turned else "clash"


@lru_cache(maxsize=1_024)
def claims(reading: Reading) -> tuple[Claim, ...]:
    """The comparisons that a text draws."""
    found = []
    for token in reading.tokens:
        first, _, than = token.surface.partition(" ")
        if than == "than" and not token.negated:
            found.append(_claim(reading, token, first, token.place))
        elif token.surface == "than" and not token.negated:
            word = _word_of(reading, token.place)
            if word is not None:
                found.append(_claim(reading, word, word.surface, token.place))
        elif _is_top(reading, token):
            found.append(_claim(reading, token, token.surface, None))
    return tuple(claim for claim in found if claim is not None)


def _claim(reading: Reading, word: Token, surface: str, than: int | None) -> Claim | None:
    here = [one for one in reading.content if one.clause == word.clause]
    before = [one for one in here if one.place < word.place]
    above = frozenset(one.key for one in [one for one in before if one.topic] or before)
    if not above and than is None and reading.verb >= 0:  # "the oldest host is birch"
        above = frozenset(one.key for one in here if one.place > reading.verb)
    after = [one for one in here if than is not None and one.place > than]
    below = frozenset(one.key for one in after)
    if not above or (than is not None and not below) or (after and after[0].quantity is not None):
        return None
    between = [one.key for one in here if word.place < one.place < (than or word.place + 3)]
    scale, of = _base(surface), between[0] if between else ()
    if scale in _TIME and of == ("time",):
        scale, of = _TIME[scale], ()
    shared = above & below
    return Claim(scale, of, above - shared, below - shared, word.place)


def _word_of(reading: Reading, place: int) -> Token | None:
    """The word that a "than" belongs to: taller, or more disk space."""
    for token in reversed(reading.tokens[max(0, place - _REACH) : place]):
        if token.clause != reading.tokens[place].clause:
            return None
        if token.surface in _FORMS or (token.surface.endswith("er") and token.surface not in _NO_SCALE):
            return token
    return None


def _is_top(reading: Reading, token: Token) -> bool:
    """Whether it is the highest or lowest on a scale: the most, the tallest."""
    if not token.place or reading.tokens[token.place - 1].surface != "the":
        return False
    if token.surface in _TOPS:
        return True
    plain = _base(token.surface)
    if len(token.key) > 1 or plain == token.surface or not token.surface.endswith("est"):
        return False
    words, base = lexicon(), (stem(plain),)
    return base in words.left or base in words.right or base in words.groups


def _base(surface: str) -> str:
    """The plain form: taller and tallest are tall, heavier is heavy, bigger is big."""
    if surface in _FORMS:
        return _FORMS[surface]
    for ending in ("est", "er"):
        if surface.endswith(ending) and len(surface) > len(ending) + 2:
            base = surface[: -len(ending)]
            if base.endswith("i"):
                return base[:-1] + "y"
            return base[:-1] if base[-1] == base[-2] and base[-1] not in "ls" else base
    return surface
