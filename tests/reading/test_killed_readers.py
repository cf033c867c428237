"""kill -9 of readers between any two steps: nothing is lost, nothing doubles, every call is counted."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.jobs import LEASE, MOST_ATTEMPTS
from holdfast.engine.sessions import NewMessage
from holdfast.testing import FixedClock
from tests.conftest import NewDatabase
from tests.reading.scripted import Asked, Json, Scripted, fact, well
from tests.requirements_ledger import requirement

ROOT = Path(__file__).parents[2]
SEED = 20261115
MOST_STEPS = 40  # a reading of one session has fewer


def found(asked: Asked) -> list[Json]:
    """One fact that is new, and one that rewords what the rules found."""
    [line] = [line for line in asked.lines("\nCONVERSATION") if "pushed" in line["text"]]
    number = line["text"].split("week ")[1].split(",")[0]
    [known] = [one for one in asked.lines("KNOWN MEMORIES") if f"batch-{number}" in one["text"]]
    return [
        fact(f"Petra pushed the review to week {number}.", message=line["message"]),
        fact(
            f"Oslo could not make the nightly job {number} earlier.",
            message=line["message"],
            relation="updates",
            of=known["memory"],
        ),
    ]


def talk(memories: Memories, number: int) -> None:
    session = f"s{number}"
    memories.open_session(session, project=session)
    texts = (
        f"The nightly job {number} runs on host batch-{number}.",
        f"so Petra pushed our review to week {number}, Oslo could not make it earlier",
    )
    memories.say_all(
        session,
        [
            NewMessage(role="user", content=text, message_id=f"{session}-m{place}")
            for place, text in enumerate(texts)
        ],
    )
    memories.close_session(session)


@contextmanager
def parent(database: str, server: Scripted) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.reading.dying_readers", database, server.url]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def run(process: subprocess.Popen[str], step: int, seconds: float) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{step} {seconds}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


class Trial:
    """One database, one server, and sessions that are read by processes that die."""

    def __init__(self, memories: Memories, server: Scripted, process: subprocess.Popen[str]) -> None:
        self._memories = memories
        self._server = server
        self._process = process
        self._seconds = 0.0
        self.sessions = 0
        self.killed = Counter[int]()

    def read(self, *steps: int) -> bool:
        """Has a new session read by one that dies at each of the steps, then to its end; whether all died."""
        self.sessions += 1
        talk(self._memories, self.sessions)
        for step in steps:
            if self._run(step) == "done":
                return False
            self.killed[step] += 1
        assert self._run(0) == "done"
        return True

    def check(self) -> None:
        check(self._memories, self.sessions, len(self._server.asked))

    def _run(self, step: int) -> str:
        self._seconds += LEASE.total_seconds() + 1  # what the last one held is free again
        told = run(self._process, step, self._seconds)
        assert told in ("killed", "done")
        return told


@contextmanager
def trial(database: str) -> Iterator[Trial]:
    with (
        Scripted(well(found)).running() as server,
        Memories.of(open_store(database), "default", clock=FixedClock()) as memories,
        parent(database, server) as process,
    ):
        yield Trial(memories, server, process)


def check(memories: Memories, sessions: int, asked: int) -> None:
    kept = Counter((memory.content, memory.version) for memory in memories.find().memories)
    expected = [
        entry
        for number in range(1, sessions + 1)
        for entry in (
            (f"Oslo could not make the nightly job {number} earlier.", 2),
            (f"Petra pushed the review to week {number}.", 1),
        )
    ]
    assert kept == Counter(expected)
    assert memories.jobs("queued") == memories.jobs("running") == memories.jobs("failed") == []
    spent = memories.spend().total
    assert spent.calls >= asked >= 2 * sessions
    assert spent.micro_dollars > 0


@requirement("sem.extract", "sem.cost")
@pytest.mark.parametrize(
    "stride", [pytest.param(20, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.faults)]
)
def test_a_kill_between_steps_loses_and_doubles_nothing(new_database: NewDatabase, stride: int) -> None:
    with trial(new_database()) as tried:
        step = 1
        while tried.read(step):
            step += stride
        tried.check()

    assert tried.killed.total() >= 30 // stride


@pytest.mark.faults
@pytest.mark.timeout(1_800)
@requirement("sem.extract", "sem.cost")
def test_500_kills_between_steps_lose_and_double_nothing(sqlite_url: str) -> None:
    chance = random.Random(SEED)
    later = [MOST_STEPS // 2] * (MOST_ATTEMPTS - 2)  # after one more death a job would be given up
    with trial(sqlite_url) as tried:
        while tried.killed.total() < 500:
            tried.read(*(chance.randint(1, most) for most in (MOST_STEPS, *later)))
        tried.check()

    assert len(tried.killed) > 30  # between many different steps
