"""A warm parent of processes that do one kind of work: imported once, a new one takes milliseconds.

Run as `python -m tests.faults.nursery DATABASE LEDGER`. Each line on standard input, `KIND NUMBERS LIMIT`
with a kind of `WORK`, forks one process a number and is answered by their process ids once all of them
have opened the database. At the end of input they finish what they are at, and the last line gives their
exit codes.

A writer appends a line to the ledger after each `remember` that returned, never before. A new writer with
the number of a dead one goes on after its last line: the write whose outcome nobody knows is made again,
under its key.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import FrameType
from typing import NoReturn

import holdfast.store.database  # noqa: F401  - imported late by the product, early here
from holdfast import Memories
from holdfast.domain.outcomes import settled
from holdfast.store import sqlite
from tests.engine.scripted_judge import ScriptedJudge
from tests.marking_reader import MarkingReader

READY = b"r"


def text_of(key: str) -> str:
    """What a writer says under a key; no two say the same."""
    writer, number = key.split("-")
    return f"Writer {writer} noted the item numbered {number}"


class Line:
    """A file to which many processes append whole lines."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def append(self, line: str) -> None:
        os.write(self._descriptor, f"{line}\n".encode())


def write(memories: Memories, ledger: Path, number: int, limit: int, stopped: Callable[[], bool]) -> None:
    acked = [line.split()[0] for line in ledger.read_text().splitlines()] if ledger.exists() else []
    mine = [int(key.split("-")[1]) for key in acked if key.startswith(f"{number}-")]
    line = Line(ledger)
    for item in _numbers(max(mine, default=0) + 1, limit):
        if stopped():
            return
        key = f"{number}-{item}"
        memory = settled(memories.remember(text_of(key), subject=key, key=key))
        assert memory is not None, key
        line.append(f"{key} {memory.id}")


def read(memories: Memories, ledger: Path, number: int, limit: int, stopped: Callable[[], bool]) -> None:
    line = Line(ledger.with_suffix(".reads"))
    for _ in _numbers(1, limit):
        if stopped():
            return
        page = memories.find(limit=5)
        for memory in page.memories:
            details = memories.show(memory.id)
            assert details.versions, memory.id
        line.append(f"{number} {page.total}")


def hold(memories: Memories, ledger: Path, number: int, limit: int, stopped: Callable[[], bool]) -> None:
    """Takes one job after another: reads what was said in a session."""
    reader = Memories.of(memories.store, memories.space, builtin_model=MarkingReader(), judge=ScriptedJudge())
    for _ in _numbers(1, limit):
        if stopped():
            return
        reader.capture_due()


WORK = {"writer": write, "reader": read, "holder": hold}


def _numbers(first: int, limit: int) -> Iterator[int]:
    return iter(range(first, limit + 1)) if limit else count(first)


def _live(kind: str, database: str, ledger: Path, number: int, limit: int, ready: int) -> NoReturn:
    """The whole life of a forked process."""
    asked: list[int] = []

    def ask(received: int, _frame: FrameType | None) -> None:
        asked.append(received)

    signal.signal(signal.SIGTERM, ask)
    code = 0
    try:
        with Memories.open(database) as memories:
            os.write(ready, READY)
            os.close(ready)
            WORK[kind](memories, ledger, number, limit, lambda: bool(asked))
    except BaseException:
        Line(ledger.with_suffix(".errors")).append(traceback.format_exc())
        code = 1
    os._exit(code)


def main(database: str, ledger: Path) -> None:
    sqlite.LOG_LIMIT = 600_000  # bytes: a checkpoint every few writes, so that faults fall into some
    pids: list[int] = []
    for request in sys.stdin:
        kind, numbers, limit = request.split()
        started = []
        for number in numbers.split(","):
            answer, ready = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(answer)
                _live(kind, database, ledger, int(number), int(limit), ready)
            os.close(ready)
            started.append((pid, answer))
        for _, answer in started:
            os.read(answer, 1)  # ready, or dead
            os.close(answer)
        pids += [pid for pid, _ in started]
        sys.stdout.write(json.dumps([pid for pid, _ in started]) + "\n")
        sys.stdout.flush()
    for pid in pids:
        if limit == "0":
            os.kill(pid, signal.SIGTERM)  # not reaped yet, so the id is still its own
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    sys.stdout.write(json.dumps(codes) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
