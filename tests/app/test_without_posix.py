"""Holdfast where POSIX is missing: simulated, because no test machine has Windows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.app import paths
from tests.requirements_ledger import requirement

pytestmark = pytest.mark.slow  # a process each

_IMPORT_ALL = """
import importlib, pkgutil
import holdfast
names = {each.name for each in pkgutil.walk_packages(holdfast.__path__, "holdfast.")}
for name in names - {"holdfast.store.migrations.env", "holdfast.__main__"}:  # these run at once
    importlib.import_module(name)
print(len(names) > 300)
"""
_COMMAND = """
from holdfast.cli import main
main()
"""
_HOLD_LOCK = """
import sys
from holdfast.app import file_lock
with file_lock.locked(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""
_TRY_LOCK = """
import sys
from holdfast.app import file_lock
print(file_lock.try_lock(file_lock.open_file(sys.argv[1])))
"""


def _without_posix(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*_command(program), *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        stdin=subprocess.DEVNULL,
    )


def _command(program: str) -> list[str]:
    return [sys.executable, "-c", f"import tests.app.without_posix\n{program}"]


@requirement("first.systems")
def test_every_module_can_be_imported() -> None:
    done = _without_posix(_IMPORT_ALL)

    assert (done.stdout, done.stderr) == ("True\n", "")


@requirement("first.systems")
def test_what_is_remembered_is_found_again_and_leaves_no_other_files() -> None:
    done = _without_posix(_COMMAND, "remember", "Takes 60s to start", "-c", "timing", "-s", "jellyfin")
    assert "Added" in done.stdout, done.stderr
    found = _without_posix(_COMMAND, "recall", "how long does jellyfin take to start")

    assert "Takes 60s to start" in found.stdout, found.stderr
    assert sorted(os.listdir(paths.home())) == ["holdfast.db", "holdfast.db-lock"]


@requirement("first.systems")
def test_the_service_runs_is_found_and_is_stopped() -> None:
    with subprocess.Popen(
        [*_command(_COMMAND), "serve", "--port", "0", "--json"], stdout=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        url = json.loads(service.stdout.readline())["url"]

        found = _without_posix(_COMMAND, "service", "status")
        stopped = _without_posix(_COMMAND, "service", "stop")

    assert found.stdout.startswith(f"Running at {url} (process {service.pid})"), found.stderr
    assert stopped.stdout == f"Stopped the service (process {service.pid})\n", stopped.stderr


@requirement("first.systems")
def test_a_lock_belongs_to_one_process_until_it_ends(tmp_path: Path) -> None:
    lock = str(tmp_path / "lock")
    with subprocess.Popen(
        [*_command(_HOLD_LOCK), lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"

        during = _without_posix(_TRY_LOCK, lock)
        holder.kill()
        holder.wait()
        after = _without_posix(_TRY_LOCK, lock)

    assert (during.stdout, after.stdout) == ("False\n", "True\n")


@requirement("first.systems")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "--", "claude", "-p", "hello"), "agents can't be run on Windows"),
        (("files", "init", "notes"), "folders can't be synced on Windows"),
    ],
)
def test_what_does_not_work_there_is_refused_in_one_line(arguments: tuple[str, ...], says: str) -> None:
    done = _without_posix(_COMMAND, *arguments)

    assert done.returncode == 3
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
