"""The parts of the speed benchmark: made-up memories, medians, goals and the plot."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from bench.goals import rows, table_of
from bench.speed import stops
from bench.speed.corpus import DIMENSIONS, Corpus, GeneratedEmbedder, topic_words
from bench.speed.cost import Meter, Patience, cost_of
from bench.speed.peers import measure
from bench.speed.plot import drawn
from bench.speed.report import SpeedReport

CATEGORIES = ("fact", "user")


def test_the_same_seed_gives_the_same_memories_and_questions() -> None:
    one, again, other = Corpus(CATEGORIES), Corpus(CATEGORIES), Corpus(CATEGORIES, seed=1)

    assert list(one.facts(0, 50)) == list(again.facts(0, 50)) != list(other.facts(0, 50))
    assert one.question(7) == again.question(7)
    assert len({fact.content for fact in one.facts(0, 500)}) == 500


def test_generated_vectors_have_length_one_and_lie_in_clusters() -> None:
    embedder, corpus = GeneratedEmbedder(), Corpus(CATEGORIES)

    vectors = embedder.matrix([fact.content for fact in corpus.facts(0, 300)])
    topic = topic_words()[0][0]
    one, other = embedder.matrix([f"The {topic} is red", f"I paint the {topic} tomorrow"])

    assert vectors.dtype == np.float32
    assert vectors.shape == (300, DIMENSIONS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert float(one @ other) == pytest.approx(0.5, abs=0.2)
    assert abs(float((vectors[0] @ vectors[1:].T).mean())) < 0.1


def test_what_is_metered_apart_is_left_out() -> None:
    meter = Meter()

    def work() -> None:
        with meter.running():
            sum(range(2_000_000))

    alone, without = cost_of(work), cost_of(work, meter)

    assert without.cpu < alone.cpu / 2


def test_work_is_repeated_as_often_as_patience_lasts_but_three_times_at_least() -> None:
    assert len(list(Patience(5, seconds=60).rounds())) == 5
    assert len(list(Patience(5, seconds=-1).rounds())) == 3


OURS = {
    "recall.wall_ms": 8.0,
    "recall.cpu_ms": 7.0,
    "remember.with_vector.cpu_ms": 12.0,
    "remember.with_vector.wall_ms": 20.0,
    "memory_mb": 120.0,
}
THEIRS = {"recall.wall_ms": 16.0, "recall.cpu_ms": 3.0}


def test_figures_are_named_with_their_size_and_held_against_the_goals() -> None:
    ours = {0: {"bulk.share_unjudged": 0.7}, 10_000: OURS}
    report = SpeedReport(0, ours=ours, peers={"mem0": {10_000: THEIRS}})

    told = report.as_json()

    assert told["bench"] == "speed"
    assert told["metrics"]["recall.cpu_ms@10000"] == 7.0
    assert told["metrics"]["mem0.recall.wall_ms@10000"] == 16.0
    assert {goal["goal"]: goal.get("reached") for goal in told["goals"]} == {
        "store and search, 10,000 memories, ms": True,
        "the same and storing its vector, 10k": None,
        "the same without judging": False,
        "recall without embedding, 10k": False,
        "memory, MB, 10k": True,
    }


def test_a_row_of_the_table_is_a_row_of_the_json_with_peers_beside() -> None:
    told = SpeedReport(0, ours={10_000: OURS}, peers={"mem0": {10_000: THEIRS}}).as_json()

    [row] = [row for row in told["goals"] if row["figure"] == "recall.cpu_ms@10000"]
    shown = table_of([row])

    assert row["beside"] == {"mem0": {"cpu_ms": 3.0, "wall_ms": 16.0}}
    assert shown.rows == [["recall without embedding, 10k", "7", "<= 6", "no", "8", "3 / 16"]]


def test_what_was_not_measured_has_no_row() -> None:
    assert [row["figure"] for row in rows("gate", {"metrics": {"accuracy": 0.95}})] == ["accuracy"]


def test_growth_is_told_where_both_sizes_were_measured() -> None:
    report = SpeedReport(0, ours={10_000: OURS, 1_000_000: {**OURS, "recall.cpu_ms": 175.0}})

    [growth] = [row for row in report.as_json()["goals"] if row["figure"] == "growth"]

    assert (growth["value"], growth["reached"]) == (25.0, False)


@pytest.mark.parametrize("name", ["floor", "langgraph"])
def test_a_peer_stores_and_finds(name: str, tmp_path: Path) -> None:
    found = measure(name, Corpus(CATEGORIES), 20, tmp_path)

    assert found["recall.cpu_ms"] > 0
    assert found["remember.with_vector.wall_ms"] > 0


def test_the_plot_is_an_svg_for_light_and_dark_with_every_line_named() -> None:
    lines = {"recall": {1_000: 4.0, 10_000: 5.0}, "numpy <bare>": {1_000: 0.1, 10_000: 1.0}}

    picture = drawn("Cost & size", lines)

    root = ElementTree.fromstring(picture)
    texts = {element.text for element in root.iter() if element.tag.endswith("text")}
    assert {"Cost & size", "recall", "numpy <bare>", "1k", "10k", "0.1 ms", "10 ms"} <= texts
    assert "prefers-color-scheme: dark" in picture
    assert picture.count("<polyline") == 2


@pytest.mark.slow
def test_a_service_is_stopped_in_the_midst_of_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", "set again by each run")
    monkeypatch.setattr(stops, "WORK", {name: stops.WORK[name] for name in ("upkeep", "files")})

    found = dict(stops.stops(size=20, moments=[0.0]))

    assert found.keys() == {"upkeep", "files"}
    assert all(len(took) == 1 for took in found.values())
