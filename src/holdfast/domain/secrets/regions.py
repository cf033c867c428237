"""Regions to remove: text that a person marked as private, and private key blocks.

Also found if the closing half is missing because the text was cut.
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.domain.secrets.spans import PRIVATE, Found, Span, lazy, matches

KEY_BLOCK = "private-key"

# A longer gap between BEGIN and END is two cut blocks, not one key.
_LONGEST_BLOCK = 64_000

# The brackets may be escaped by a serializer that is wary of HTML.
_tag = lazy(
    r"(?:<|\\u003c|&lt;)\s{0,4}(/?)\s{0,4}private(?:\s[^<>\\&]{0,200})?(/?)\s{0,4}(?:>|\\u003e|&gt;)",
    re.IGNORECASE,
)
_armour = lazy(r"-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?: ?-{4,5})?")


@cache
def _body() -> re.Pattern[str]:
    """The text after a BEGIN without an END: headers, then lines of base64."""
    gap = r"(?:\s|\\{1,4}[nrt]|[\"'+,>#]){1,40}"
    header = r"[A-Z][A-Za-z-]{2,30}: [^\n\\]{0,200}"
    line = r"[A-Za-z0-9+/=]{24,20000}"
    # Beyond a quote a short word is the next field, not the rest of the key.
    last = r"(?:\s|\\{1,4}[nrt]){1,8}[A-Za-z0-9+/=]{1,23}(?=$|[\s\"'\\])"
    return re.compile(rf"(?:{gap}{header}){{0,6}}(?:{gap}{line}){{0,2000}}(?:{last})?")


#: A line of a key body, read backwards from its end.
_tail = lazy(r"(?:\s|(?:[nrt]\\{1,4})){0,40}[A-Za-z0-9+/=]{16,20000}(?=$|[\s\"'\\>#])")


def find_regions(text: str) -> Found:
    """Private regions and private key blocks, in order of appearance of each sort."""
    yield from _private(text)
    yield from _key_blocks(text)


def _private(text: str) -> Found:
    opened_at = depth = 0
    for tag in matches(_tag(), text):
        if tag is None:
            yield None
            continue
        closing, empty = tag.groups()
        if text[tag.start() - 1 : tag.start()] == "`" == text[tag.end() : tag.end() + 1]:
            continue  # a sentence about the tag, set as code
        if not closing and not empty:
            if depth == 0:
                opened_at = tag.start()
            depth += 1
        elif closing and depth:
            # Counted, because ending at the first close would show what follows a nested region.
            depth -= 1
            if depth == 0:
                yield opened_at, tag.end(), PRIVATE
    if depth:
        yield opened_at, len(text), PRIVATE


def _key_blocks(text: str) -> Found:
    if "PRIVATE KEY" not in text:
        return
    begun: re.Match[str] | None = None
    done = 0
    for line in matches(_armour(), text):
        if line is None:
            yield None
            continue
        if line[1] == "BEGIN":
            if begun:
                yield (cut := _cut_block(text, begun, line.start()))
                done = cut[1]
            begun = line
        elif begun and line.start() - begun.end() <= _LONGEST_BLOCK:
            yield begun.start(), line.end(), KEY_BLOCK
            begun, done = None, line.end()
        else:
            yield _start_of_tail(text, done, line.start()), line.end(), KEY_BLOCK
            done = line.end()
    if begun:
        yield _cut_block(text, begun, len(text))


def _cut_block(text: str, begun: re.Match[str], limit: int) -> Span:
    body = _body().match(text, begun.end(), limit)
    return begun.start(), body.end() if body else begun.end(), KEY_BLOCK


def _start_of_tail(text: str, done: int, end: int) -> int:
    """The start of the base64 lines before an END without a BEGIN."""
    lead = text[max(done, end - _LONGEST_BLOCK) : end][::-1]
    taken = 0
    while line := _tail().match(lead, taken):
        taken = line.end()
    return end - taken
