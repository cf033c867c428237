"""Brings the cosines of any embedding model onto the scale that recall's constants were measured on.

What one model calls 0.7 is unrelated text to another. So a model is shown questions with their answers, and
two figures are taken: how near a question is to the answers of other questions, on the average and at best.
That is noise, and noise has to look alike whatever the model; then one floor tells noise from answers for all
of them. Pure: who embeds the questions is not known here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: The model that recall's constants were measured with, and its noise on the shipped questions.
MEASURED_WITH = "holdfast-embedder/1.1.0"
NOISE = 0.0301
BEST_NOISE = 0.3226

# However little or much a model spreads: outside of this it tells nothing apart, and words have to decide.
_LEAST_SCALE, _MOST_SCALE = 0.2, 8.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a model's cosines lie on the scale: scale x cosine + offset."""

    scale: float = 1.0
    offset: float = 0.0

    def as_row(self) -> dict[str, float]:
        """As it is kept beside the model's vectors."""
        return {"scale": self.scale, "offset": self.offset}

    @classmethod
    def of_row(cls, row: Mapping[str, float] | None) -> "Calibration":
        """What was kept; the scale itself, where nothing was."""
        return cls(float(row["scale"]), float(row["offset"])) if row else cls()


def calibrated(cosine: float, calibration: Calibration) -> float:
    """The cosine that says on the scale what `cosine` says in the calibrated model."""
    return calibration.scale * cosine + calibration.offset


def fitted(cosines: Sequence[Sequence[float]]) -> Calibration:
    """The calibration of a model from the cosines of each question (a row) with each answer (a column).

    The answer to a question stands in the same place as the question does.
    """
    wrong = [[cosine for place, cosine in enumerate(row) if place != own] for own, row in enumerate(cosines)]
    noise = _mean([cosine for row in wrong for cosine in row])
    best = _mean([max(row) for row in wrong])
    spread = max(best - noise, 1e-9)
    scale = min(max((BEST_NOISE - NOISE) / spread, _LEAST_SCALE), _MOST_SCALE)
    return Calibration(round(scale, 4), round(BEST_NOISE - scale * best, 4))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
