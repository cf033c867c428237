"""The part of a long text that says most about a question, for quoting. Pure; knows words, not meaning."""

import re
from collections.abc import Collection

from holdfast.domain.terms import stems

_CUT = "…"
# A sentence or a line, with what parts it from the next.
_PIECE = re.compile(r".+?(?:[.!?。！？]+(?:\s+|$)|\n+|$)", re.DOTALL)


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
    # The sentence before tells what it is about, those behind go on with it.
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
