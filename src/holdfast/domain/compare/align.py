"""Pairs the words of two texts: equal ones, forms of one word, synonyms, equal quantities.

Says how much of each text the other one covers; draws no conclusion from it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from holdfast.domain.compare.lexicon import SHARED_LETTERS, Lexicon, lexicon
from holdfast.domain.compare.quantities import equal
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import stemmed

# A word that comes this often needs no more partners; a text of one word repeated stays cheap.
_PARTNERS = 12
_EQUAL, _FORM, _SYNONYM, _KIND, PART = 1.0, 0.85, 0.85, 0.7, 0.6


@dataclass(frozen=True, slots=True)
class Match:
    """Two words taken for one, with how far that holds."""

    left: Token
    right: Token
    strength: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which words of two texts answer each other, and which are left over."""

    matches: tuple[Match, ...]
    echoes: tuple[Match, ...]  # words without a partner of their own, with the one that says the same
    ties: tuple[tuple[Token, Token], ...]  # all words that have anything to do with each other
    left_rest: tuple[Token, ...]
    right_rest: tuple[Token, ...]
    left_cover: float  # share of the left text's weight that the right one covers
    right_cover: float

    @property
    def similarity(self) -> float:
        """How much of the two texts is said in the other, from 0 to 1."""
        return round((self.left_cover + self.right_cover) / 2, 4)


def align(left: Reading, right: Reading) -> Alignment:
    """The pairing of two readings, each word with the best partner that is still free."""
    words = lexicon()
    ties = tied(left, right)
    candidates = [
        (score, one.place, other.place, one, other)
        for one, other in ties
        if one.weight > 0 and other.weight > 0 and (score := strength(one, other, words)) > 0
    ]
    # Strongest first, then words in the order of the texts, so that the result is always the same.
    candidates.sort(key=lambda item: (-item[0], item[1] + item[2], abs(item[1] - item[2]), item[1]))
    used_left: dict[int, float] = {}
    used_right: dict[int, float] = {}
    matches = []
    for score, i, j, one, other in candidates:
        if i not in used_left and j not in used_right:
            used_left[i] = used_right[j] = score
            matches.append(Match(one, other, score))
    echoes = []
    for score, i, j, one, other in candidates:  # a word said twice on one side is covered by its one partner
        if i not in used_left or j not in used_right:
            echoes.append(Match(one, other, score))
        used_left.setdefault(i, 0.8 * score)
        used_right.setdefault(j, 0.8 * score)
    return Alignment(
        matches=tuple(matches),
        echoes=tuple(echoes),
        ties=ties,
        left_rest=tuple(token for token in left.content if token.place not in used_left),
        right_rest=tuple(token for token in right.content if token.place not in used_right),
        left_cover=_cover(left, used_left),
        right_cover=_cover(right, used_right),
    )


def tied(left: Reading, right: Reading) -> tuple[tuple[Token, Token], ...]:
    """The pairs of words worth comparing; most words of two texts have nothing in common."""
    holders: dict[str, list[Token]] = defaultdict(list)
    for other in right.tokens:
        for handle in other.handles:
            if len(holders[handle]) < _PARTNERS:
                holders[handle].append(other)
    pairs: dict[tuple[int, int], tuple[Token, Token]] = {}
    for one in left.tokens:
        for handle in one.handles:
            for other in holders.get(handle, ()):
                pairs[one.place, other.place] = (one, other)
    return tuple(pairs[places] for places in sorted(pairs))


def context(left: Reading, right: Reading, one: Token, other: Token, alignment: Alignment) -> float:
    """How far the clauses of two words agree, but for these words if they differ: the better of the two.

    The better one, because a statement with added detail covers the shorter one, not the other way round.
    Where both clauses speak of something that the other does not, they hardly speak of one thing.
    """
    pairs = (*alignment.matches, *alignment.echoes)
    our_cover, our_rest = _around(left, one, frozenset(match.left.place for match in pairs))
    their_cover, their_rest = _around(right, other, frozenset(match.right.place for match in pairs))
    return max(our_cover, their_cover) * (0.6 if min(our_rest, their_rest) >= 1.0 else 1.0)


def _around(reading: Reading, token: Token, paired: frozenset[int]) -> tuple[float, float]:
    refusals = stemmed("refusal")  # they deny the rest and are no part of what is denied
    others = [
        one
        for one in reading.content
        if (one.place != token.place or token.place in paired) and one.key[0] not in refusals
    ]
    # A clause of its own ("after 24 hours") tells nothing: then the whole text is what stands around it.
    near = [one for one in others if one.clause == token.clause] or others
    total = sum(one.weight for one in near)
    covered = sum(one.weight for one in near if one.place in paired)
    return (covered / total if total else 0.0), total - covered


def strength(one: Token, other: Token, words: Lexicon) -> float:
    """How far two words are one: 0 not at all, 1 entirely."""
    if one.quantity is not None and other.quantity is not None:
        return _EQUAL if equal(one.quantity, other.quantity) else 0.0
    if one.key == other.key:
        return _EQUAL
    groups = words.groups
    if one.key in groups and other.key in groups and groups[one.key] & groups[other.key]:
        return _SYNONYM
    if one.negated != other.negated and words.opposed(one.key, other.key):
        return _SYNONYM
    if one.quantity is not None or other.quantity is not None:
        return 0.0
    if _same_word("".join(one.key), "".join(other.key)):
        return _FORM
    if one.key in words.kinds and other.key in words.kinds and _names_kind(one, other, words):
        return _KIND
    return PART if _shares_part(one, other, words) else 0.0


def _shares_part(one: Token, other: Token, words: Lexicon) -> bool:
    """Whether a fixed phrase and a word, or two phrases, have a telling word in common.

    Alternatives of one family (free plan, team plan) are two things for all that they share.
    """
    if len(one.key) == 1 and len(other.key) == 1:
        return False
    if set(words.families.get(one.key, ())) & set(words.families.get(other.key, ())):
        return False
    return any(word in other.key and word not in role("stop") and len(word) > 3 for word in one.key)


def _names_kind(one: Token, other: Token, words: Lexicon) -> bool:
    return " ".join(one.key) in words.kinds[other.key] or " ".join(other.key) in words.kinds[one.key]


def _same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < SHARED_LETTERS or short[:SHARED_LETTERS] != long[:SHARED_LETTERS]:
        return False
    shared = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return shared >= 0.75 * len(short) and len(long) - shared <= 6 and shared >= SHARED_LETTERS


def _cover(reading: Reading, used: dict[int, float]) -> float:
    total = sum(token.weight for token in reading.content if not token.contrast or token.place in used)
    return (
        sum(token.weight * used.get(token.place, 0.0) for token in reading.content) / total if total else 0.0
    )
