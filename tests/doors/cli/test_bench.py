"""bench and the tour: figures for people and programs, and a first minute that really runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.doors.cli.tour import tour
from tests.doors.cli.conftest import Shell

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


def pairs_file(folder: Path) -> str:
    file = folder / "pairs.jsonl"
    file.write_text("\n".join(json.dumps(pair) for pair in PAIRS), encoding="utf-8")
    return str(file)


def test_the_bench_prints_a_table_and_writes_json(sqlite_shell: Shell, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"

    said = sqlite_shell.says("bench", "relations", "--data", pairs_file(tmp_path), "--json", str(figures))

    written = json.loads(figures.read_text(encoding="utf-8"))
    assert said.startswith("same, contradicts or distinct, 2 labelled pairs\n\nfigure")
    assert re.search(r"^accuracy +100\.0%  judged as labelled$", said, re.MULTILINE)
    assert written["bench"] == "relations"
    assert written["metrics"] == {"accuracy": 1.0, "false_merges": 0.0, "false_contradictions": 0.0}


def test_the_bench_prints_json_alone(sqlite_shell: Shell, tmp_path: Path) -> None:
    data = ("--data", pairs_file(tmp_path))

    asked = sqlite_shell.says("bench", "relations", *data, "--json", "-")
    globally = sqlite_shell.says("--json", "bench", "relations", *data)

    assert json.loads(asked)["metrics"]["accuracy"] == 1.0
    assert asked == globally


def test_the_bench_has_data_of_its_own(sqlite_shell: Shell) -> None:
    figures = json.loads(sqlite_shell.says("bench", "relations", "--json", "-"))

    assert figures["pairs"] == 200
    assert set(figures["metrics"]) == {"accuracy", "false_merges", "false_contradictions"}


def test_bad_data_is_named_with_its_line(sqlite_shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"id": "1"}\n', encoding="utf-8")

    result = sqlite_shell("bench", "relations", "--data", str(file))

    assert result.exit_code == 1
    assert f"holdfast: {str(file)!r} can't be used: line 1: missing" in result.stderr


def test_the_tour_leaves_the_users_store_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code = tour()

    assert code == 0
    assert capsys.readouterr().out.startswith("Holdfast in six commands")
    assert not (tmp_path / "home" / "data").exists()


def test_the_tour_shows_real_commands_with_real_output(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holdfast.doors.cli.tour"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n$ holdfast ") == 6
    for shown in ("added ", "reinforced ", "(0.7 -> 0.8)", "contradicts ", "## Memory", "0.8 -> 0.6"):
        assert shown in done.stdout
    assert done.stdout.endswith(" --help\n")
    assert not (tmp_path / "home" / "data").exists()
