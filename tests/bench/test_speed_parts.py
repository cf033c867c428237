"""The parts of the speed benchmark: made-up memories, medians, goals and the plot."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from bench.speed.corpus import DIMENSIONS, Corpus, GeneratedEmbedder, topic_words
from bench.speed.cost import Meter, Patience, cost_of
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
    "recall.cpu_ms": 6.0,
    "recall.filtered.wall_ms": 9.0,
    "vectors.ratio": 1.5,
    "remember.wall_ms": 12.0,
    "remember.ratio": 1.9,
    "remember.with_vector.wall_ms": 20.0,
    "memory_mb": 120.0,
}
THEIRS = {"recall.wall_ms": 16.0, "recall.filtered.wall_ms": 3.0, "remember.with_vector.wall_ms": 100.0}


def test_figures_are_named_with_their_size_and_held_against_the_goals() -> None:
    report = SpeedReport(0, ours={0: {"bulk.share": 0.7}, 10_000: OURS}, rivals={"mem0": {10_000: THEIRS}})

    told = report.as_json()

    assert told["bench"] == "speed"
    assert told["metrics"]["recall.cpu_ms@10000"] == 6.0
    assert told["metrics"]["bulk.share"] == 0.7
    assert told["metrics"]["mem0.recall.wall_ms@10000"] == 16.0
    reached = {goal["goal"]: goal["reached"] for goal in told["goals"]}
    assert reached == {
        "store and search, 10,000 memories, ms": True,
        "recall, 10,000 memories, CPU ms": False,
        "vectors against a bare product, 10,000 memories": True,
        "remember against a bare insert, 10,000 memories": True,
        "memory, 10,000 memories, MB": True,
        "bulk import against the embedder alone": False,
        "recall against mem0, 10,000 memories": True,
        "filtered recall against mem0, 10,000 memories": False,
        "adding one against mem0, 10,000 memories": False,
    }


def test_growth_is_told_where_both_sizes_were_measured() -> None:
    report = SpeedReport(0, ours={10_000: OURS, 1_000_000: {**OURS, "recall.cpu_ms": 150.0}})

    [growth] = [goal for goal in report.goals() if goal.says.startswith("recall, 1,000,000 against")]

    assert (growth.figure, growth.reached) == (25.0, False)


def test_the_plot_is_an_svg_for_light_and_dark_with_every_line_named() -> None:
    lines = {"recall": {1_000: 4.0, 10_000: 5.0}, "numpy <bare>": {1_000: 0.1, 10_000: 1.0}}

    picture = drawn("Cost & size", lines)

    root = ElementTree.fromstring(picture)
    texts = {element.text for element in root.iter() if element.tag.endswith("text")}
    assert {"Cost & size", "recall", "numpy <bare>", "1k", "10k", "0.1 ms", "10 ms"} <= texts
    assert "prefers-color-scheme: dark" in picture
    assert picture.count("<polyline") == 2
