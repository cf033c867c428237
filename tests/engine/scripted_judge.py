"""A judge whose answers a test knows beforehand, and the texts that it decides about.

A text names a fact, its value and a variant of the wording: the same fact and value are the same thing in
whatever variant, another value contradicts it, and facts 0 and 1, 2 and 3 … are near calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.language.comparison import Statement, Verdict

_TEXT = re.compile(r"fact(\d+) equals value(\d+) variant(\w)")


def wording(fact: int, value: int, variant: str = "a") -> str:
    """One of the texts that the judge knows."""
    return f"fact{fact} equals value{value} variant{variant}"


def numbers_of(text: str) -> tuple[int, int, str]:
    """The fact, the value and the variant that a wording was made of."""
    parts = _TEXT.fullmatch(text)
    assert parts is not None
    return int(parts[1]), int(parts[2]), parts[3]


class ScriptedJudge:
    """Decides by the numbers in the text alone."""

    def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        return [verdict(known.text, draft.text) for known, draft in pairs]


def verdict(known: str, draft: str) -> Verdict:
    """What one text is to another."""
    left, right = _TEXT.fullmatch(known), _TEXT.fullmatch(draft)
    if left is None or right is None:
        return Verdict(relation="distinct", certain=True, similarity=0.0, reasons=())
    if left[1] != right[1]:
        near = int(left[1]) // 2 == int(right[1]) // 2
        return Verdict(relation="distinct", certain=not near, similarity=0.3, reasons=())
    if left[2] != right[2]:
        return Verdict(relation="contradicts", certain=True, similarity=0.8, reasons=())
    similarity = 1.0 if known == draft else 0.9
    return Verdict(relation="same", certain=True, similarity=similarity, reasons=())
