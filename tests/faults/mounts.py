"""A tiny file system, or one that can't be written, for one program: in a mount namespace of its own."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ENTER = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]


@functools.cache
def why_not() -> str | None:
    """What keeps this machine from mounting privately; none when nothing does."""
    if shutil.which("unshare") is None:
        return "there is no `unshare` here"
    tried = subprocess.run(
        [*ENTER, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True, check=False
    )
    return None if tried.returncode == 0 else tried.stderr.strip()


def run_on(mount: str, folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command that sees the result of `mount` at `folder`; skips loudly where that is not allowed."""
    if (reason := why_not()) is not None:
        pytest.skip(f"PRIVATE MOUNTS ARE NOT ALLOWED HERE, only the page limit was tested: {reason}")
    script = f'{mount} && exec "$@"'
    return subprocess.run(
        [*ENTER, "sh", "-ec", script, "sh", *command],
        cwd=folder.parent,
        capture_output=True,
        text=True,
        check=False,
    )
