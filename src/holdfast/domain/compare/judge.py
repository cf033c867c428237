"""The judge of texts: what a draft is to something known.

The door of this package. It loads the machinery behind it with the first comparison, because most
commands of the product never compare anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.compare.statement import Statement, Verdict

if TYPE_CHECKING:
    from holdfast.domain.compare.likeness import Meaning
    from holdfast.domain.compare.weigh import Scales


class TextJudge:
    """Judges two statements by their words, numbers, order and negation.

    With `meaning`, an embedder's likeness of the two texts is one more piece of evidence.
    """

    def __init__(self, scales: Scales | None = None, meaning: Meaning | None = None) -> None:
        self._scales = scales
        self._meaning = meaning

    def compare(self, known: Statement, draft: Statement) -> Verdict:
        """What `draft` is to `known`; the relation is the same whichever of the two came first."""
        from holdfast.domain.compare.decide import decide

        return decide(known, draft, self._scales, self._meaning)
