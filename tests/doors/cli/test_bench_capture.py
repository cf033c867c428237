"""The benchmarks around capture: what it costs, and that recall does not suffer from it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.doors.cli.conftest import Shell
from tests.quality.talks import LOCOMO


def test_the_cost_of_capture_is_told_in_seconds_and_against_keeping_alone(sqlite_shell: Shell) -> None:
    figures = json.loads(sqlite_shell.says("bench", "capture", "--messages", "60", "--json", "-"))

    assert figures["messages"] == 60
    assert figures["memories"] > 0
    assert figures["capture_seconds"] > 0
    assert figures["capture_to_keeping"] > 0


def test_conversations_can_be_read_in_through_the_tap(sqlite_shell: Shell, tmp_path: Path) -> None:
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps(LOCOMO), encoding="utf-8")

    direct = json.loads(sqlite_shell.says("bench", "locomo", "--data", str(data), "--json", "-"))
    tapped = json.loads(
        sqlite_shell.says("bench", "locomo", "--data", str(data), "--through-tap", "--json", "-")
    )

    assert "captured" not in direct
    assert tapped["captured"] >= 0
    assert tapped["metrics"] == direct["metrics"]
