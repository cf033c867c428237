"""promtool, which tests the rules of Prometheus: the machine's own, else Debian's, unpacked only."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

# Read when the tests are collected: during a test the home directory is another one.
_ENVIRONMENT = dict(os.environ)
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "holdfast-tests"


def promtool() -> str:
    """The program. Loud where it must be there."""
    found = shutil.which("promtool") or _unpacked()
    if found is not None:
        return found
    reason = "NO PROMTOOL: whether the alerts fire was not tested. Install it: apt-get install prometheus"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _unpacked() -> str | None:
    if shutil.which("apt-get") is None:
        return None
    folder = _CACHE / "prometheus"
    program = folder / "usr" / "bin" / "promtool"
    folder.mkdir(parents=True, exist_ok=True)
    with (_CACHE / "prometheus.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test run may be at it
        if not program.exists():
            download = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "prometheus"]
            subprocess.run(download, cwd=folder, env=_ENVIRONMENT, capture_output=True, check=False)
            for package in folder.glob("prometheus_*.deb"):
                subprocess.run(["dpkg", "-x", package, folder], capture_output=True, check=False)
    return str(program) if program.exists() else None
