"""bench dashboard: run for real at a tiny size; every page is asked for, and held against the goals."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.quality.pages import MOST_KB, MOST_MS, views
from tests.doors.cli.conftest import Shell


def test_the_dashboard_benchmark_tells_time_and_size_of_every_page(
    sqlite_shell: Shell, tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"

    said = sqlite_shell.says("bench", "dashboard", "--size", "150", "--json", str(file))

    told = json.loads(file.read_text(encoding="utf-8"))
    assert told["memories"] == 150
    assert set(views()) <= set(told["pages"])
    assert "Memories, by recency, next page" in told["pages"]
    assert told["goals"] == {"ms": MOST_MS, "kilobytes": MOST_KB}
    for page in told["pages"].values():
        assert page["ms"] > 0
        assert page["kilobytes"] > 1
        quick, light = page["ms"] < MOST_MS - 1, page["kilobytes"] < MOST_KB - 1
        assert page["reached"] or not (quick and light)
    assert "the goals are 300 ms of server time and 150 KB a page" in said


def test_a_database_in_which_something_stands_already_is_refused(sqlite_shell: Shell, tmp_path: Path) -> None:
    place = str(tmp_path / "used.db")
    sqlite_shell.says("space", "create", "bench", "--db", place)

    result = sqlite_shell("bench", "dashboard", "--size", "10", "--on", place)

    assert result.exit_code != 0
    assert "name an empty database" in result.stderr
