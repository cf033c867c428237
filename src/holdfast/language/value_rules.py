"""Exact rules about values: numbers with units, counts, dates, times and versions.

Two texts with different values are no duplicates; a measured value may differ a little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from holdfast.domain.text import normal_form
from holdfast.language.quantities import FoundQuantity, Quantity, equal, find_quantities, measured

_SAY_NOTHING = frozenset(
    ("a", "an", "the", "about", "around", "roughly", "approximately", "today", "now", "currently")
)
# A configured value is exact, even in a unit of measurements.
_SETTING = re.compile(
    r"\b(?:time-?outs?|ttl|limit(?:s|ed)?|quota|intervals?|thresholds?|deadline|expires?"
    r"|configured|set (?:to|at))\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"(?<!\S)[^\s\d]*+\d\S*")
# Kinds that differ in how a value is written, not in its meaning.
_ALIKE = {"period": "time", "version": "count"}


def different_values(one: str, other: str) -> bool:
    """Whether each text has a value of a kind that the other lacks, or they differ only in values."""
    if one == other:
        return False
    if _frame(one) == _frame(other):
        return not measured_again(one, other)
    exact = _is_setting(one, other)
    ours, theirs = ([found.quantity for found in find_quantities(text.lower())] for text in (one, other))
    left = {_kind(mine) for mine in ours if not any(_same(mine, yours, exact) for yours in theirs)}
    right = {_kind(yours) for yours in theirs if not any(_same(mine, yours, exact) for mine in ours)}
    return not left.isdisjoint(right)


def measured_again(one: str, other: str) -> bool:
    """Whether both are one sentence with measured values that differ a little: 60 s, then 58 s."""
    one, other = one.lower(), other.lower()
    theirs, rest = _parted(other)
    # Finding quantities is slow, and most texts differ in other words anyway.
    if not theirs or (one.isascii() and any(word not in one for word in rest if word.isalpha())):
        return False
    ours, words = _parted(one)
    if len(ours) != len(theirs) or words != rest:
        return False
    exact = _is_setting(one, other)
    return all(_agree(mine.quantity, yours.quantity, exact) for mine, yours in zip(ours, theirs, strict=True))


def _frame(text: str) -> str:
    """The text with a placeholder for each word that has a digit."""
    return _FIGURE.sub("#", normal_form(text))


def _is_setting(one: str, other: str) -> bool:
    return _SETTING.search(one) is not None and _SETTING.search(other) is not None


def _same(one: Quantity, other: Quantity, exact: bool) -> bool:
    """Whether two values are equal; a configured value is `exact`."""
    jitters = exact and measured(one) and not (one.about or other.about)
    return one.value == other.value if jitters else equal(one, other)


def _agree(one: Quantity, other: Quantity, exact: bool) -> bool:
    return _same(one, other, exact) and (one.text == other.text or measured(one) or one.value == other.value)


@lru_cache(maxsize=256)
def _parted(text: str) -> tuple[Sequence[FoundQuantity], list[str]]:
    """The values of a lower-case text, and its words with a placeholder for each value."""
    found = find_quantities(text)
    for item in reversed(found):
        text = f"{text[: item.start]} # {text[item.end :]}"
    return found, [word for word in normal_form(text).split() if word not in _SAY_NOTHING]


def _kind(quantity: Quantity) -> str:
    return _ALIKE.get(quantity.kind, quantity.kind)
