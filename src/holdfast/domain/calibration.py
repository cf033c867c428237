"""Maps the cosines of any embedding model to the scale that recall's constants were measured on.

Each model embeds the shipped questions and their answers; cosines with the answers to other questions are its
noise, and the mapping makes the noise equal for all models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: The model that recall's constants were measured with, and its noise on the shipped questions.
MEASURED_WITH = "holdfast-embedder/1.1.0"
NOISE = 0.0301
BEST_NOISE = 0.3226

# Limits of the scale. Beyond them a model does not separate texts, and keywords have to decide.
_LEAST_SCALE, _MAX_SCALE = 0.2, 8.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """The mapping of a model's cosines: scale x cosine + offset."""

    scale: float = 1.0
    offset: float = 0.0

    def as_row(self) -> dict[str, float]:
        """The form in which it is stored with the model's vectors."""
        return {"scale": self.scale, "offset": self.offset}

    @classmethod
    def of_row(cls, row: Mapping[str, float] | None) -> "Calibration":
        """Reads the stored form; the identity if there is none."""
        return cls(float(row["scale"]), float(row["offset"])) if row else cls()


def calibrated(cosine: float, calibration: Calibration) -> float:
    """A cosine of the calibrated model on the common scale."""
    return calibration.scale * cosine + calibration.offset


def fitted(cosines: Sequence[Sequence[float]]) -> Calibration:
    """The calibration of a model from the cosines of each question (row) with each answer (column)."""
    wrong = [[cosine for place, cosine in enumerate(row) if place != own] for own, row in enumerate(cosines)]
    noise = _mean([cosine for row in wrong for cosine in row])
    best = _mean([max(row) for row in wrong])
    spread = max(best - noise, 1e-9)
    scale = min(max((BEST_NOISE - NOISE) / spread, _LEAST_SCALE), _MAX_SCALE)
    return Calibration(round(scale, 4), round(BEST_NOISE - scale * best, 4))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
