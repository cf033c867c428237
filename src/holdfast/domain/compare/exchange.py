"""Finds two things that have changed places between texts: who and whom, what is where, from and to.

Looks at the place that each thing has in its sentence. What is set in an order or on a scale is compared
elsewhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from holdfast.domain.compare.align import Alignment
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import role
from holdfast.domain.compare.words import stemmed

_SUBJECT, _OBJECT = "subject", "object"
_JOINING = frozenset({"and", "or", "nor", "plus", "between", "both", "either", "neither"})

Exchange = Literal["who", "where", "elsewhere", ""]


def exchanged(left: Reading, right: Reading, paired: Alignment) -> Exchange:
    """How two things have changed places: "who" does it to whom, "where" one is to the other, or not at all.

    "Elsewhere" is only one of them in the place of the other, the other being moved too.

    Ann reports to Bob, Bob reports to Ann; logs of birch go to aspen, logs of aspen go to birch. What can be
    read from both ends (is, is married to, works with, A and B) has not changed.
    """
    if _mutual(left) or _mutual(right):
        return ""
    if _same_verb(left, right):
        reversible = left.tokens[left.verb].key[0] == "be"  # it can be read from both ends
        if not reversible and _subjects_swapped(paired):
            return "who"
        ours, theirs = places(left), places(right)
        moved = {
            (ours[match.left.place], theirs[match.right.place])
            for match in paired.matches
            if match.strength == 1.0 and match.left.weight >= 1.0
        }
        if any(one != other and (other, one) in moved and _tells((one, other)) for one, other in moved):
            return "where"
        if not reversible and _another_subject(left, right, paired):
            return "where"
    return _transposed(left.tokens, right.tokens) or ("elsewhere" if _shifted(left, right, paired) else "")


@lru_cache(maxsize=1_024)
def places(reading: Reading) -> tuple[str, ...]:
    """For each word the place it has in its sentence: subject, object, or the preposition before it."""
    prepositions = role("preposition")
    found: list[str] = []
    clause, place = -1, _SUBJECT
    for token in reading.tokens:
        if token.clause != clause:
            clause, place = token.clause, _SUBJECT
        if token.place == reading.verb:
            place = _OBJECT
        elif token.surface in prepositions or token.surface == "than":
            place = token.surface
        found.append(place)
    return tuple(found)


@lru_cache(maxsize=1_024)
def _mutual(reading: Reading) -> bool:
    mutual = stemmed("mutual")
    return any(word in mutual for token in reading.tokens for word in token.key)


def _tells(pair: tuple[str, str]) -> bool:
    """Whether an exchange of these two places changes what is said: not of "be", "with" and comparisons."""
    return "than" not in pair and set(pair) not in ({_SUBJECT, _OBJECT}, {_SUBJECT, "with"})


def _same_verb(left: Reading, right: Reading) -> bool:
    """Whether both have the same main verb in the same voice."""
    voices = {any(token.surface == "by" for token in reading.tokens) for reading in (left, right)}
    if left.verb < 0 or right.verb < 0 or len(voices) > 1:
        return False
    return left.tokens[left.verb].surface == right.tokens[right.verb].surface


def _subjects_swapped(paired: Alignment) -> bool:
    moved = {(match.left.topic, match.right.topic) for match in paired.matches if match.strength == 1.0}
    return {(True, False), (False, True)} <= moved


def _another_subject(left: Reading, right: Reading, paired: Alignment) -> bool:
    """Whether two do the same, and one of them is the goal in the other text: oak to elm, elm to pine."""
    kept = [match for match in paired.matches if match.left.topic and match.right.topic]
    moved = [match for match in paired.matches if match.strength == 1.0 and match not in kept]
    ours = {token.place for token in left.content if token.topic and token.weight >= 1.0}
    theirs = {token.place for token in right.content if token.topic and token.weight >= 1.0}
    ours -= {match.left.place for match in kept}
    theirs -= {match.right.place for match in kept}
    compared = any(token.surface.endswith("than") for token in (*left.tokens, *right.tokens))
    if not ours or not theirs or compared:
        return False
    return any(match.left.place in ours or match.right.place in theirs for match in moved)


def _shifted(left: Reading, right: Reading, paired: Alignment) -> bool:
    """Whether a name stands behind the preposition that another one has left: in English, in French."""
    ours, theirs = places(left), places(right)
    named = [
        (match.left.key, ours[match.left.place], theirs[match.right.place])
        for match in paired.matches
        if match.strength == 1.0 and match.left.name and match.right.name
    ]
    if len(named) < 2:
        return False
    prepositions = role("preposition")
    return any(
        one != other and here == there_too and here in prepositions and there != here and here_too != here
        for one, here, there in named
        for other, here_too, there_too in named
    )


def conversed(one: Token, other: Token, paired: Alignment) -> bool:
    """Whether two opposites tell one act from its two ends: who sends, and who receives."""
    converse = stemmed("converse")
    return one.key[0] in converse and other.key[0] in converse and _subjects_swapped(paired)


def _transposed(left: tuple[Token, ...], right: tuple[Token, ...]) -> Exchange:
    """Whether the texts are the same but for two words that have changed places, whatever the verb is."""
    if len(left) != len(right):
        return ""
    other = [index for index in range(len(left)) if left[index].key != right[index].key]
    if len(other) != 2:
        return ""
    i, j = other
    crossed = left[i].key == right[j].key and left[j].key == right[i].key
    between = [token.surface for token in left[i + 1 : j]]
    joined = not between or any(word in _JOINING or word == "than" for word in between)
    if not crossed or joined or min(left[i].weight, left[j].weight) < 1.0 or left[i].clause != left[j].clause:
        return ""
    return "who" if len(between) == 1 and between[0] not in role("stop") else "where"
