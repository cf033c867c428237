"""Ten ways to be broken, and the real hook command line in each: in time, with code 0 and valid output.

A few runs of each mode here, 30 of every event in `make faults`. Where the fault is behind the service, the
service is the real one in a process of its own.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.agents.hooks.command import BESIDE, BROKEN_SERVICE, NO_SERVICE, SLOW_SERVICE
from holdfast.app import paths
from tests.faults.broken_services import BrokenService, answers_rubbish, drips, never_answers
from tests.faults.hook_runs import EVENTS, Runs, run_hooks
from tests.faults.mounts import run_on
from tests.requirements_ledger import requirement

ROOT = Path(__file__).parents[2]
BRIEF = "- the ready-made brief"
SHOWN = f"{BRIEF}\n\n{BESIDE.format(file='CLAUDE.md')}"
ASKING = ("SessionStart", "UserPromptSubmit")

few = pytest.mark.slow
many = [pytest.param(1, marks=few, id="few"), pytest.param(30, marks=pytest.mark.faults, id="all")]
Prepare = Callable[[], None]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with a ready-made brief in it."""
    folder = tmp_path / "holdfast"
    monkeypatch.setenv("HOLDFAST_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    paths.write_private(paths.brief_file("default", None), BRIEF.encode())
    return folder


@contextmanager
def serving(home: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The real service on this data directory."""
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(home), **environment},
    )
    assert process.stdout is not None
    try:
        assert json.loads(process.stdout.readline())["url"]
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()  # by its id: it is the one that was started above
            process.communicate()


def went_on_alone(runs: Runs, home: Path, *, times: int, says: str) -> None:
    """Every run was well, and each of those that ask went on with what was ready."""
    assert runs.wrong == []
    assert runs.made == times * len(EVENTS)
    assert runs.told("SessionStart") == [f"{SHOWN}\n{says}"] * times
    assert runs.told("UserPromptSubmit") == [""] * times
    for event in ("Stop", "PreCompact", "SessionEnd"):
        assert runs.told(event) == [""] * times
    log = (home / "hooks.log").read_text().splitlines()
    assert len([line for line in log if any(event in line for event in ASKING)]) == times * len(ASKING)


def spooled(home: Path) -> set[str]:
    return {json.loads(file.read_text())["session_id"] for file in (home / "spool").glob("*.json")}


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("times", many)
def test_service_dead(home: Path, times: int) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    paths.write_private(
        paths.service_file(), json.dumps({"url": "http://127.0.0.1:9", "pid": dead.pid}).encode()
    )
    paths.write_private(paths.token_file(), b"a-token")

    runs = run_hooks(times, home)

    went_on_alone(runs, home, times=times, says=NO_SERVICE)
    assert spooled(home) == {f"s-{number}" for number in range(times)}


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("times", many)
def test_service_hanging(home: Path, times: int) -> None:
    service = BrokenService(home, never_answers)

    runs = run_hooks(times, home)

    service.close()
    went_on_alone(runs, home, times=times, says=SLOW_SERVICE)
    assert service.connections == times * len(EVENTS)
    assert spooled(home) == {f"s-{number}" for number in range(times)}


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("times", many)
@pytest.mark.parametrize(("deal", "says"), [(answers_rubbish, BROKEN_SERVICE), (drips, SLOW_SERVICE)])
def test_service_answering_rubbish(home: Path, times: int, deal: Callable[..., None], says: str) -> None:
    service = BrokenService(home, deal)

    runs = run_hooks(times, home)

    service.close()
    went_on_alone(runs, home, times=times, says=says)
    assert service.connections == times * len(EVENTS)
    assert spooled(home) == {f"s-{number}" for number in range(times)}


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("times", many)
def test_database_locked(home: Path, times: int) -> None:
    Memories.open().close()
    with serving(home), _locked(home / "holdfast.db"):
        runs = run_hooks(times, home)

    assert runs.wrong == []
    assert runs.made == times * len(EVENTS)
    assert runs.told("SessionStart") == [f"{SHOWN}\n{SLOW_SERVICE}"] * times  # a brief is put on record


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("times", many)
def test_database_missing(home: Path, times: int) -> None:
    (home / "gone").write_text("not a folder: no database can be made there either")

    with serving(home, HOLDFAST_DB=str(home / "gone" / "holdfast.db")):
        runs = run_hooks(times, home)

    went_on_alone(runs, home, times=times, says=BROKEN_SERVICE)


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("times", many)
def test_database_corrupt(home: Path, times: int) -> None:
    with Memories.open() as memories:
        memories.remember("Deploys run on Fridays")
    database = home / "holdfast.db"
    size = database.stat().st_size
    database.write_bytes(os.urandom(size))

    with serving(home):
        runs = run_hooks(times, home)

    went_on_alone(runs, home, times=times, says=BROKEN_SERVICE)
    assert database.stat().st_size == size


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("times", many)
def test_database_newer(home: Path, times: int) -> None:
    Memories.open().close()
    connection = sqlite3.connect(home / "holdfast.db")
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()

    with serving(home):
        runs = run_hooks(times, home)

    went_on_alone(runs, home, times=times, says=BROKEN_SERVICE)


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("times", many)
def test_embedder_hanging(home: Path, tmp_path: Path, times: int) -> None:
    with Memories.open() as memories:
        memories.remember("Deploys run on Fridays")
    embedder = BrokenService(tmp_path / "embedder", never_answers)
    where = json.loads((tmp_path / "embedder" / "service.json").read_text())["url"]

    with serving(home, HOLDFAST_EMBEDDER=f"openai:a-model@{where}/v1", HOLDFAST_EMBEDDER_KEY="k"):
        runs = run_hooks(times, home)

    embedder.close()
    assert runs.wrong == []
    assert runs.made == times * len(EVENTS)
    assert all("Fridays" in context for context in runs.told("SessionStart"))  # needs no embedder
    assert embedder.connections > 0


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("times", many)
@pytest.mark.parametrize("size", ["full", "read-only"])
def test_disk_full_or_home_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, size: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = tmp_path / "small"
    folder.mkdir()
    home = folder / "holdfast"
    ready = f"mkdir -p {home}/briefs/default && printf '%s' '{BRIEF}' > {home}/briefs/default/=.md"
    spoil = f"head -c 1000000 /dev/zero > {folder}/ballast || true"
    if size == "read-only":
        spoil = f"mount -o remount,ro {folder}"
    mount = f"mount -t tmpfs -o size=64k tmpfs {folder} && {ready} && {{ {spoil}; }} 2>/dev/null"

    done = run_on(mount, folder, [sys.executable, "-m", "tests.faults.hook_runs", str(times), str(home)])

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert told["made"] == times * len(EVENTS)
    assert told["contexts"]["SessionStart"] == [f"{SHOWN}\n{NO_SERVICE}"] * times


@contextmanager
def _locked(database: Path) -> Iterator[None]:
    """Another process holds the database and does not let go."""
    program = (
        "import sqlite3, sys, fcntl\n"
        "lock = open(sys.argv[1] + '-lock', 'a'); fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.communicate()
