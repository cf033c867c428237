"""`python -m bench`: each benchmark runs for real at a tiny size; no figure is judged."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench.__main__ import bench
from bench.commands import overview, speed
from bench.pages import MOST_KB, MOST_MS, views
from bench.speed import report
from bench.tasks import load
from tests.bench import talks
from tests.loopback import Answer
from tests.reading.scripted import USAGE, Asked, Scripted, said
from tests.requirements_ledger import requirement

PAIRS = [
    {"id": "1", "domain": "ops", "existing": "Takes 60s", "new": "Takes 60s", "relation": "same"},
    {
        "id": "2",
        "domain": "ops",
        "existing": "Takes 60s to start",
        "new": "Takes 30s to start",
        "relation": "contradicts",
    },
]
CONVERSATION = {
    "id": "1",
    "messages": [{"role": "user", "text": "Please remember that Petra pays the rent."}],
    "remember": True,
    "facts": [{"content": "Petra pays the rent", "kind": "person"}],
    "why": "a fact",
}


def run(*words: str) -> Result:
    runner = CliRunner(env={"HOLDFAST_DEBUG": "1"}, catch_exceptions=False)
    return runner.invoke(bench, list(words), prog_name="bench")


def figures(*words: str) -> Any:
    done = run(*words, "--json", "-")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def lines(file: Path, *rows: Any) -> str:
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(file)


def test_a_benchmark_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    written = tmp_path / "figures.json"

    done = run("relations", "--data", lines(tmp_path / "pairs.jsonl", *PAIRS), "--json", str(written))

    metrics = json.loads(written.read_text(encoding="utf-8"))["metrics"]
    assert done.stdout.startswith("same, contradicts or distinct, 2 labelled pairs\n\nfigure")
    assert re.search(r"^accuracy +100\.0%  judged as labelled$", done.stdout, re.MULTILINE)
    assert metrics == {"accuracy": 1.0, "false_merges": 0.0, "false_contradictions": 0.0}


def test_it_runs_as_a_module_and_names_bad_data_in_one_line(tmp_path: Path) -> None:
    data = tmp_path / "pairs.jsonl"
    data.write_text('{"id": "1"}\n', encoding="utf-8")
    command = [sys.executable, "-m", "bench", "relations", "--data", str(data)]

    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 1
    assert f"{str(data)!r} can't be used: line 1: missing" in done.stderr
    assert done.stderr.count("\n") == 1


def test_gate_prints_pairs_and_writes_figures(tmp_path: Path) -> None:
    told = figures("gate", "--data", lines(tmp_path / "rows.jsonl", CONVERSATION))

    assert told["metrics"]["accuracy"] == told["metrics"]["captured"] == 1.0
    assert told["pairs"][0]["memories"] == ["Petra pays the rent."]


def test_capture_tells_its_cost_beside_that_of_keeping_alone() -> None:
    told = figures("capture", "--messages", "20")

    assert told["messages"] == 20
    assert told["capture_to_keeping"] > 0


def test_locomo_is_read_and_asked_through_the_product(tmp_path: Path) -> None:
    data = str(talks.written(tmp_path / "locomo10.json", talks.locomo()))

    told = figures("locomo", "--data", data)
    tapped = figures("locomo", "--data", data, "--through-tap")

    assert (told["bench"], told["left_out"], told["embedder"]) == ("locomo", 1, None)
    assert told["metrics"]["turn.R@5.single-hop"] == told["metrics"]["session.hit@5"] == 1.0
    assert {"turn.R@10", "turn.NDCG@10", "session.all@5", "adversarial.R@10"} <= told["metrics"].keys()
    assert tapped["metrics"] == told["metrics"]


def test_longmemeval_is_read_and_asked_through_the_product(tmp_path: Path) -> None:
    data = talks.written(tmp_path / "longmemeval_s.jsonl.gz", talks.longmemeval())

    told = figures("longmemeval", "--data", str(data))

    assert told["questions"] == {"abstention": 1, "single-session-user": 1}
    assert told["metrics"]["turn.R@5.single-session-user"] == told["metrics"]["session.hit@5"] == 1.0
    assert "abstention.session.hit@5" in told["metrics"]


def test_a_week_is_played_from_capture_to_the_prompts(tmp_path: Path) -> None:
    fact = {
        "id": "f1",
        "content": "The user's name is Jonas.",
        "from": "my name is Jonas",
        "kind": "context",
        "about": "person",
    }
    first = [{"role": "user", "text": "By the way, my name is Jonas.", "facts": [fact], "helps": []}]
    second = [
        {"role": "user", "text": "Sign the letter with my name.", "helps": ["f1"]},
        {"role": "user", "text": "ok", "helps": []},
    ]
    rows = [
        {"session": "s1", "project": "shop", "at": "2026-03-02T09:00:00Z", "turns": first},
        {"session": "s2", "project": "shop", "at": "2026-03-03T09:00:00Z", "turns": second},
    ]
    data = talks.written(tmp_path / "weeks_1.jsonl", rows)

    metrics = figures("week", "--data", str(data))["metrics"]

    assert metrics["captured"] == metrics["helped"] == 1.0
    assert metrics["junk"] == metrics["corrections"] == 0.0


FACT = "The UPS carries 250 W at most."
TASK = {
    "id": "power",
    "project": "homelab",
    "prompt": "May the new server draw 300 W?",
    "needs": [{"says": FACT, "about": ["UPS"], "right": "250 W"}],
    "sessions": [
        {"at": "2026-03-02T09:00:00Z", "project": "homelab", "turns": [{"role": "user", "text": FACT}]}
    ],
}
MISSED = {**TASK, "id": "missed", "needs": [{"says": "Use VLAN 30.", "about": [], "right": "VLAN 30"}]}


def test_a_task_takes_a_turn_less_where_memory_holds_what_it_needs(tmp_path: Path) -> None:
    told = figures("tasks", "--data", str(talks.written(tmp_path / "tasks.jsonl", [TASK, MISSED])))

    assert told["turns"] == {"without": {"power": 2, "missed": 2}, "with": {"power": 1, "missed": 2}}
    assert (told["metrics"]["without.at_once"], told["metrics"]["with.at_once"]) == (0, 1)
    assert told["metrics"]["without.tokens_out"] > told["metrics"]["with.tokens_out"]


@pytest.mark.parametrize("vendor", ["anthropic", "openai"])
def test_tasks_are_done_by_a_language_model_that_is_asked_over_http(tmp_path: Path, vendor: str) -> None:
    def play(asked: Asked) -> Answer:
        knows = FACT in f"{asked.system} {asked.user}"
        kind, text = ("answer", "No, 250 W at most") if knows else ("question", "How strong is the UPS?")
        return said(asked, json.dumps({"kind": kind, "text": text}))

    data = str(talks.written(tmp_path / "tasks.jsonl", [TASK]))
    with Scripted(play).running() as server:
        told = figures("tasks", "--data", data, "--model", server.spec(vendor, "scripted"))

    counted = [told["metrics"][f"{run}.tokens_in"] for run in ("without", "with")]
    assert told["turns"] == {"without": {"power": 2}, "with": {"power": 1}}
    assert counted == [2 * USAGE[0], USAGE[0]]  # as the server counts


def test_no_task_of_ours_tells_in_its_prompt_what_it_needs() -> None:
    tasks = load(None)

    assert len({task.id for task in tasks}) == 30
    for task in tasks:
        for need in task.needs:
            assert need.right in need.says
            assert need.seen not in task.prompt


def test_months_are_read_and_asked_through_the_product(tmp_path: Path) -> None:
    said = [{"id": "s01-1", "role": "user", "text": "The oak must come down by Friday."}]
    rows: list[dict[str, Any]] = [
        {"session": "s01", "date": "2026-01-09", "messages": said},
        {"question": "When must the oak come down?", "asked": "2026-07-01", "evidence": ["s01-1"]},
    ]
    data = talks.written(tmp_path / "months_1.jsonl", rows)

    assert figures("months", "--data", str(tmp_path))["metrics"]["turn.R@5"] == 1.0

    talks.written(data, [rows[0], {**rows[1], "evidence": ["s02-1"]}])
    refused = CliRunner().invoke(bench, ["months", "--data", str(data)])
    assert "which is no message" in refused.output


def test_the_dashboard_benchmark_asks_for_every_page() -> None:
    told = figures("dashboard", "--size", "20", "--rounds", "1")

    assert told["memories"] == 20
    assert set(views()) <= set(told["pages"])
    assert told["goals"] == {"ms": MOST_MS, "kilobytes": MOST_KB}


@pytest.mark.slow
def test_hooks_are_measured_beside_the_bare_interpreter() -> None:
    told = figures("hooks", "--size", "10", "--runs", "3")

    found = told["10"]["quiet"]
    assert found.keys() == {"SessionStart", "UserPromptSubmit", "Stop"}
    assert found["SessionStart"].keys() == {"p50_ms", "p95_ms", "cpu_ms", "fell_back"}


def test_a_directory_is_measured() -> None:
    assert figures("files", "--files", "20")["files"] == 20


@pytest.mark.slow
def test_the_overview_prints_its_rows_and_names_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    speed = ("speed", "--sizes", "1k", "--spaces", "0", "--rounds", "3", "--no-slices", "--against", "floor")
    monkeypatch.setattr(overview, "_QUICK", (speed, ("dashboard", "--size", "20", "--rounds", "1")))
    written = tmp_path / "figures.json"

    done = run("overview", "--json", str(written), "--plot", str(tmp_path / "growth.svg"))

    rows = json.loads(written.read_text(encoding="utf-8"))["rows"]
    assert {row["bench"] for row in rows} == {"speed", "dashboard"}
    for row in rows:
        assert re.search(rf"^{re.escape(row['goal'])} +{row['value']:g}( |$)", done.stdout, re.MULTILINE)
    assert "python -m bench locomo" in done.stdout
    assert (tmp_path / "growth.svg").read_text(encoding="utf-8").startswith("<svg")


@requirement("sem.speed")
@pytest.mark.slow
def test_the_speed_benchmark_tells_costs_ratios_and_goals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "_LEAST", 5)
    monkeypatch.setattr(speed, "_BULK", 10)
    monkeypatch.setattr(report, "PROMISED", 5)
    told = figures(
        "speed", "--sizes", "5", "--spaces", "2", "--rounds", "3", "--against", "floor,langgraph",
        "--plot", str(tmp_path / "cost.svg"),
    )  # fmt: skip

    metrics = told["metrics"]
    for verb in (
        "recall",
        "recall.without_reader",
        "recall.filtered",
        "recall.after_a_write",
        "remember",
        "vectors",
        "numpy",
        "brief",
    ):
        assert metrics[f"{verb}.wall_ms@5"] > 0
    for job in (
        "transcript",
        "opencode",
        "capture",
        "vectors",
        "new_files",
        "gone_files",
        "briefs",
        "upkeep",
    ):
        assert metrics[f"slice.{job}_ms@5"] > 0
    assert metrics["floor.remember.with_vector.wall_ms@5"] > 0
    assert metrics["langgraph.recall.cpu_ms@5"] > 0
    assert metrics["judging.longest.cpu_ms@5"] >= metrics["judging.cpu_ms@5"] > 0
    assert metrics["recall.among_others.ratio@5"] > 0
    promised = {goal["goal"]: goal for goal in told["goals"]}
    assert promised["store and search, 5 memories, ms"]["at_most"] == 500
    assert promised["search 5 memories over HTTP, ms"]["at_most"] == 100
    assert promised["search 5 memories over HTTP, ms"]["value"] == metrics["http.recall.wall_ms"]
    assert (tmp_path / "cost.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("sizes", ["5", "1g", "", "-5"])
def test_what_is_no_size_is_refused(sizes: str) -> None:
    done = run("speed", "--sizes", sizes)

    assert done.exit_code == 2
    assert "is no size: use for example 1k,10k,100k,1M" in done.stderr
