"""Fits the judge's weights to labelled pairs: a small softmax regression in plain Python.

Run by hand when the evidence changes (`python -m holdfast.quality.fitting`); the product only reads the
result.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from holdfast.domain.compare.evidence import gather
from holdfast.domain.compare.weigh import FIGURES, RELATIONS, Weights, figures, shares
from holdfast.quality.relations import Pair, load

# Two hundred pairs are few: weights are pulled towards zero. How strongly, and from which belief on a verdict
# is given, was chosen for few false merges on held-out folds and on pairs that no weight was fitted to.
DECAY, STEPS, RATE, MOMENTUM = 0.01, 300, 0.5, 0.9
SAME_FROM, CONTRADICTS_FROM = 0.64, 0.45

Row = list[float]


def fit(pairs: Sequence[Pair]) -> Weights:
    """Weights by full-batch gradient descent; the same pairs give the same weights."""
    rows = [figures(gather(pair.known, pair.draft)) for pair in pairs]
    labels = [RELATIONS.index(pair.relation) for pair in pairs]
    weights = [[0.0] * len(FIGURES) for _ in RELATIONS]
    speed = [[0.0] * len(FIGURES) for _ in RELATIONS]
    for _ in range(STEPS):
        slope = _slope(weights, rows, labels)
        for relation, line in enumerate(weights):
            for column, weight in enumerate(line):
                pull = DECAY * weight if column else 0.0  # the constant is left alone
                step = slope[relation][column] / len(rows) + pull
                speed[relation][column] = MOMENTUM * speed[relation][column] - RATE * step
                line[column] = weight + speed[relation][column]
    return Weights(
        rows=tuple(tuple(round(weight, 4) for weight in line) for line in weights),
        meaning=(0.0, 0.0, 0.0),
        same_from=SAME_FROM,
        contradicts_from=CONTRADICTS_FROM,
    )


def _slope(weights: list[Row], rows: list[Row], labels: list[int]) -> list[Row]:
    slope = [[0.0] * len(FIGURES) for _ in RELATIONS]
    for row, label in zip(rows, labels, strict=True):
        scores = [sum(weight * value for weight, value in zip(line, row, strict=True)) for line in weights]
        for relation, share in enumerate(shares(scores)):
            error = share - (relation == label)
            for column, value in enumerate(row):
                slope[relation][column] += error * value
    return slope


def as_json(weights: Weights) -> str:
    """The weights in the form in which they ship."""
    table = {
        name: {relation: weights.rows[index][column] for index, relation in enumerate(RELATIONS)}
        for column, name in enumerate(FIGURES)
    }
    stored = {
        "figures": table,
        "meaning": dict(zip(RELATIONS, weights.meaning, strict=True)),
        "same_from": weights.same_from,
        "contradicts_from": weights.contradicts_from,
    }
    return json.dumps(stored, indent=1) + "\n"


def main() -> None:
    """Fits to the shipped pairs and writes the weights to standard output."""
    import sys

    sys.stdout.write(as_json(fit(load(None))))


if __name__ == "__main__":
    main()
