"""The measure of the judge, and the floor under what it reaches on rows that it was not trained on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.relations import Pair, load, measure
from holdfast.app.wiring import own_judge
from holdfast.language.comparison import Relation, Statement, Verdict
from tests.requirements_ledger import requirement

TOLD = 24  # clusters of the test part that the suite looks at; `python -m bench relations` takes all


class Parrot:
    """A judge that always says the same."""

    def __init__(self, relation: Relation) -> None:
        self.relation: Relation = relation

    def compare(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        said = Verdict(relation=self.relation, certain=True, similarity=0.0, reasons=("as ever",))
        return [said for _ in pairs]


def pair(relation: Relation, domain: str = "ops") -> Pair:
    return Pair(
        id="x", domain=domain, known=Statement(text="a"), draft=Statement(text="b"), relation=relation, why=""
    )


def test_a_judge_that_merges_everything_merges_all_others_wrongly() -> None:
    report = measure(Parrot("same"), [pair("same"), pair("distinct"), pair("contradicts", "personal")])

    assert report.accuracy == pytest.approx(1 / 3, abs=1e-3)
    assert (report.false_merges, report.false_contradictions) == (1.0, 0.0)
    assert report.confusion["distinct"] == {"same": 1, "contradicts": 0, "distinct": 0}
    assert report.by_domain == {"ops": 0.5, "personal": 0.0}
    assert [mistake.verdict.reasons for mistake in report.mistakes] == [("as ever",), ("as ever",)]


def test_the_report_as_json_holds_the_figures() -> None:
    report = measure(Parrot("distinct"), [pair("distinct"), pair("same")])

    assert json.loads(json.dumps(report.as_json())) == {
        "bench": "relations",
        "metrics": {"accuracy": 0.5, "false_merges": 0.0, "false_contradictions": 0.0},
        "confusion": report.confusion,
        "pairs": 2,
        "by_domain": {"ops": 0.5},
    }


def test_no_pairs_give_an_empty_report() -> None:
    report = measure(Parrot("same"), [])

    assert (report.pairs, report.accuracy, report.false_merges) == (0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: an object is needed, not list"),
        (
            '{"id": "a", "domain": "ops", "existing": "x", "relation": "same"}',
            "line 2: missing or not a text: new",
        ),
        (
            '{"id": "a", "domain": "ops", "existing": "x", "new": "y", "relation": "alike"}',
            "line 2: relation 'alike' is none of same, contradicts, distinct",
        ),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong(tmp_path: Path, line: str, said: str) -> None:
    good = '{"id": "a", "domain": "ops", "existing": "x", "new": "y", "relation": "same"}'
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{good}\n{line}\n", encoding="utf-8")

    with pytest.raises(ValueError, match=said):
        load(path)


@requirement("models.shipped")
@pytest.mark.slow
def test_the_judge_holds_its_floor_on_clusters_it_was_not_trained_on() -> None:
    report = measure(own_judge(), [pair for pair in load() if int(pair.id.split("-")[0]) <= TOLD])

    assert report.pairs >= 12 * TOLD
    assert report.accuracy >= 0.84
    assert report.false_merges <= 0.03
    assert report.false_contradictions <= 0.07


@pytest.mark.slow
def test_texts_that_have_nothing_to_do_with_each_other_are_left_alone() -> None:
    pairs = [pair for pair in load() if pair.relation == "same"]
    strangers = [
        (pair.known, pairs[(place + 211) % len(pairs)].draft) for place, pair in list(enumerate(pairs))[::8]
    ]

    verdicts = own_judge().compare(strangers)

    assert [verdict.relation for verdict in verdicts].count("same") == 0
    assert sum(verdict.relation != "distinct" for verdict in verdicts) <= 0.02 * len(verdicts)
