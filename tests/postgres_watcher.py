"""Stops the PostgreSQL of a test run that was killed; the run holds this process's standard input open.

Run as `python postgres_watcher.py DIRECTORY`; needs the standard library only.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 10.0  # seconds for an immediate shutdown


def main(directory: Path) -> None:
    sys.stdin.read()  # returns when the run has ended, however it ended
    pid_file = directory / "postmaster.pid"
    with suppress(FileNotFoundError, ProcessLookupError, IndexError, ValueError):
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGQUIT)
        deadline = time.monotonic() + PATIENCE
        while pid_file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
