"""Decides what a draft is to something known: the same, a contradiction, or something else.

Knows texts only. Where it is not sure it says "distinct" and names what it nearly found, because
nothing may be merged or doubted on a guess.
"""

from __future__ import annotations

from holdfast.domain.compare.evidence import Evidence, gather
from holdfast.domain.compare.statement import Statement, Verdict
from holdfast.domain.compare.weigh import Weights, beliefs, shipped
from holdfast.domain.compare.words import plain

# Below this belief in the other relation a "distinct" is certain.
_NEAR = 0.4


class TextJudge:
    """Judges two statements by their words, numbers, order and negation."""

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights

    def compare(self, known: Statement, draft: Statement, *, meaning: float | None = None) -> Verdict:
        """What `draft` is to `known`; the relation is the same whichever of the two came first.

        `meaning` takes a likeness between 0 and 1 that an embedder or a model found, as one more piece
        of evidence; see `weigh.beliefs`.
        """
        if known.text == draft.text or _same_words(known.text, draft.text):
            return Verdict(relation="same", certain=True, similarity=1.0, reasons=("the same words",))
        weights = self._weights or shipped()
        evidence = gather(known, draft)
        same, contradicts, distinct = beliefs(evidence, weights, meaning)
        reasons = tuple(evidence.reasons)
        similarity = round((evidence.low_cover + evidence.high_cover) / 2, 4)
        if same >= weights.same_from and _mergeable(evidence):
            said = (*reasons, f"{evidence.high_cover:.0%} of one is said in the other")
            return Verdict(relation="same", certain=True, similarity=similarity, reasons=said)
        if contradicts >= weights.contradicts_from:
            return Verdict(relation="contradicts", certain=True, similarity=similarity, reasons=reasons)
        certain = max(same, contradicts) < _NEAR
        nearly = "nearly the same" if same > contradicts else "nearly a contradiction"
        said = reasons if certain else (*reasons, nearly)
        return Verdict(relation="distinct", certain=certain, similarity=similarity, reasons=said)


def _same_words(one: str, other: str) -> bool:
    plain_one = plain(one)
    return bool(plain_one) and plain_one == plain(other)


def _mergeable(evidence: Evidence) -> bool:
    """No merge over a clear clash, however much else agrees."""
    return evidence.clash < 0.6
