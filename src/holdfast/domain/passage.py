"""Parts of a text for quoting: the best passage for a query, and a text without some words."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from holdfast.domain.terms import stems

_CUT = "…"
# A sentence or a line, with what parts it from the next.
_PIECE = re.compile(r".+?(?:(?<=[.!?。！？])\s+|\n+|$)", re.DOTALL)
_MAX_PLACES = 50  # at which the same words are looked for in one text

Span = tuple[int, int]


def passage(text: str, wanted: Collection[str], most: int) -> str:
    """At most `most` characters of `text`, around the sentence that holds most of the stems in `wanted`.

    Whole sentences as far as they fit; the text itself, if it is short enough.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    pieces = _PIECE.findall(text)
    shared = [len(set(stems(piece)).intersection(wanted)) for piece in pieces]
    best = shared.index(max(shared))
    room = most - 2 * len(_CUT)
    first = last = best
    length = len(pieces[best])
    # The sentence before names the subject, the next ones continue.
    for step in (-1, *([1] * len(pieces))):
        at = first + step if step < 0 else last + step
        if 0 <= at < len(pieces) and length + len(pieces[at]) <= room:
            length += len(pieces[at])
            first, last = min(first, at), max(last, at)
        elif step > 0:
            break
    chosen = "".join(pieces[first : last + 1]).rstrip()
    cut_short = len(chosen) > room
    before = _CUT if first else ""
    after = _CUT if cut_short or last + 1 < len(pieces) else ""
    return f"{before}{_shortened(chosen, room)}{after}"


def _shortened(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    # At a blank, if there is one near the end: half a word reads badly.
    cut = text[:room]
    blank = cut.rfind(" ", room - 30)
    return cut[:blank] if blank > 0 else cut


def pieces(text: str) -> Iterator[Span]:
    """The start and end of each sentence and line."""
    return (found.span() for found in _PIECE.finditer(text))


def places(words: str, text: str) -> list[Span]:
    """The sentences of `text` that contain `words`, ignoring case and white space."""
    spelt = r"\s+".join(map(re.escape, words.split()))
    if not spelt:
        return []
    found: list[Span] = []
    for match in islice(re.finditer(spelt, text, re.IGNORECASE), _MAX_PLACES):
        here = [(start, end) for start, end in pieces(text) if start < match.end() and end > match.start()]
        span = here[0][0], here[-1][1]
        found += [span] if span not in found else []
    return found


def without(text: str, spans: Iterable[Span]) -> str:
    """`text` with a sign in place of each span; empty if nothing else is left."""
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start > done and text[done:start].strip():
            parts.append(text[done:start].rstrip(" \t"))
        if end > done and parts[-1:] != [_CUT]:
            parts.append(_CUT)
        done = max(done, end)
    parts.append(text[done:])
    left = "".join(parts)
    return left if any(character.isalnum() for character in left) else ""
