"""Finds signs that a text reports a change of state: moved to, no longer, was cancelled.

Knows the signs, not what changed.
"""

from __future__ import annotations

from functools import cache

from holdfast.domain.compare.lexicon import Phrase, phrase
from holdfast.domain.compare.reading import Reading
from holdfast.domain.compare.resources import lines, listed


@cache
def _cues() -> tuple[frozenset[Phrase], frozenset[Phrase]]:
    anywhere: set[Phrase] = set()
    past: set[Phrase] = set()
    for line in lines("cues.txt"):
        role, entries = line.split(":", 1)
        (anywhere if role == "word" else past).update(phrase(entry) for entry in listed(entries))
    return frozenset(anywhere), frozenset(past)


def changes(reading: Reading) -> frozenset[Phrase]:
    """The signs of change in a text, by their base forms."""
    anywhere, past = _cues()
    found: set[Phrase] = set()
    words = reading.words
    for size in (1, 2, 3):
        found |= {words[i : i + size] for i in range(len(words) - size + 1) if words[i : i + size] in anywhere}
    for index, token in enumerate(reading.tokens):
        if token.key in past and _is_past(token.surface.split()[0], token.key[0]):
            # "is called weekly" is a habit; a change is reported by was, has been, or the bare past.
            before = reading.tokens[index - 1].surface if index else ""
            if before not in ("is", "are", "be", "gets", "get"):
                found.add(token.key)
    return frozenset(found)


def _is_past(surface: str, base: str) -> bool:
    return surface != base and not surface.endswith(("ing", "s", "e")) or surface in ("gone", "done", "broke", "froze")
