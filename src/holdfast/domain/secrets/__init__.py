"""Removes secrets and private regions from a text before it is stored.

Patterns are compiled when first used, to keep the import light.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from holdfast.domain.secrets.assignments import find_assignments
from holdfast.domain.secrets.formats import find_formats
from holdfast.domain.secrets.personal import find_cards, find_personal
from holdfast.domain.secrets.regions import find_regions
from holdfast.domain.secrets.spans import Span, View, clear_of_markers, marker, marks_in, unescaped, united
from holdfast.domain.secrets.wire import find_commands, find_wire

__all__ = ["Redacted", "marks_in", "redact", "redacting"]

# A replacement may, in odd texts, bring together what was apart; so the result is
# read again until nothing more is found. Ordinary texts need one second look.
_LOOKS = 12

# JSON inside a string of JSON is common in transcripts; deeper nesting is not.
_ESCAPED_TWICE = 2


# From the surest to the vaguest: where two overlap, the earlier one names the kind.
_FINDERS = (
    find_regions,
    find_formats,
    find_wire,
    find_commands,
    find_assignments,
    find_cards,
    find_personal,
)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without secrets, and the kinds that were removed."""

    text: str  # with "[redacted:KIND]" for each secret and "[private]" for each private region
    found: tuple[str, ...]  # the kinds, in order of appearance


def redact(text: str) -> Redacted:
    """The text without its secrets and private regions, all else byte for byte."""
    steps = redacting(text)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: Redacted = done.value
            return found


def redacting(text: str) -> Generator[None, None, Redacted]:
    """The same as a generator of short steps, so that the caller can pause."""
    spans: list[Span] = []
    shown, view = text, View(text)
    for _ in range(_LOOKS):
        fresh = clear_of_markers(shown, (yield from _find(shown, _ESCAPED_TWICE)))
        if not fresh:
            break
        # Earlier findings keep their kind, so they come first.
        spans = united([*spans, *map(view.origin, fresh)])
        view = View(text)
        for start, end, kind in spans:
            view.replace(start, end, marker(kind))
        shown = view.text()
        yield
    return Redacted(shown, tuple(kind for _, _, kind in spans))


def _find(text: str, depth: int) -> Generator[None, None, list[Span]]:
    spans: list[Span] = []
    for find in _FINDERS:
        for span in find(text):
            if span is None:
                yield
            else:
                spans.append(span)
        yield
    if depth and (view := (yield from unescaped(text))):
        spans.extend(map(view.origin, (yield from _find(view.text(), depth - 1))))
    return spans
