"""`make test` measures branches and refuses too little coverage: tried on a planted package."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.requirements_ledger import requirement

REPOSITORY = Path(__file__).parents[2]
# With x true alone every line runs, but of each `if` only one way is taken.
PLANTED = "def f(x):\n    y = 0\n" + "    if x:\n        y += 1\n" * 20 + "    return y\n"


def arguments_of_make_test() -> list[str]:
    """What `make test` gives to pytest."""
    command = ["make", "--dry-run", "--no-print-directory", "test"]
    said = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    words = shlex.split(said.splitlines()[-1].partition("-m pytest")[2])
    return [*words[: words.index("-n") + 1], "0", *words[words.index("--durations=25") :]]  # in one process


def run_on_planted(directory: Path, test: str) -> subprocess.CompletedProcess[str]:
    """The run that `make test` makes, with our coverage settings, on a package of the same name."""
    (directory / "holdfast").mkdir()
    (directory / "holdfast/__init__.py").write_text(PLANTED)
    (directory / "test_planted.py").write_text(f"from holdfast import f\n\ndef test_f():\n    {test}\n")
    (directory / "pytest.ini").write_text("[pytest]\n")
    settings = f"--cov-config={REPOSITORY / 'pyproject.toml'}"
    command = [sys.executable, "-m", "pytest", *arguments_of_make_test(), settings, "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(directory)}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


@requirement("quality.coverage")
def test_a_run_that_takes_too_few_branches_fails(tmp_path: Path) -> None:
    done = run_on_planted(tmp_path, "assert f(True)")

    assert "1 passed" in done.stdout
    assert "Required test coverage of 85% not reached" in done.stdout
    assert done.returncode != 0


@requirement("quality.coverage")
def test_a_run_that_takes_every_branch_passes(tmp_path: Path) -> None:
    done = run_on_planted(tmp_path, "assert f(True) > f(False)")

    assert "Required test coverage of 85% reached" in done.stdout
    assert done.returncode == 0
