"""Which of several known memories a draft is counted as a repetition of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.domain.outcomes import Reinforced
from holdfast.language.comparison import Statement, Verdict
from holdfast.models.embedders import BuiltinEmbedder
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement

SHORT = "User wants plain and short answers, not long walls of text"
TRUE = "Dyslexia makes long paragraphs hard for the user to read; keep the text simple"
OTHERS = ("User lives in Lisbon", "User has two cats", "User plays the cello")
DRAFT = "User can't read long walls of text because of dyslexia, so plain and short"


@dataclass(frozen=True)
class Sure:
    """A judge that takes the draft for the same as some texts, each as surely as it was told."""

    of: Mapping[str, float]

    def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        sure = [self.of.get(known.text, 0.0) if new.text == DRAFT else 0.0 for known, new in pairs]
        return [
            Verdict(relation="same" if same else "distinct", certain=True, similarity=same) for same in sure
        ]


@requirement("ops.reinforce")
@pytest.mark.parametrize(
    ("sure", "repeated"),
    [
        ({SHORT: 0.91, TRUE: 0.91}, TRUE),
        ({SHORT: 0.94, TRUE: 0.91}, TRUE),
        ({SHORT: 0.97, TRUE: 0.85}, SHORT),
        ({SHORT: 0.85, TRUE: 0.97}, TRUE),
    ],
    ids=["as-likely", "hardly-likelier", "likelier", "nearer-and-likelier"],
)
def test_of_those_that_are_as_likely_the_same_the_nearest_is_repeated(
    database_url: str, clock: FixedClock, sure: Mapping[str, float], repeated: str
) -> None:
    embedder = BuiltinEmbedder()
    with Memories.of(
        open_store(database_url), "default", clock=clock, embedder=embedder, judge=Sure(sure)
    ) as memories:
        for text in (SHORT, *OTHERS, TRUE):
            memories.remember(text, category="preference")
            clock.advance(seconds=1)
        memories.tend()

        outcome = memories.remember(DRAFT, category="preference")

        assert isinstance(outcome, Reinforced)
        assert outcome.memory.content == repeated
