"""What exact rules decide by themselves, what they leave to a model, and what they do not let it merge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest

from holdfast.errors import Unavailable
from holdfast.language.comparison import NEARLY_CONTRADICTS, NEARLY_SAME, Relation, Statement, Verdict
from holdfast.language.judge import Pair, PairJudge, decided

FIGURES = (
    "7", "22", "25", "50", "50%", "53", "80", "200", "301", "302", "404", "443", "5432", "8080", "v2", "v3",
)  # fmt: skip


class Parrot:
    """A model that always says the same, and counts what it was asked."""

    def __init__(self, relation: Relation) -> None:
        self.relation: Relation = relation
        self.asked = 0

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.asked += len(pairs)
        return [
            Verdict(relation=self.relation, certain=True, similarity=0.9, judge="parrot/1") for _ in pairs
        ]


class Missing:
    """A model that can't be had."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        raise Unavailable("no reader: it is not there")


def pair(one: str, other: str) -> Pair:
    return Statement(text=one), Statement(text=other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Takes 60s to start", "takes 60s to start."),
        ("Takes 60s to start", "Takes 58s to start"),
        ("Startup needs 60 seconds", "Startup needs 1 minute"),
        ("The backup holds 2.0 GB", "The backup holds 2.04 GB"),
    ],
)
def test_equal_text_and_jitter_of_measured_values_are_the_same_without_a_model(one: str, other: str) -> None:
    model = Parrot("contradicts")

    [verdict] = PairJudge(model).compare([pair(one, other)])

    assert (verdict.relation, verdict.judge, model.asked) == ("same", "", 0)


@pytest.mark.parametrize(
    "frame",
    [
        "The API returns {} for unknown users",
        "It listens on port {}",
        "Keeps {} backups",
        "Error {} means the disk is full",
        "VLAN {} is for guests",
    ],
)
def test_two_texts_with_different_values_are_never_merged(frame: str) -> None:
    pairs = [pair(frame.format(one), frame.format(other)) for one, other in combinations(FIGURES, 2)]

    verdicts = PairJudge(Parrot("same")).compare(pairs)

    merged = [given for given, verdict in zip(pairs, verdicts, strict=True) if verdict.relation == "same"]
    assert merged == []
    assert not any(verdict.certain for verdict in verdicts)


def test_a_pair_is_judged_once_whatever_is_asked_with_it() -> None:
    model = Parrot("contradicts")
    judge = PairJudge(model)
    one, two = pair("Alec is the boss", "Bea is the boss"), pair("Tea at four", "Tea at five in the garden")

    judge.compare([one])
    judge.compare([one, two, two])

    assert model.asked == 2


@pytest.mark.parametrize("model", [None, Missing()])
def test_without_a_model_only_equal_texts_are_the_same(model: Missing | None) -> None:
    judge = PairJudge(model)

    verdicts = judge.compare(
        [pair("Alec is the boss", "alec is the boss"), pair("Alec leads", "Alec is boss")]
    )

    assert [verdict.relation for verdict in verdicts] == ["same", "distinct"]


def test_a_model_that_comes_back_is_asked_again() -> None:
    judge = PairJudge(None)
    given = pair("Alec leads the team", "Alec is the boss")
    judge.compare([given])

    judge._model = Parrot("same")

    assert judge.compare([given])[0].relation == "same"


@pytest.mark.parametrize(
    ("same", "contradicts", "relation", "certain", "reasons"),
    [
        (0.9, 0.05, "same", True, ()),
        (0.1, 0.8, "contradicts", True, ()),
        (0.1, 0.1, "distinct", True, ()),
        (0.45, 0.2, "distinct", False, (NEARLY_SAME,)),
        (0.2, 0.5, "distinct", False, (NEARLY_CONTRADICTS,)),
    ],
)
def test_each_relation_has_its_threshold(
    same: float, contradicts: float, relation: Relation, certain: bool, reasons: tuple[str, ...]
) -> None:
    verdict = decided(same, contradicts, same_from=0.54, contradicts_from=0.68, near=0.3, judge="reader/1")

    assert (verdict.relation, verdict.certain, verdict.reasons) == (relation, certain, reasons)
    assert verdict.judge == "reader/1"
