"""Hooks that are killed while they note something down: a note is whole or not there, and none is lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from holdfast.agents.hooks import spool
from holdfast.app import client_setup
from tests.requirements_ledger import requirement


def check(kills: int, home: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Kills hooks at every stage of their short lives; answers how many were killed in time."""
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.setattr(spool, "MAX_ENTRIES", 10_000)
    chance = random.Random(kills)
    made, killed = set(), 0
    for number in range(kills):
        code = _killed_after(chance.uniform(0.0, 0.12), f"s-{number}")
        if code == 0:
            made.add(f"s-{number}")
        else:
            assert code == -9
            killed += 1

    found = [spool.entry(path) for path in spool.waiting()]

    assert None not in found
    noted = {str(entry["session_id"]) for entry in found if entry is not None}
    assert made <= noted  # a hook that ended has noted it down
    assert all(entry is not None and entry["transcript_path"] == "/t.jsonl" for entry in found)
    return killed


def _killed_after(seconds: float, session: str) -> int:
    given = {"session_id": session, "transcript_path": "/t.jsonl", "hook_event_name": "Stop", "cwd": "/"}
    process = subprocess.Popen(
        [client_setup.command_path("holdfast-hook"), "Stop"], stdin=subprocess.PIPE, env=os.environ
    )
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(given).encode())
        process.stdin.close()
    except BrokenPipeError:
        pass
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()  # the one that was started above
        return process.wait()


@pytest.mark.slow
@requirement("trust.durable")
def test_killed_hooks_leave_whole_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(40, tmp_path / "holdfast", monkeypatch) > 0


@pytest.mark.faults
@requirement("trust.durable")
def test_500_killed_hooks_leave_whole_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(500, tmp_path / "holdfast", monkeypatch) >= 100
