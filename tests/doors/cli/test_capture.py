"""`holdfast capture` and `holdfast bench gate`: what people see, and what programs read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.wiring import open_store
from tests.doors.cli.conftest import Shell
from tests.requirements_ledger import requirement

ROW = {
    "id": "one",
    "messages": [{"role": "user", "text": "Please remember that Petra pays the rent."}],
    "remember": True,
    "facts": [{"content": "Petra pays the rent", "kind": "person"}],
    "why": "explicit",
}


def hears(shell: Shell, text: str, session: str = "s") -> None:
    with Memories.of(open_store(shell.db), "default", clock=shell.clock) as memories:
        memories.say(session, "user", text)


def test_what_waits_is_read_and_told_once(sqlite_shell: Shell) -> None:
    hears(sqlite_shell, "Petra is our landlord.")

    said = sqlite_shell.says("capture")

    assert said.startswith("session s: 1 message read\n")
    assert "Petra is our landlord." in said
    assert sqlite_shell.says("capture") == "nothing to read: all is up to date\n"


def test_one_session_can_be_asked_for(sqlite_shell: Shell) -> None:
    hears(sqlite_shell, "Petra is our landlord.", "a")

    answer = sqlite_shell.json("capture", "--session", "a")

    (read,) = answer["sessions"]
    assert (read["session"], read["messages"], len(read["outcomes"])) == ("a", 1, 1)
    refused = sqlite_shell("capture", "--session", "b")
    assert refused.exit_code == 1
    assert "there is no session 'b'" in refused.output


@requirement("trust.quiet")
def test_where_it_is_quiet_it_says_so(sqlite_shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    hears(sqlite_shell, "Petra is our landlord.")
    monkeypatch.setenv("HOLDFAST_QUIET", "1")

    assert sqlite_shell.says("capture") == "session s: nothing read, HOLDFAST_QUIET is set\n"
    assert sqlite_shell.json("list")["memories"] == []


def test_the_bench_prints_pairs_and_figures_and_writes_json(sqlite_shell: Shell, tmp_path: Path) -> None:
    data, figures = tmp_path / "rows.jsonl", tmp_path / "figures.json"
    data.write_text(json.dumps(ROW), encoding="utf-8")

    said = sqlite_shell.says("bench", "gate", "--data", str(data), "--json", str(figures))

    written = json.loads(figures.read_text(encoding="utf-8"))
    assert "expected: Petra pays the rent\n  kept: Petra pays the rent." in said
    assert written["metrics"] == {
        "accuracy": 1.0,
        "precision": 1.0,
        "recall": 1.0,
        "captured": 1.0,
        "invented": 0.0,
    }
    assert written["pairs"][0]["memories"] == ["Petra pays the rent."]


def test_data_that_cannot_be_used_is_named(sqlite_shell: Shell, tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text("nothing", encoding="utf-8")

    refused = sqlite_shell("bench", "gate", "--data", str(data))

    assert refused.exit_code == 1
    assert "line 1" in refused.output
