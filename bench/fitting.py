"""Fits the judge's weights to labelled pairs: a small softmax regression.

Run by hand when the evidence changes (`python -m bench.fit_judge`); the product only reads the result.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from bench.relations import Pair
from holdfast.domain.compare.evidence import gather
from holdfast.domain.compare.likeness import Meaning
from holdfast.domain.compare.weigh import FIGURES, LIKENED, RELATIONS, Scales, Weights, figures

# Some hundred pairs are few: weights are pulled towards zero. How strongly, and from which belief on a
# verdict is given, was chosen for few false merges on sets that no weight was fitted to.
DECAY, STEPS, RATE, MOMENTUM = 0.015, 3_000, 0.05, 0.9
SAME_FROM, CONTRADICTS_FROM = 0.64, 0.45


def fit_scales(pairs: Sequence[Pair], meaning: Meaning | None) -> Scales:
    """Weights for the text alone, and with the likeness; without `meaning` the latter are the same."""
    plain = fit(pairs)
    return Scales(plain, fit(pairs, meaning) if meaning is not None else plain)


def fit(pairs: Sequence[Pair], meaning: Meaning | None = None) -> Weights:
    """Weights by full-batch gradient descent; the same pairs give the same weights."""
    import numpy as np

    rows = np.array([_figures(pair, meaning) for pair in pairs])
    means, spreads = rows.mean(axis=0), rows.std(axis=0)
    spreads[spreads == 0] = 1.0
    means[0] = 0.0  # the constant stays as it is
    # Evened out, so that all figures are pulled alike.
    even = (rows - means) / spreads
    wanted = np.eye(len(RELATIONS))[[RELATIONS.index(pair.relation) for pair in pairs]]
    pull = np.full(rows.shape[1], DECAY)
    pull[0] = 0.0
    weights = np.zeros((len(RELATIONS), rows.shape[1]))
    speed = np.zeros_like(weights)
    for _ in range(STEPS):
        scores = even @ weights.T
        believed = np.exp(scores - scores.max(axis=1, keepdims=True))
        believed /= believed.sum(axis=1, keepdims=True)
        speed = MOMENTUM * speed - RATE * ((believed - wanted).T @ even / len(rows) + pull * weights)
        weights += speed
    plain = weights / spreads
    plain[:, 0] -= plain[:, 1:] @ means[1:]
    return Weights(
        rows=tuple(tuple(round(float(weight), 4) for weight in line) for line in plain),
        same_from=SAME_FROM,
        contradicts_from=CONTRADICTS_FROM,
    )


def _figures(pair: Pair, meaning: Meaning | None) -> list[float]:
    one, other = sorted((pair.known, pair.draft), key=lambda statement: statement.text)
    named = one.subject is not None and one.subject == other.subject
    likeness = meaning(one.text, other.text) if meaning is not None else None
    if meaning is not None and likeness is None:
        raise ValueError(f"pair {pair.id} has no likeness")
    return figures(gather(one, other), named=named, likeness=likeness)


def as_json(scales: Scales) -> str:
    """The weights in the form in which they ship."""
    stored = {"plain": _stored(scales.plain, FIGURES), "likened": _stored(scales.likened, LIKENED)}
    return json.dumps(stored, indent=1) + "\n"


def _stored(weights: Weights, names: Sequence[str]) -> dict[str, object]:
    table = {
        name: {relation: weights.rows[index][column] for index, relation in enumerate(RELATIONS)}
        for column, name in enumerate(names)
    }
    return {
        "figures": table,
        "same_from": weights.same_from,
        "contradicts_from": weights.contradicts_from,
    }
