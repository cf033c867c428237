"""Takes secrets and private regions out of a text before anything writes it down.

Pure and of the standard library only, for the hooks import it too; patterns are
compiled when first needed, to keep that import light. Knows nothing of memories,
files or logs: it is handed a text and gives one back.
"""

from __future__ import annotations

from collections.abc import Generator

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


class Redacted:
    """A text fit to be written down, and what was taken out of it.

    A frozen dataclass in all but name: importing `dataclasses` would by itself
    cost more time than the hooks have for everything.
    """

    __match_args__ = ("text", "found")
    __slots__ = ("found", "text")

    text: str  # with "[redacted:KIND]" for each secret and "[private]" for each private region
    found: tuple[str, ...]  # the kinds, in order of appearance

    def __init__(self, text: str, found: tuple[str, ...]) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "found", found)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Redacted):
            return NotImplemented
        return (self.text, self.found) == (other.text, other.found)

    def __hash__(self) -> int:
        return hash((self.text, self.found))

    def __repr__(self) -> str:
        return f"Redacted(text={self.text!r}, found={self.found!r})"


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
