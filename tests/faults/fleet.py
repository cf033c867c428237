"""Writers and readers as processes of their own, from a test's side."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHECKER = Path(__file__).with_name("plain_check.py")

PATIENCE = 60.0  # seconds until a fleet that makes no progress counts as stuck

#: What `plain_check` counts when nothing acknowledged was lost and nothing was doubled.
ALL_WELL = {
    "lost": 0,
    "doubled": 0,
    "key answers another": 0,
    "without key": 0,
    "without version 1": 0,
    "without journal entry": 0,
    "journal has gaps": 0,
    "integrity": "ok",
    "foreign keys": 0,
}


class Fleet:
    """A nursery and the processes that it forked; use it as a context manager."""

    def __init__(self, database: str, ledger: Path) -> None:
        self.ledger = ledger
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery", database, str(ledger)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        if self._nursery.poll() is None:
            self.finish()

    def start(self, kind: str, numbers: Iterable[int], limit: int = 0) -> list[int]:
        """Process ids, once every one has opened the database; `limit` 0 means until `finish`."""
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.write(f"{kind} {','.join(map(str, numbers))} {limit}\n")
        self._nursery.stdin.flush()
        pids: list[int] = json.loads(self._nursery.stdout.readline())
        return pids

    def finish(self) -> list[int]:
        """Exit codes of all that were ever started, when all have ended."""
        output, _ = self._nursery.communicate()
        codes: list[int] = json.loads(output.splitlines()[-1])
        return codes

    def acked(self) -> list[str]:
        return self.ledger.read_text().splitlines() if self.ledger.exists() else []

    def wait_for(self, more: int) -> list[str]:
        """The ledger, once it has so many lines more than now."""
        wanted = len(self.acked()) + more
        deadline = time.monotonic() + PATIENCE
        while len(acked := self.acked()) < wanted:
            assert time.monotonic() < deadline, f"{len(acked)} writes where {wanted} were expected"
            time.sleep(0.002)
        return acked

    def errors(self) -> str:
        """What processes died of, but for signals."""
        file = self.ledger.with_suffix(".errors")
        return file.read_text() if file.exists() else ""


def plain_check(database: Path, ledger: Path) -> dict[str, Any]:
    """What another process finds in the database with plain sqlite3."""
    command = [sys.executable, "-I", "-S", str(CHECKER), str(database), str(ledger)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counted: dict[str, Any] = json.loads(done.stdout)
    return counted
