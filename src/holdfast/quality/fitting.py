"""Fits the judge's weights to labelled pairs: a small softmax regression in plain Python.

Run by hand when the evidence changes; the product itself only reads the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Row = Sequence[float]


def fit(rows: Sequence[Row], labels: Sequence[int], classes: int, *, steps: int = 600, rate: float = 0.5, decay: float = 0.01) -> list[list[float]]:
    """One row of weights per class, by full-batch gradient descent; the same data gives the same weights.

    `decay` pulls weights towards zero, because two hundred pairs are few; the first column is the
    constant and is left alone.
    """
    width = len(rows[0])
    weights = [[0.0] * width for _ in range(classes)]
    speed = [[0.0] * width for _ in range(classes)]
    for _ in range(steps):
        slope = [[0.0] * width for _ in range(classes)]
        for row, label in zip(rows, labels, strict=True):
            for index, share in enumerate(softmax(weights, row)):
                error = share - (index == label)
                line = slope[index]
                for column, value in enumerate(row):
                    if value:
                        line[column] += error * value
        for index in range(classes):
            for column in range(width):
                pull = decay * weights[index][column] if column else 0.0
                speed[index][column] = 0.9 * speed[index][column] - rate * (slope[index][column] / len(rows) + pull)
                weights[index][column] += speed[index][column]
    return weights


def softmax(weights: Sequence[Row], row: Row) -> list[float]:
    """The share of each class for one row."""
    scores = [sum(weight * value for weight, value in zip(line, row, strict=True)) for line in weights]
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
