"""Decides on the evidence: the same, a contradiction, or something else.

Where it is not sure it says "distinct" and names what it nearly found, because nothing may be merged or
doubted on a guess.
"""

from __future__ import annotations

from holdfast.domain.compare.evidence import Evidence, gather
from holdfast.domain.compare.reading import read
from holdfast.domain.compare.statement import Statement, Verdict
from holdfast.domain.compare.weigh import Weights, beliefs, shipped
from holdfast.domain.compare.words import plain

# With less belief than this in both other relations a "distinct" is certain.
_NEAR = 0.4
# No merge over a clash of this strength, however much else agrees.
_CLEAR_CLASH = 0.6


def decide(known: Statement, draft: Statement, weights: Weights | None, meaning: float | None) -> Verdict:
    """What `draft` is to `known`; the relation is the same whichever of the two came first."""
    if known.text == draft.text or _same_words(known.text, draft.text):
        return Verdict(relation="same", certain=True, similarity=1.0, reasons=("the same words",))
    if not (read(known.text).whole and read(draft.text).whole):
        # The same opening says nothing about the rest.
        return Verdict(relation="distinct", certain=False, similarity=0.0, reasons=("too long to compare",))
    # In one fixed order, so that it does not matter which of the two came first.
    evidence = gather(*sorted((known, draft), key=lambda statement: statement.text))
    return _verdict(evidence, weights or shipped(), meaning)


def _verdict(evidence: Evidence, weights: Weights, meaning: float | None) -> Verdict:
    same, contradicts, _ = beliefs(evidence, weights, meaning)
    reasons = tuple(evidence.reasons)
    similarity = round((evidence.low_cover + evidence.high_cover) / 2, 4)
    if same >= weights.same_from and evidence.clash < _CLEAR_CLASH:
        said = (*reasons, f"{evidence.high_cover:.0%} of one is said in the other")
        return Verdict(relation="same", certain=True, similarity=similarity, reasons=said)
    if contradicts >= weights.contradicts_from:
        return Verdict(relation="contradicts", certain=True, similarity=similarity, reasons=reasons)
    if max(same, contradicts) < _NEAR:
        return Verdict(relation="distinct", certain=True, similarity=similarity, reasons=reasons)
    nearly = "nearly the same" if same > contradicts else "nearly a contradiction"
    return Verdict(relation="distinct", certain=False, similarity=similarity, reasons=(*reasons, nearly))


def _same_words(one: str, other: str) -> bool:
    words = plain(one)
    return bool(words) and words == plain(other)
