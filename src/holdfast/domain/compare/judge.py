"""The judge of texts: what a draft is to something known.

The door of this package. It loads the machinery behind it with the first comparison, because most
commands of the product never compare anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.compare.statement import Statement, Verdict

if TYPE_CHECKING:
    from holdfast.domain.compare.weigh import Weights


class TextJudge:
    """Judges two statements by their words, numbers, order and negation."""

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights

    def compare(self, known: Statement, draft: Statement, *, meaning: float | None = None) -> Verdict:
        """What `draft` is to `known`; the relation is the same whichever of the two came first.

        `meaning` takes a likeness between 0 and 1 that an embedder or a model found, as one more piece
        of evidence; see `weigh.beliefs`.
        """
        from holdfast.domain.compare.decide import decide

        return decide(known, draft, self._weights, meaning)
