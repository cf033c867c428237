"""Finds signs that a text reports a change of state: moved to, no longer, was cancelled.

Knows the signs, not what changed.
"""

from __future__ import annotations

from functools import cache, lru_cache

from holdfast.domain.compare.lexicon import Phrase, phrase
from holdfast.domain.compare.reading import Reading, Token
from holdfast.domain.compare.resources import lines, listed

# What stands before a past form that reports: was moved, has slipped, just switched.
_REPORTING = frozenset({"was", "were", "been", "has", "have", "had", "got", "just", "recently", "and"})


@cache
def _cues() -> tuple[frozenset[Phrase], frozenset[Phrase]]:
    anywhere: set[Phrase] = set()
    past: set[Phrase] = set()
    for line in lines("cues.txt"):
        kind, entries = line.split(":", 1)
        (anywhere if kind == "word" else past).update(phrase(entry) for entry in listed(entries))
    return frozenset(anywhere), frozenset(past)


@lru_cache(maxsize=4096)
def changes(reading: Reading) -> frozenset[str]:
    """The signs of change in a text, as written."""
    anywhere, past = _cues()
    found: set[str] = set()
    tokens = reading.tokens
    for index, token in enumerate(tokens):
        for size in (1, 2, 3):
            window = tokens[index : index + size]
            if len(window) == size and tuple(word for one in window for word in one.key) in anywhere:
                found.add(" ".join(one.surface for one in window))
        if token.key in past and _reports(tokens, index):
            found.add(token.surface)
    return frozenset(found)


def _reports(tokens: tuple[Token, ...], index: int) -> bool:
    surface, base = tokens[index].surface.split(" ", 1)[0], tokens[index].key[0]
    if surface == base or surface.endswith(("ing", "s", "e")) and surface not in ("gave", "broke"):
        return False
    before = tokens[index - 1] if index else None
    return before is None or before.surface in _REPORTING or before.weight > 0
