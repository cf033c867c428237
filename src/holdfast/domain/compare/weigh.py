"""Turns evidence into shares of belief: same, contradicts, distinct.

The weights were fitted to labelled pairs and ship as data; what the figures mean stands with the evidence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from holdfast.domain.compare.evidence import Evidence
from holdfast.domain.compare.resources import text
from holdfast.domain.compare.statement import Relation

RELATIONS: tuple[Relation, ...] = ("same", "contradicts", "distinct")
FIGURES = (
    "constant",
    "low_cover",
    "high_cover",
    "replaced",
    "left_over",
    "same_quantity",
    "clash",
    "other_thing",
    "filler",
    "open_slot",
    "parallel",
    "clash_in_topic",
    "clash_elsewhere",
    "clash_beside",
)


@dataclass(frozen=True, slots=True)
class Weights:
    """One row of weights per relation, in the order of FIGURES, and the belief that a verdict takes."""

    rows: tuple[tuple[float, ...], ...]
    meaning: tuple[float, ...]  # per relation, for a score of likeness in meaning, when there is one
    same_from: float  # a wrong merge costs more than a missed one, so it takes more belief
    contradicts_from: float


def figures(evidence: Evidence) -> list[float]:
    """The evidence as numbers in the order of FIGURES.

    A clash counts more the more of the texts it is embedded in, and less between texts on other things.
    """
    clash = evidence.clash
    return [
        1.0,
        evidence.low_cover,
        evidence.high_cover,
        evidence.replaced,
        evidence.left_over,
        evidence.same_quantity,
        clash,
        evidence.other_thing,
        evidence.filler,
        evidence.open_slot,
        evidence.parallel,
        clash * evidence.high_cover,
        clash * evidence.other_thing,
        clash * evidence.left_over,
    ]


def beliefs(evidence: Evidence, weights: Weights, meaning: float | None = None) -> list[float]:
    """The share of belief in each relation, in the order of RELATIONS.

    `meaning` is a likeness between 0 and 1 from elsewhere (an embedder, a language model). Half is taken
    for neutral, so that leaving it out and knowing nothing are the same; until the weights for it are
    fitted they are zero.
    """
    values = figures(evidence)
    scores = [sum(weight * value for weight, value in zip(row, values, strict=True)) for row in weights.rows]
    if meaning is not None:
        scores = [
            score + weight * (meaning - 0.5) for score, weight in zip(scores, weights.meaning, strict=True)
        ]
    return shares(scores)


def shares(scores: Sequence[float]) -> list[float]:
    """Scores as parts of 1."""
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


@cache
def shipped() -> Weights:
    """The weights that come with the package."""
    stored = json.loads(text("weights.json"))
    return Weights(
        rows=tuple(tuple(stored["figures"][name][relation] for name in FIGURES) for relation in RELATIONS),
        meaning=tuple(stored["meaning"][relation] for relation in RELATIONS),
        same_from=stored["same_from"],
        contradicts_from=stored["contradicts_from"],
    )
