"""Runs the real hook command line many times and looks at every run: exit code, output, errors, time.

Also a program, for runs that need a mount of their own: `python -m tests.faults.hook_runs RUNS HOME` prints
what came of them as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.app import client_setup

DEADLINE = 1.0  # seconds from the start of the process to its end
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
_MARK = "HOLDFAST_TEST_RUN"


@dataclass
class Runs:
    """What a number of runs came to."""

    made: int = 0
    contexts: dict[str, list[str]] = field(default_factory=dict)  # by event
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def told(self, event: str) -> list[str]:
        return self.contexts.get(event, [])


def run_hooks(runs: int, home: Path, events: Sequence[str] = EVENTS, **environment: str) -> Runs:
    """Runs every event in turn, `runs` times each."""
    mark = uuid.uuid4().hex
    told = Runs()
    for number in range(runs):
        for event in events:
            _run(event, number, told, {**os.environ, "HOLDFAST_HOME": str(home), _MARK: mark, **environment})
    told.wrong += [f"process {pid} is left" for pid in _left(mark)]
    return told


def _run(event: str, number: int, told: Runs, environment: dict[str, str]) -> None:
    given = {
        "session_id": f"s-{number}",
        "transcript_path": os.path.join(environment["HOLDFAST_HOME"], "nowhere.jsonl"),
        "cwd": os.getcwd(),
        "hook_event_name": event,
        "source": "startup",
        "prompt": "When do deploys run?",
    }
    bare = _seconds([sys.executable, "-c", "pass"], environment)[0]
    command = [client_setup.command_path("holdfast-hook"), event]
    seconds, done = _seconds(command, environment, json.dumps(given).encode())
    told.made += 1
    told.seconds.append(seconds)
    # A machine that takes long for nothing at all gives everybody that much more.
    if seconds > DEADLINE + max(bare - 0.1, 0) * 2:
        told.wrong.append(f"{event} took {seconds:.3f} s (the bare interpreter {bare:.3f} s)")
    if done.returncode != 0:
        told.wrong.append(f"{event} ended with {done.returncode}")
    if done.stderr:
        told.wrong.append(f"{event} complained: {done.stderr[:200]!r}")
    context = _context(event, done.stdout)
    if context is None:
        told.wrong.append(f"{event} printed {done.stdout[:200]!r}")
    else:
        told.contexts.setdefault(event, []).append(context)


def _seconds(
    command: Sequence[str], environment: dict[str, str], given: bytes = b""
) -> tuple[float, subprocess.CompletedProcess[bytes]]:
    start = time.perf_counter()
    done = subprocess.run(command, input=given, capture_output=True, env=environment)
    return time.perf_counter() - start, done


def _context(event: str, printed: bytes) -> str | None:
    """The text for the conversation, empty for no output; none for an output that no host would take."""
    if not printed:
        return ""
    try:
        answer: Any = json.loads(printed.decode())
        inner = answer["hookSpecificOutput"]
        fits = len(printed.decode()) <= 10_000 and inner["hookEventName"] == event
        return str(inner["additionalContext"]) if fits and len(answer) == 1 else None
    except (ValueError, KeyError, TypeError):
        return None


def _left(mark: str) -> list[str]:
    """Processes that came from one of the runs and are still there."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{_MARK}={mark}".encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:  # gone meanwhile
            continue
    return found


if __name__ == "__main__":
    result = run_hooks(int(sys.argv[1]), Path(sys.argv[2]))
    json.dump(
        {
            "made": result.made,
            "wrong": result.wrong,
            "contexts": result.contexts,
            "slowest": max(result.seconds),
        },
        sys.stdout,
    )
