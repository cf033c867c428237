"""The input and output of a comparison of two statements. Knows nothing about how a verdict is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Relation = Literal["same", "contradicts", "distinct"]

#: Reasons of "distinct" verdicts that were near calls.
NEARLY_SAME, NEARLY_CONTRADICTS = "nearly the same", "nearly a contradiction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A text that claims something, with its labels."""

    text: str
    subject: str | None = None  # the service, person or topic it is filed under
    category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a draft relates to a known statement, and why."""

    relation: Relation
    certain: bool  # False: a near call; keep both and link them as related
    similarity: float  # 0..1, how likely they say the same
    reasons: tuple[str, ...] = ()  # short plain-English evidence
    judge: str = ""  # the model and version that decided; empty for an exact rule
    probability: float = 1.0  # of the relation, according to the judge
