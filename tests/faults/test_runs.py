"""`holdfast run` on a disk that is full or read-only: the agent runs, and one line says what is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.agents.run.script import Script
from tests.faults.mounts import run_on
from tests.requirements_ledger import requirement

pytestmark = pytest.mark.slow

ANSWER = "All is up.\n[MEMORY:timing:jellyfin] Takes 60s to start"
PROGRAM = f"{sys.executable} -m holdfast"


@requirement("ops.run.resilient")
@pytest.mark.parametrize(
    ("mount", "spoil"),
    [
        ("mount -t tmpfs -o size=2M tmpfs {folder}", "cat /dev/zero > {folder}/ballast 2>/dev/null || true"),
        ("mount -t tmpfs -o size=9M tmpfs {folder}", "mount -o remount,ro {folder}"),
    ],
    ids=["full", "read-only"],
)
def test_the_agent_runs_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mount: str, spoil: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    folder = tmp_path / "disk"
    folder.mkdir()
    agent = Script(tmp_path / "agent")
    db = f"--db {folder}/holdfast.db --space ops"
    script = "\n".join(
        [
            f"{PROGRAM} space create ops --profile ops --db {folder}/holdfast.db >/dev/null 2>&1",
            spoil.format(folder=folder),
            f"{PROGRAM} run {db} --tier 2 -- {agent.says(ANSWER, code=3)} -p Check",
        ]
    )

    done = run_on(mount.format(folder=folder), folder, ["sh", "-c", script])

    assert (done.returncode, done.stdout) == (3, f"{ANSWER}\n")
    assert done.stderr.startswith("holdfast: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"{folder}/holdfast.db: " in done.stderr
