"""Real agent programs for the tests, from the npm registry by the ordinary client, once a machine.

They live in the user's cache directory, outside of the repository: a checkout that is thrown away does not
take 350 MB with it, and two test runs at the same time share one copy.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

CLAUDE_CODE = "2.1.325"
CODEX = "0.166.0"
GEMINI = "0.61.0"
OPENCODE = "1.18.33"

# Read when the tests are collected: during a test the home directory is another one.
_ENVIRONMENT = dict(os.environ)
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "holdfast-tests"


class NotInstallable(Exception):
    """The program can't be had on this machine; the text says why."""


def claude_code() -> Path:
    """The native binary of Claude Code.

    Raises: NotInstallable.
    """
    packages = npm_packages(f"@anthropic-ai/claude-code@{CLAUDE_CODE}")
    # The launcher of the package wants a newer Node than machines have; the native binary wants none.
    name = "claude.exe" if sys.platform == "win32" else "claude"
    for binary in sorted((packages / "@anthropic-ai").glob(f"claude-code-*/{name}")):
        return binary
    raise NotInstallable(f"Claude Code {CLAUDE_CODE} has no binary for this platform")


def codex() -> Path:
    """The native binary of Codex.

    Raises: NotInstallable.
    """
    packages = npm_packages(f"@openai/codex@{CODEX}")
    for binary in sorted((packages / "@openai").glob("codex-*/vendor/*/bin/codex")):
        return binary
    raise NotInstallable(f"Codex {CODEX} has no binary for this platform")


def gemini() -> Path:
    """Gemini CLI, which runs on the machine's own Node.js.

    Raises: NotInstallable.
    """
    if shutil.which("node") is None:
        raise NotInstallable("there is no node: install Node.js 20 or newer")
    return npm_packages(f"@google/gemini-cli@{GEMINI}") / ".bin" / "gemini"


def opencode() -> Path:
    """The native binary of opencode.

    Raises: NotInstallable.
    """
    packages = npm_packages(f"opencode-ai@{OPENCODE}")
    for binary in sorted(packages.glob("opencode-*/bin/opencode")):
        if binary.parents[1].name != "opencode-ai":
            return binary
    raise NotInstallable(f"opencode {OPENCODE} has no binary for this platform")


def npm_packages(*specifications: str) -> Path:
    """The `node_modules` that holds these packages at exactly these versions.

    Raises: NotInstallable.
    """
    name = "_".join(sorted(each.replace("/", "-") for each in specifications))
    folder = _CACHE / name
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test run may be at it
        if not (folder / "complete").exists():
            _install(specifications, folder)
    return folder / "node_modules"


def _install(specifications: tuple[str, ...], folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstallable("there is no npm: install Node.js 18 or newer")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    done = subprocess.run(
        [npm, "install", *quiet, "--prefix", str(folder), *specifications],
        capture_output=True,
        text=True,
        timeout=280,
        stdin=subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NotInstallable(f"npm could not install {' '.join(specifications)}: {said[-1] if said else '?'}")
    (folder / "complete").touch()
