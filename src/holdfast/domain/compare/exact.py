"""The one rule that holds whatever a judge thinks: two texts with other values do not say the same.

Values are numbers with units, counts, dates, times and versions; measured ones may differ a little.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from holdfast.domain.compare.statement import Statement, Verdict

if TYPE_CHECKING:
    from holdfast.domain.compare.quantities import Quantity

OTHER_VALUE = "another value"
# Kinds that are told apart by how a value is written, not by what it says.
_ALIKE = {"period": "time", "version": "count"}


class AnyJudge(Protocol):
    def compare(self, known: Statement, draft: Statement) -> Verdict: ...


class ExactValues:
    """A judge that takes no two texts with other values for the same: those stay a near call."""

    def __init__(self, judge: AnyJudge) -> None:
        self._judge = judge

    def compare(self, known: Statement, draft: Statement) -> Verdict:
        verdict = self._judge.compare(known, draft)
        if verdict.relation != "same" or not other_values(known.text, draft.text):
            return verdict
        return replace(verdict, relation="distinct", certain=False, reasons=(*verdict.reasons, OTHER_VALUE))


def other_values(one: str, other: str) -> bool:
    """Whether each of two texts gives a value of one kind that the other does not give."""
    if one == other:
        return False
    from holdfast.domain.compare.quantities import equal, find_quantities

    ours, theirs = ([found.quantity for found in find_quantities(text.lower())] for text in (one, other))
    left = {_kind(mine) for mine in ours if not any(equal(mine, yours) for yours in theirs)}
    right = {_kind(yours) for yours in theirs if not any(equal(mine, yours) for mine in ours)}
    return not left.isdisjoint(right)


def _kind(quantity: Quantity) -> str:
    return _ALIKE.get(quantity.kind, quantity.kind)
