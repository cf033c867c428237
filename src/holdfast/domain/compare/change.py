"""Finds signs that a text reports a change of state: moved to, no longer, was cancelled.

Knows the signs, and whether the other text may tell what changed.
"""

from __future__ import annotations

from functools import cache, lru_cache

from holdfast.domain.compare.align import Alignment
from holdfast.domain.compare.lexicon import Phrase, lexicon, phrase
from holdfast.domain.compare.reading import Reading, Token, read
from holdfast.domain.compare.resources import lines, listed

# What stands before a past form that reports: was moved, has slipped, just switched.
_REPORTING = frozenset({"was", "were", "been", "has", "have", "had", "got", "just", "recently", "and"})

# Under a condition ("once it gets hot, nothing is detected any more") it is a habit, not a change.
_CONDITIONS = frozenset({"if", "when", "whenever", "once", "unless"})
_ENOUGH = 1.4  # a word and a light one: with less there is no other property
_PAST_IN_E = frozenset({"gave", "gone", "became", "broke", "wrote"})


@cache
def _cues() -> tuple[frozenset[Phrase], frozenset[Phrase]]:
    anywhere: set[Phrase] = set()
    past: set[Phrase] = set()
    for line in lines("cues.txt"):
        kind, entries = line.split(":", 1)
        (anywhere if kind == "word" else past).update(phrase(entry) for entry in listed(entries))
    return frozenset(anywhere), frozenset(past)


@lru_cache(maxsize=1_024)
def changes(text: str) -> frozenset[tuple[int, str]]:
    """The signs of change in a text: the clause each stands in, and the sign as written."""
    anywhere, past = _cues()
    reading = read(text)
    if any(token.surface in _CONDITIONS for token in reading.tokens):
        return frozenset()
    found: set[tuple[int, str]] = set()
    tokens = reading.tokens
    for index, token in enumerate(tokens):
        for size in (1, 2, 3):
            window = tokens[index : index + size]
            if len(window) == size and tuple(word for one in window for word in one.key) in anywhere:
                found.add((token.clause, " ".join(one.surface for one in window)))
        if token.surface == "instead" and not (index + 1 < len(tokens) and tokens[index + 1].surface == "of"):
            found.add((token.clause, "instead"))
        if (token.key in past or token.key[1:] in past) and _reports(tokens, index):
            found.add((token.clause, token.surface))
    return frozenset(found)


def same_property(left: Reading, right: Reading, paired: Alignment) -> bool:
    """Whether what has changed may be what the other text tells.

    It is not where both say something of a thing, and nothing that is said is shared or could take the place
    of the other: a name of a name, a number of one kind.
    """
    said = any(not (match.left.topic and match.right.topic) for match in paired.matches)
    ours, theirs = (
        [token for token in reading.content if not token.topic and token.place not in places]
        for reading, places in (
            (left, {match.left.place for match in paired.matches}),
            (right, {match.right.place for match in paired.matches}),
        )
    )
    if said or min(_weight(ours), _weight(theirs)) < _ENOUGH:
        return True
    return any(_exchangeable(one, other) for one in ours for other in theirs)


def _weight(tokens: list[Token]) -> float:
    return sum(token.weight for token in tokens)


def _exchangeable(one: Token, other: Token) -> bool:
    if one.quantity is not None and other.quantity is not None:
        return one.quantity.kind == other.quantity.kind
    families, words = lexicon().families, lexicon()
    shared = set(families.get(one.key, ())) & set(families.get(other.key, ()))
    return bool(shared) or (one.name and other.name) or words.opposed(one.key, other.key)


def _reports(tokens: tuple[Token, ...], index: int) -> bool:
    """Whether a listed verb is used for something that happened: was moved, has slipped, sold the car."""
    first, *rest = tokens[index].surface.split(" ")
    if tokens[index].key[0] == "be":  # a fixed phrase with its auxiliary: was removed
        return first in _REPORTING and bool(rest)
    if (first == tokens[index].key[0] and first != "quit") or (
        first.endswith(("ing", "s", "e")) and first not in _PAST_IN_E
    ):
        return False
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if before is None:  # "moved to Porto", but "deprecated endpoints stay"
        return after is None or after.weight == 0 or after.name or after.surface.endswith("ing")
    return before.surface in _REPORTING or before.weight > 0
