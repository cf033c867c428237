"""The parts of a text that its author only shows: code, quotations, other people's words in tags.

Parses the parts of Markdown that quote; a doubtful passage counts as quoted.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.domain.secrets.regions import find_regions

Span = tuple[int, int]

#: Stands for a shown character: as long as the text, so that places stay the same.
BLANK = "\0"

_LINE = re.compile(r"[^\n]*\n?")
_BULLET = re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)[ \t]*")
_HEADING = re.compile(r"#{1,6}(?=\s|$)|(?:[-*_][ \t]*){3,}$")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_TICKS = re.compile(r"\\[\s\S]|`+")
_RUN = re.compile(r"`+")
_OPENING = ('"', "'", "“", "‘", "«", "„", "‚", "”", "»")  # some languages open with what others close with
# Elements with other people's text, or text that is not meant to be read. The first kind reaches to the
# end of the text when it is never closed; of the second an opening tag alone may just be talked about.
_TO_THE_END = ("pre", "blockquote", "script", "style", "think", "thinking")
_IF_CLOSED = ("code", "q", "kbd", "samp", "example", "examples", "quote", "document", "tool_result", "stdout")
_TAG = re.compile(
    rf"<(/?)({'|'.join((*_TO_THE_END, *_IF_CLOSED))})(?:\s[^<>\n]*)?>|(<!--)|(-->)", re.IGNORECASE
)


def own_words(text: str) -> str:
    """`text` with everything that it only shows replaced by blanks; line breaks stay."""
    shown = [*((start, end) for start, end, _ in filter(None, find_regions(text))), *_blocks(text)]
    bare = _blanked(text, shown)
    return _blanked(bare, list(_elements(bare)))


def in_quotation_marks(before: str, after: str) -> bool:
    """Whether a position, between these two parts of a line, is inside quotation marks."""
    if before.endswith(_OPENING):
        return True
    if before.count('"') % 2 and '"' in after:
        return True
    return any(
        before.rfind(opening) > before.rfind(closing) and closing in after
        for opening, closing in (("“", "”"), ("„", "“"), ("«", "»"), ("»", "«"))
    )


def _blanked(text: str, spans: list[Span]) -> str:
    """`text` with the characters of `spans` blanked out."""
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        start = max(start, done)
        if end > start:
            parts.append(text[done:start])
            parts.append("\n".join(BLANK * len(line) for line in text[start:end].split("\n")))
            done = end
    parts.append(text[done:])
    return "".join(parts)


# Blocks: fences, quotes, indented code; and the code within paragraphs


@dataclass(slots=True)
class _Blocks:
    """The parser's state."""

    fence: str = ""  # what must close it; empty outside
    quote: bool = False  # a line without the sign still continues the quotation
    in_list: bool = False
    may_be_code: bool = True  # an indented line is code only where it can't go on with a paragraph


def _blocks(text: str) -> Iterator[Span]:
    state = _Blocks()
    paragraph: Span | None = None
    for found in _LINE.finditer(text):
        if not found[0]:
            break
        here: Span = found.span()
        shown, opens = _quotes(state, found[0].rstrip("\n"))
        if shown:
            yield here
        if paragraph is not None and (shown or opens):
            yield from _code_spans(text, paragraph)
            paragraph = None
        if not shown:
            paragraph = here if paragraph is None else (paragraph[0], here[1])
    if paragraph is not None:
        yield from _code_spans(text, paragraph)


def _quotes(state: _Blocks, line: str) -> tuple[bool, bool]:
    """Whether `line` is code or a quote, and whether it begins a paragraph of its own."""
    body = line.strip()
    if state.fence:
        if body and not body.strip(state.fence[0]) and len(body) >= len(state.fence):
            state.fence = ""
        return True, False
    if not body:
        state.quote, state.may_be_code = False, True
        return False, True
    indented = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()) >= 4
    if indented and state.may_be_code and not state.in_list:
        return True, False
    body, in_item = _without_bullets(line)
    starts = in_item or bool(_HEADING.match(body))
    state.in_list = in_item or (state.in_list and line[:1] in (" ", "\t"))
    state.may_be_code = starts and not in_item
    if fence := _FENCE.match(body):
        state.fence, state.quote = fence[1] or fence[2], False
        return True, False
    if body.startswith(">"):
        state.quote = True
        return True, False
    state.quote = state.quote and not starts
    return state.quote, starts


def _without_bullets(line: str) -> tuple[str, bool]:
    """A line without its list markers, and whether it has any."""
    start = 0
    while bullet := _BULLET.match(line, start):
        if bullet.end() == start:
            break
        start = bullet.end()
    return line[start:].strip(), start > 0


def _code_spans(text: str, paragraph: Span) -> Iterator[Span]:
    """Inline code: the text between two runs of the same number of backticks."""
    start, end = paragraph
    if text.find("`", start, end) < 0:
        return
    runs: dict[int, list[int]] = {}
    for run in _RUN.finditer(text, start, end):
        runs.setdefault(run.end() - run.start(), []).append(run.start())
    at = start
    while found := _TICKS.search(text, at, end):
        at = found.end()
        if found[0].startswith("\\"):
            continue
        size = len(found[0])
        # A run that a backslash shortened has no closing one of its own length in the list: asked for anyway.
        same = runs.get(size, [])
        following = bisect_right(same, found.start())
        if following < len(same):
            at = same[following] + size
            yield found.start(), at


def _elements(text: str) -> Iterator[Span]:
    """Elements with other people's content; `text` has no code in it any more."""
    opened: dict[str, list[int]] = {}
    for tag in _TAG.finditer(text):
        starts = opened.setdefault("comment" if tag[3] or tag[4] else tag[2].casefold(), [])
        if not (tag[1] or tag[4]):
            starts.append(tag.start())
        elif starts:
            yield starts.pop(), tag.end()
    for name in ("comment", *_TO_THE_END):
        for start in opened.get(name, ())[:1]:
            yield start, len(text)
