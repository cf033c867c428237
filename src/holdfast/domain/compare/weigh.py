"""Turns evidence into shares of belief: same, contradicts, distinct.

The weights were fitted to labelled pairs and ship as data, for the text alone and for the text with an
embedder's likeness; what the figures mean stands with the evidence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from typing import Any

from holdfast.domain.compare.evidence import Evidence
from holdfast.domain.compare.likeness import Likeness
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
    "named",
)
LIKENED = (*FIGURES, *(field.name for field in fields(Likeness)))  # with the likeness behind them


@dataclass(frozen=True, slots=True)
class Weights:
    """One row of weights per relation, in the order of the figures, and the belief that a verdict takes."""

    rows: tuple[tuple[float, ...], ...]
    same_from: float  # a wrong merge costs more than a missed one, so it takes more belief
    contradicts_from: float


@dataclass(frozen=True, slots=True)
class Scales:
    """The weights for the text alone, and for the text with an embedder's likeness."""

    plain: Weights
    likened: Weights


def figures(evidence: Evidence, *, named: bool, likeness: Likeness | None = None) -> list[float]:
    """The evidence as numbers in the order of FIGURES, or of LIKENED where there is a likeness.

    A clash counts more the more of the texts it is embedded in, and less between texts on other things.
    """
    clash = evidence.clash
    found = [
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
        float(named),
    ]
    return found if likeness is None else [*found, *astuple(likeness)]


def beliefs(values: Sequence[float], weights: Weights) -> list[float]:
    """The share of belief in each relation, in the order of RELATIONS."""
    return shares(
        [sum(weight * value for weight, value in zip(row, values, strict=True)) for row in weights.rows]
    )


def shares(scores: Sequence[float]) -> list[float]:
    """Scores as parts of 1."""
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


@cache
def shipped() -> Scales:
    """The weights that come with the package."""
    stored = json.loads(text("weights.json"))
    return Scales(_weights(stored["plain"], FIGURES), _weights(stored["likened"], LIKENED))


def _weights(stored: dict[str, Any], names: Sequence[str]) -> Weights:
    return Weights(
        rows=tuple(tuple(stored["figures"][name][relation] for name in names) for relation in RELATIONS),
        same_from=stored["same_from"],
        contradicts_from=stored["contradicts_from"],
    )
