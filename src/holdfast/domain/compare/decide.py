"""Decides on the evidence: the same, a contradiction, or something else.

Where it is not sure it says "distinct" and names what it nearly found, because nothing may be merged or
doubted on a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.compare.align import align
from holdfast.domain.compare.evidence import Evidence, gather
from holdfast.domain.compare.likeness import Meaning
from holdfast.domain.compare.reading import read
from holdfast.domain.compare.statement import NEARLY_CONTRADICTS, NEARLY_SAME, Statement, Verdict
from holdfast.domain.compare.weigh import RELATIONS, Scales, Weights, beliefs, figures, shipped
from holdfast.domain.compare.words import plain
from holdfast.domain.subjects import same_subject

# With less belief than this in both other relations a "distinct" is certain.
_NEAR = 0.4
# Two texts contradict each other only where they speak of one thing: this much of them must agree. A subject
# that both are filed under is part of the agreement; without one, most of what is compared is unrelated.
_ONE_TOPIC = 0.25
_ONE_TOPIC_UNNAMED = 0.35
# With less agreement than this two texts are not even near each other.
_RELATED = 0.2
# No merge over a clash of this strength, however much else agrees.
_CLEAR_CLASH = 0.4
# The same sentence with another word in one place says something else of it: deployed alpha, deployed beta.
_ANOTHER_WORD = 1.0
# Where the text is as sure that two are distinct, no likeness changes it, and nobody is asked for one.
_SURE = 0.8
_DISTINCT = RELATIONS.index("distinct")
# Where only one of the texts denies something a merge takes more belief.
_DESPITE_DENIAL = 0.8


def decide(known: Statement, draft: Statement, scales: Scales | None, meaning: Meaning | None) -> Verdict:
    """What `draft` is to `known`; the relation is the same whichever of the two came first."""
    if known.text == draft.text or _same_words(known.text, draft.text):
        return Verdict(relation="same", certain=True, similarity=1.0, reasons=("the same words",))
    if not (read(known.text).whole and read(draft.text).whole):
        # The same opening says nothing about the rest.
        return Verdict(relation="distinct", certain=False, similarity=0.0, reasons=("too long to compare",))
    # In one fixed order, so that it does not matter which of the two came first.
    one, other = sorted((known, draft), key=lambda statement: statement.text)
    paired = align(read(one.text), read(other.text))
    if paired.similarity < _RELATED:  # so most do; the rest would not change it
        return Verdict(relation="distinct", certain=True, similarity=paired.similarity, reasons=())
    evidence = gather(one, other, paired)
    named = known.subject is not None and same_subject(known.subject, draft.subject)
    scales = scales or shipped()
    weights, believed = scales.plain, beliefs(figures(evidence, named=named), scales.plain)
    if meaning is not None and believed[_DISTINCT] < _SURE:
        likeness = meaning(one.text, other.text)
        if likeness is not None:
            weights = scales.likened
            believed = beliefs(figures(evidence, named=named, likeness=likeness), weights)
    return _verdict(
        evidence, paired.similarity, believed, weights, _ONE_TOPIC if named else _ONE_TOPIC_UNNAMED
    )


def _verdict(
    evidence: Evidence, similarity: float, believed: Sequence[float], weights: Weights, one_topic: float
) -> Verdict:
    same, contradicts, _ = believed
    reasons = tuple(evidence.reasons)
    enough = max(weights.same_from, _DESPITE_DENIAL) if evidence.one_denies else weights.same_from
    apart = evidence.other_figures or evidence.filler >= _ANOTHER_WORD or evidence.clash >= _CLEAR_CLASH
    if same >= enough and not apart:
        said = (*reasons, f"{evidence.high_cover:.0%} of one is said in the other")
        return Verdict(relation="same", certain=True, similarity=similarity, reasons=said)
    if contradicts >= weights.contradicts_from and similarity >= one_topic:
        return Verdict(relation="contradicts", certain=True, similarity=similarity, reasons=reasons)
    if max(same, contradicts) < _NEAR or similarity < _RELATED:
        return Verdict(relation="distinct", certain=True, similarity=similarity, reasons=reasons)
    nearly = NEARLY_SAME if same > contradicts else NEARLY_CONTRADICTS
    return Verdict(relation="distinct", certain=False, similarity=similarity, reasons=(*reasons, nearly))


def _same_words(one: str, other: str) -> bool:
    words = plain(one)
    return bool(words) and words == plain(other)
