"""Extends the words that a finder marks in a message to whole statements: a line or some sentences each.

A finder reads a few hundred words at a time, so a long message is split into windows. What it marks may begin
or end some words off a sentence's bounds, and may run over several list items.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from holdfast.domain.prose import BLANK
from holdfast.language.phrases import begins, phrases
from holdfast.language.sentences import MOST_CHARACTERS, blanked, spans

WINDOW = 700  # characters per window
_ROOM = 1_000  # characters of a window with its context: the network would cut more
_TAIL = 400  # characters of a message that is only context
_BEFORE = 2  # messages
_FEW = 3  # words that may be missing at the bounds of a sentence
_LEAST_OWN = 0.2  # the part of a statement that is not code or somebody else's words
_WRAPPED = 60  # characters: so long a line continues in the next one, if that begins in lower case
_BULLET = re.compile(r"[ \t]*(?:(?:[-+*•·–]|\d{1,3}[.)]|\[[ x]\])[ \t]+)*")
_LINE = re.compile(r"[^\n]+")
_CLAUSE = 12  # words
_CLAUSE_ENDS = re.compile(r"[,;:.!?…)\]](?=\s|$)|\s[–—-]\s|\n")
_JOINS = re.compile(r"\W*(?:and|but|also|plus)\W+", re.IGNORECASE)  # conjunctions before a statement
_BEFORE_WORDS = re.compile(r"[\s.,;:!?…)\]–—-]*")


class Marked(Protocol):
    """Words of a message that state a fact."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def probability(self) -> float: ...


class FactFinder(Protocol):
    """Finds the words of the last message that state facts; messages are (role, text)."""

    def facts(self, messages: Sequence[tuple[str, str]]) -> Sequence[Marked]: ...


@dataclass(frozen=True, slots=True)
class Stated:
    """A part of a message that states a fact."""

    start: int
    end: int
    kind: str
    probability: float


def statements(before: Sequence[tuple[str, str]], role: str, text: str, finder: FactFinder) -> list[Stated]:
    """The statements of a message, in order; `before` are the messages before it, as (role, text).

    Raises: Unavailable, as the finder.
    """
    text = text[:MOST_CHARACTERS]
    marked = list(_marked(before, role, text, finder))
    if role == "user":
        marked = sorted([*marked, *_asked_for(text, marked)], key=lambda each: each.start)
    if not marked:
        return []
    own = blanked(text)
    lines = list(_lines(text))
    found: list[Stated] = []
    for start, end in lines:
        here = [_cut(each, start, end) for each in marked if each.start < end and each.end > start]
        found += _snapped(here, text, start, end)
    return [each for each in found if _is_own(own[each.start : each.end])]


def _marked(before: Sequence[tuple[str, str]], role: str, text: str, finder: FactFinder) -> Iterator[Stated]:
    for start, end in windows(text):
        context = [(role, text[:start])] if start else before[-_BEFORE:]
        given = _context(context, _ROOM - (end - start))
        for each in finder.facts([*given, (role, text[start:end])]):
            yield Stated(start + each.start, start + each.end, each.kind, each.probability)


def _asked_for(text: str, marked: Sequence[Stated]) -> Iterator[Stated]:
    """What a person explicitly asks to remember, if the finder marks nothing of it."""
    if phrases("asked_to_keep").search(text) is None:
        return
    for start, end in spans(text):
        sentence = text[start:end].rstrip()
        known = any(each.start < end and each.end > start for each in marked)
        if not known and begins("asked_to_keep", sentence) and not sentence.endswith("?"):
            yield Stated(start, start + len(sentence), "fact", 1.0)


def windows(text: str) -> Iterator[tuple[int, int]]:
    """`text` in parts of whole lines or sentences; longer ones are cut elsewhere."""
    start = end = 0
    for _, stop in spans(text):
        if stop - start > WINDOW and end > start:
            yield start, end
            start = end
        while stop - start > WINDOW:
            yield start, start + WINDOW
            start += WINDOW
        end = stop
    if text[start:].strip():
        yield start, len(text)


def _context(messages: Sequence[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """The ends of the messages before, the last one with priority."""
    found: list[tuple[str, str]] = []
    for role, text in reversed(messages):
        tail = text[-min(_TAIL, room) :] if room > 0 else ""
        room -= len(tail)
        if tail.strip():
            found.insert(0, (role, tail))
    return found


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each line or list item, without its bullet; wrapped lines are joined."""
    start: int | None = None
    for found in _LINE.finditer(text):
        begins = _BULLET.match(text, found.start(), found.end())
        here = begins.end() if begins else found.start()
        if start is None:
            start = here
        follows = text[found.end() + 1 : found.end() + 2]
        if not (found.end() - found.start() >= _WRAPPED and follows.islower()):
            yield start, found.end()
            start = None
    if start is not None:
        yield start, len(text)


def _cut(marked: Stated, start: int, end: int) -> Stated:
    return replace(marked, start=max(marked.start, start), end=min(marked.end, end))


def _snapped(marked: Iterable[Stated], text: str, first: int, last: int) -> list[Stated]:
    """The marked parts of a line, extended to sentences if little is missing, else to words."""
    sentences = [(first + start, first + end) for start, end in spans(text[first:last])]
    joined: list[Stated] = []
    for each in marked:
        if joined and _one(joined[-1], each, text):
            longer = max(joined[-1], each, key=lambda one: one.end - one.start)
            joined[-1] = replace(longer, start=joined[-1].start, end=each.end)
        else:
            joined.append(each)
    bounds = [first, *(edge for each in joined for edge in (each.start, each.end)), last]
    whole = [
        _whole(each, text, sentences, bounds[2 * place], bounds[2 * place + 3])
        for place, each in enumerate(joined)
    ]
    return [each for each in whole if each is not None]


def _one(before: Stated, after: Stated, text: str) -> bool:
    """Whether two marked parts are one with a gap, not two statements."""
    scrap = any(_little(text[each.start : each.end]) for each in (before, after))
    gap = text[before.end : after.start]
    return scrap and _little(gap) and not re.search(r"[.!?;]\s", gap)


def _whole(
    marked: Stated, text: str, sentences: Sequence[tuple[int, int]], low: int, high: int
) -> Stated | None:
    """A marked part, extended to the bounds of its sentences; None if it is only a scrap.

    What is before `low` and after `high` belongs to other parts.
    """
    begins = _BEFORE_WORDS.match(text, marked.start, marked.end)
    marked = replace(marked, start=begins.end() if begins else marked.start)
    touched = [(a, b) for a, b in sentences if a < marked.end and b > marked.start]
    if not touched:
        return None
    (first, first_end), (last, last_end) = touched[0], touched[-1]
    start, end = marked.start, marked.end
    if len(touched) == 1 and (end - start) * 2 < last_end - first and _little(text[start:end]):
        return None
    if low <= first and _little(text[first:start]):
        joins = _JOINS.match(text, first, start)
        start = joins.end() if joins else first
    elif len(touched) > 1 and (first_end - start) * 2 < first_end - first:
        start = first_end
    if last_end <= high and _little(text[end:last_end]):
        end = last_end
    elif len(touched) > 1 and (end - last) * 2 < last_end - last:
        end = last
    start = _to_clause_start(text, start, max(low, first))
    end = _to_clause_end(text, end, min(high, last_end))
    while start > low and not (text[start - 1].isspace() or text[start].isspace()):
        start -= 1
    while end < high and not (text[end].isspace() or text[end - 1].isspace()):
        end += 1
    return replace(marked, start=start, end=end) if start < end else None


def _to_clause_end(text: str, end: int, high: int) -> int:
    """The end of the clause in which a part ends, unless that is far away."""
    found = _CLAUSE_ENDS.search(text, max(end - 1, 0), high)
    stop = found.start() if found else high
    return stop if stop > end and len(text[end:stop].split()) <= _CLAUSE else end


def _to_clause_start(text: str, start: int, low: int) -> int:
    """The start of the clause in which a part begins, after its conjunction, unless that is far away."""
    stop = max((found.end() for found in _CLAUSE_ENDS.finditer(text, low, start)), default=low)
    joins = _JOINS.match(text, stop, start)
    stop = joins.end() if joins else stop
    return stop if text[stop:start].strip() and len(text[stop:start].split()) <= _CLAUSE else start


def _little(text: str) -> bool:
    return len(text.split()) <= _FEW and "\n" not in text


def _is_own(part: str) -> bool:
    """Whether enough of a part is the writer's own text; inline code counts, unless all of it is code."""
    return len(part.replace(BLANK, "").strip()) >= _LEAST_OWN * len(part.strip())
