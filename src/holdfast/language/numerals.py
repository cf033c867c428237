"""Reads numbers written in digits or in words.

Knows integers, decimals, thousands marks, k and million, English number words and common fractions.
"""

from __future__ import annotations

import re

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS: dict[str, float] = {word: float(value) for value, word in enumerate(_ONES.split())}
_WORDS |= {word: 10.0 * value for value, word in enumerate(_TENS.split(), start=2)}
_SCALES = {"dozen": 12.0, "hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_SCALE = rf"(?:{'|'.join(_SCALES)})"
_WORD = (
    rf"(?:{'|'.join(_TENS.split())})(?:[\s-](?:{'|'.join(_ONES.split()[1:10])}))?"
    rf"|(?:{'|'.join(sorted(_ONES.split(), key=len, reverse=True))})"
)

#: A pattern without named groups, to be built into larger ones; the text must be in lower case.
NUMBER = (
    rf"(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?(?:k\b)?(?:\s(?:thousand|million|billion)\b)?"
    rf"|\b(?:half\s)?an?\s{_SCALE}\b|\b(?:{_WORD})(?:\s{_SCALE})?\b)"
)

_PORTIONS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
#: A part of a whole, written out: quarter; a quarter, two thirds.
PORTION = rf"(?:{'|'.join(_PORTIONS)})"
FRACTION = rf"(?:an?|one|two|three|four)\s{PORTION}s?"

_PARTS = re.compile(r"[\s-]+")


def read_number(text: str) -> float:
    """The value of what NUMBER matched."""
    text = text.strip().replace(",", "")
    if text.endswith("k") and text[:-1].replace(".", "").isdigit():
        return float(text[:-1]) * 1e3
    total, current = 0.0, 0.0
    for part in _PARTS.split(text):
        if part in ("a", "an"):
            current = current or 1.0
        elif part == "half":
            current = 0.5
        elif part in _SCALES:
            total, current = total + (current or 1.0) * _SCALES[part], 0.0
        else:
            current += _WORDS[part] if part in _WORDS else float(part)
    return total + current


def read_fraction(text: str) -> float:
    """The value of what FRACTION matched, or PORTION."""
    *count, portion = text.split()
    times = 1.0 if not count or count[0] in ("a", "an") else _WORDS[count[0]]
    return times * _PORTIONS[portion.removesuffix("s")]
