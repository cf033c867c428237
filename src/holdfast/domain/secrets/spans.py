"""Spans of a text, and a view of a text with replaced parts whose spans map back to the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator
from functools import cache

# start, end, kind. Finders run from the surest to the vaguest, and where spans
# overlap the first finder names the kind.
Span = tuple[int, int, str]

PRIVATE = "private"

#: What a finder yields: spans, and None after every piece of the text, where its caller can pause.
Found = Iterator[Span | None]

PIECE = 16_384  # characters that are read between two pauses
_REACH = 2_048  # characters that any of our patterns needs to see to know whether it matches


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str] | None]:
    """The matches that `finditer` gives, and None after every piece of the text."""
    at, pause = 0, PIECE
    while at < len(text):
        if at >= pause:
            pause = at + PIECE
            yield None
        found = pattern.search(text, at, pause + _REACH)
        if found is None or found.start() >= pause:
            at = pause
        elif (whole := pattern.match(text, found.start())) is not None:  # with what lies beyond the piece
            at = whole.end()
            yield whole
        else:
            at = found.start() + 1


def lazy(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A pattern that is compiled when it is first asked for: there are many, and most texts need few."""

    @cache
    def compiled() -> re.Pattern[str]:
        return re.compile(pattern, flags)

    return compiled


def marker(kind: str) -> str:
    """The replacement of a secret; never a secret itself to any finder."""
    return "[private]" if kind == PRIVATE else f"[redacted:{kind}]"


_markers = lazy(r"\[(?:redacted:[a-z0-9-]{1,40}|private)\]")


def marks_in(*texts: str | None) -> list[str]:
    """The kinds of what was taken out of stored texts, in order, each once."""
    found = (mark[0].strip("[]") for text in texts if text for mark in _markers().finditer(text))
    return list(dict.fromkeys(mark.removeprefix("redacted:") for mark in found))


def clear_of_markers(text: str, spans: list[Span]) -> list[Span]:
    """The spans without those that only cut into a marker: what is gone is not found again.

    A span around a whole marker and more stays, for a private region may hold one.
    """
    marks = [found.span() for found in _markers().finditer(text)] if spans and "[" in text else []
    if not marks:
        return spans
    starts = [mark[0] for mark in marks]
    kept: list[Span] = []
    for start, end, kind in spans:
        first = marks[bisect_right(starts, start) - 1]
        last = marks[bisect_right(starts, end - 1) - 1]
        if first[0] < start < first[1]:
            start = first[1]
        if last[0] < end < last[1]:
            end = last[0]
        if start < end and _markers().sub("", text[start:end]):
            kept.append((start, end, kind))
    return kept


def united(spans: list[Span]) -> list[Span]:
    """The same spans in order of appearance, overlapping ones made one."""
    ranked = sorted(range(len(spans)), key=lambda at: (spans[at][0], at))
    whole: list[Span] = []
    best = -1
    for at in ranked:
        start, end, kind = spans[at]
        if whole and start < whole[-1][1]:
            last = whole[-1]
            whole[-1] = (last[0], max(last[1], end), kind if at < best else last[2])
            best = min(at, best)
        else:
            whole.append((start, end, kind))
            best = at
    return whole


class View:
    """A text made from another by edits, which remembers where each part came from."""

    __slots__ = ("_done", "_ends", "_from", "_parts", "_size", "_source", "_starts", "_until")

    def __init__(self, source: str) -> None:
        self._source = source
        self._parts: list[str] = []
        self._done = self._size = 0  # of the source, and of the view
        self._starts: list[int] = []  # of each edit, in the view
        self._ends: list[int] = []
        self._from: list[int] = []  # of each edit, in the source
        self._until: list[int] = []

    def replace(self, start: int, end: int, instead: str) -> None:
        """Replaces a part of the source; parts have to come in order."""
        self._parts += (self._source[self._done : start], instead)
        self._starts.append(self._size + start - self._done)
        self._size = self._starts[-1] + len(instead)
        self._ends.append(self._size)
        self._from.append(start)
        self._until.append(end)
        self._done = end

    def text(self) -> str:
        return "".join((*self._parts, self._source[self._done :]))

    def origin(self, span: Span) -> Span:
        """The span of the source for a span of the view."""
        start, end, kind = span
        return self._back(start)[0], self._back(end - 1)[1], kind

    def _back(self, at: int) -> tuple[int, int]:
        edit = bisect_right(self._starts, at) - 1
        if edit < 0:
            return at, at + 1
        if at < self._ends[edit]:
            return self._from[edit], self._until[edit]
        there = self._until[edit] + at - self._ends[edit]
        return there, there + 1


_escape = lazy(r'\\(?:u00([2-7][0-9a-fA-F])|([nrt"\'/\\]))')
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def unescaped(text: str) -> Generator[None, None, View | None]:
    """The text with the escapes of JSON strings decoded; None if it has none."""
    view = None
    for found in matches(_escape(), text) if "\\" in text else ():
        if found is None:
            yield
            continue
        view = view or View(text)
        code, letter = found.groups()
        view.replace(*found.span(), chr(int(code, 16)) if code else _ESCAPED.get(letter, letter))
    return view
