"""bench speed: run for real at a small size; its figures are held against its own goals, never seconds."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Shell
from tests.requirements_ledger import requirement


@requirement("sem.speed")
@pytest.mark.slow
def test_the_speed_benchmark_tells_costs_ratios_and_goals(sqlite_shell: Shell, tmp_path: Path) -> None:
    figures, plot = tmp_path / "figures.json", tmp_path / "cost.svg"

    said = sqlite_shell.says(
        "bench", "speed", "--sizes", "200,1k", "--spaces", "3", "--json", str(figures), "--plot", str(plot)
    )

    told = json.loads(figures.read_text(encoding="utf-8"))
    metrics = told["metrics"]
    for verb in (
        "recall",
        "recall.filtered",
        "recall.after_a_write",
        "remember",
        "vectors",
        "numpy",
        "brief",
    ):
        assert metrics[f"{verb}.wall_ms@1000"] > 0
    assert metrics["remember.ratio@1000"] > 0
    assert metrics["recall.among_others.ratio@1000"] > 0
    assert metrics["memory_mb@1000"] > 1
    promised = {goal["goal"]: goal for goal in told["goals"] if goal["goal"].startswith(("store", "search"))}
    assert promised["store and search, 200 memories, ms"]["at_most"] == 500
    assert promised["search 1,000 memories over HTTP, ms"]["at_most"] == 100
    assert promised["search 1,000 memories over HTTP, ms"]["figure"] == metrics["http.recall.wall_ms"]
    assert "milliseconds for one call" in said
    assert "remember against a bare insert, 1,000 memories" in said
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")


@pytest.mark.slow
def test_a_filled_store_is_used_again(sqlite_shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    options = ("bench", "speed", "--sizes", "100", "--spaces", "0", "--folder", str(folder), "--json", "-")

    first = json.loads(sqlite_shell.says(*options))
    size = (folder / "100" / "holdfast.db").stat().st_size
    second = json.loads(sqlite_shell.says(*options))

    assert first["metrics"].keys() == second["metrics"].keys()
    assert size > 0
    assert "recall.among_others.wall_ms@100" not in second["metrics"]


@pytest.mark.parametrize("sizes", ["5", "1g", "", "1k,,2k", "-5", "1e3", "99999M"])
def test_what_is_no_size_is_refused(sqlite_shell: Shell, sizes: str) -> None:
    result = sqlite_shell("bench", "speed", "--sizes", sizes)

    assert result.exit_code == 2
    assert "is no size: use for example 1k,10k,100k,1M" in result.stderr


def test_an_unknown_rival_is_refused(sqlite_shell: Shell) -> None:
    result = sqlite_shell("bench", "speed", "--against", "chromadb,memory9000")

    assert result.exit_code == 2
    assert "'memory9000' is unknown: use chromadb, mem0" in result.stderr
