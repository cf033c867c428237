"""The language models of a space, what they are told, and what they may cost. None of them is needed."""

from dataclasses import dataclass, field
from datetime import datetime

from holdfast.domain.spend import Caps, Price
from holdfast.engine.ports import LanguageModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """What a model is told before each question; the same every time, so that caches hold it."""

    gate: str
    extract: str  # names the categories by {{categories}}
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Who is asked for what; where nobody is, the rules decide."""

    gate: LanguageModel | None = None
    extract: LanguageModel | None = None
    judge: LanguageModel | None = None
    instructions: Instructions
    caps: Caps
    cautious: Price  # what limits take a model for whose price is not known
    resting: dict[str, datetime] = field(default_factory=dict)  # until when nobody is asked for a purpose
