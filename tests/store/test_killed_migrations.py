"""kill -9 in the middle of a migration leaves a database that opens, with everything that was in it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.requirements_ledger import requirement
from tests.store.test_migrations import MIGRATIONS, REVISIONS
from tests.store.test_older_databases import NEXT

ROOT = Path(__file__).parents[2]
# From the first revision to the next release every migration runs, and dies.
FIRST, *BETWEEN, LAST = REVISIONS
with_the_fault_loops = partial(pytest.param, marks=pytest.mark.faults)


def run(folder: Path, *arguments: str) -> list[list[object]]:
    command = [sys.executable, "-m", "tests.store.killed_migration", str(folder), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told: list[list[object]] = json.loads(done.stdout)
    return told


def next_release(folder: Path) -> Path:
    release = folder / "next_release"
    shutil.copytree(MIGRATIONS, release, ignore=shutil.ignore_patterns("__pycache__"))
    (release / "versions" / "9001_mood.py").write_text(NEXT.format(previous=REVISIONS[-1]))
    return release


@pytest.mark.slow
@requirement("ops.schema", "trust.durable")
def test_a_new_file_whose_making_was_killed_anywhere_opens(tmp_path: Path) -> None:
    told = run(tmp_path, "40")

    assert [died for died, _ in told[:-1]] == [True] * (len(told) - 1)
    assert len(told) > 2
    assert {said for _, said in told} == {"1 memories"}


@pytest.mark.slow
@requirement("ops.schema", "trust.durable")
@pytest.mark.parametrize("revision", [FIRST, *map(with_the_fault_loops, BETWEEN), LAST])
def test_an_older_file_whose_migration_was_killed_anywhere_opens_with_all_it_had(
    tmp_path: Path, revision: str
) -> None:
    release = next_release(tmp_path)

    told = run(tmp_path, "3" if revision == LAST else "25", revision, str(release))

    assert len(told) > 2
    assert sum(bool(died) for died, _ in told) == len(told) - 1
    assert {said for _, said in told} == {"4 memories"}


@pytest.mark.faults
@requirement("ops.schema", "trust.durable")
def test_a_new_file_whose_making_was_killed_at_any_statement_opens(tmp_path: Path) -> None:
    told = run(tmp_path, "1")

    assert len(told) > 60
    assert {said for _, said in told} == {"1 memories"}
