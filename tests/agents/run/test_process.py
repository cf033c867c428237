"""The real program around agents that are scripts: signals reach them, and nobody is left behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration
from tests.agents.run.script import Script, stream
from tests.requirements_ledger import requirement

pytestmark = pytest.mark.slow  # a process for each run

# A busy machine may need longer for its imports than an agent waits for its memory.
PATIENT = """
from holdfast.cli import main
from holdfast.agents import run
run.TO_BEGIN = 60.0
main()
"""
PROGRAM = [sys.executable, "-c", PATIENT, "run", "--space", "ops", "--tier", "1", "--"]
LONG = 60.0  # seconds until a test gives up


@pytest.fixture
def db(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOLDFAST_DB", sqlite_url)
    store = open_store(sqlite_url)
    Administration(store).create_space("ops", profile="ops")
    store.close()
    return sqlite_url


@pytest.fixture
def agent(tmp_path: Path) -> Script:
    return Script(tmp_path / "agent")


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Runners that a test started; none outlives it."""
    runners: list[subprocess.Popen[bytes]] = []
    yield runners
    for runner in runners:
        runner.kill()
        runner.wait()
        for pipe in (runner.stdout, runner.stderr):
            if pipe:
                pipe.close()


def start(command: str, *words: str) -> subprocess.Popen[bytes]:
    """Runs an agent, and comes back when it has said its first line."""
    runner = subprocess.Popen(
        [*PROGRAM, command, "-p", "x", "--output-format", "stream-json", "--verbose", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert runner.stdout is not None
    assert runner.stdout.readline() == b"ready\n"
    return runner


def process_ids(agent: Script) -> list[int]:
    """Of the agent and of what it started."""
    return [int(file.read_text()) for file in sorted(agent.folder.glob("*.pid"))]


def all_gone(ids: list[int]) -> bool:
    """Whether these processes end within a while; does not look for it again and again."""
    for process_id in ids:
        try:
            descriptor = os.pidfd_open(process_id)
        except ProcessLookupError:
            continue
        try:
            if not select.select([descriptor], [], [], LONG)[0]:
                return False
        finally:
            os.close(descriptor)
    return True


# The helper itself says that all is ready: a process that is only just forked may still lose a signal.
WRITES_IDS = (
    'cd "$(dirname "$0")"; echo $$ > agent.pid\n'
    "sh -c 'echo $$ > child.pid; echo ready; exec sleep 600 2>/dev/null' &"
)


@requirement("ops.run")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1"])
def test_a_signal_reaches_the_agent_which_decides_how_to_end(
    db: str, agent: Script, started: list[subprocess.Popen[bytes]], name: str
) -> None:
    short = name.removeprefix("SIG")
    source = agent.folder / "last"
    source.write_bytes(stream("[MEMORY:timing:x] Was told to stop"))
    command = agent.does(
        f"trap 'cat {source}; kill -KILL $! 2>/dev/null; exit 7' {short}", WRITES_IDS, "wait"
    )
    runner = start(command)
    started.append(runner)

    runner.send_signal(getattr(signal, name))
    output, errors = runner.communicate(timeout=LONG)

    assert (runner.returncode, output, errors) == (7, source.read_bytes(), b"")
    with Memories.open(db, "ops") as memories:
        (memory,) = memories.find().memories
        session = memories.why(memory.id).session
    assert session is not None
    assert session.exit_code == 7


def test_an_agent_that_a_signal_ends_has_a_shells_exit_code(
    db: str, agent: Script, started: list[subprocess.Popen[bytes]]
) -> None:
    runner = start(agent.does(WRITES_IDS, "wait"))
    started.append(runner)

    runner.terminate()
    runner.communicate(timeout=LONG)

    assert runner.returncode == 128 + signal.SIGTERM
    assert all_gone(process_ids(agent))


@requirement("ops.run")
@pytest.mark.parametrize("stubborn", [False, True])
def test_a_runner_that_is_killed_leaves_no_agent(
    db: str, agent: Script, started: list[subprocess.Popen[bytes]], stubborn: bool
) -> None:
    trap = "trap '' TERM HUP INT" if stubborn else "true"
    runner = start(agent.does(trap, WRITES_IDS, "while :; do wait; done"))
    started.append(runner)
    ids = process_ids(agent)
    watchmen = children_of(runner.pid)

    runner.kill()
    runner.wait()

    assert len(ids) == 2
    assert all_gone(ids)
    assert all_gone(watchmen)


def test_nothing_is_left_of_a_run_that_ended_by_itself(db: str, agent: Script) -> None:
    command = agent.does('echo $PPID > "$(dirname "$0")/runner.pid"', "ps -o pid= --ppid $PPID > others")

    done = subprocess.run(
        [*PROGRAM, command, "-p", "x"], stdin=subprocess.DEVNULL, capture_output=True, cwd=agent.folder
    )

    assert done.returncode == 0
    others = [int(line) for line in (agent.folder / "others").read_text().split()]
    assert len(others) >= 2  # the agent and the watchman
    assert all_gone([*others, *process_ids(agent)])


def test_what_an_agent_leaves_behind_does_not_keep_the_runner(
    db: str, agent: Script, started: list[subprocess.Popen[bytes]]
) -> None:
    runner = start(agent.does(WRITES_IDS, code=5))
    started.append(runner)

    # Its output stays open, for the process that was left behind has it too.
    assert runner.wait(LONG) == 5
    for process_id in process_ids(agent):
        try:
            os.kill(process_id, signal.SIGKILL)
        except ProcessLookupError:
            continue


def test_a_caller_who_stops_reading_ends_the_agent_as_without_a_runner(
    db: str, agent: Script, started: list[subprocess.Popen[bytes]]
) -> None:
    runner = start(agent.does("echo ready", 'exec yes \'{"type":"system"}\''))
    started.append(runner)
    assert runner.stdout is not None

    runner.stdout.close()

    assert runner.wait(LONG) == 128 + signal.SIGPIPE


def test_standard_input_reaches_the_agent(db: str, agent: Script) -> None:
    command = agent.does("read -r line", 'echo "got $line" >&2')

    done = subprocess.run([*PROGRAM, command, "-p", "x"], input=b"a question\n", capture_output=True)

    assert done.stderr == b"got a question\n"


def children_of(process_id: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process_id)], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]
