"""Capture costs no memory and no processes that stay: over thousands of messages both are flat."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements_ledger import requirement

#: Says and reads messages in a process of its own; tells what it holds now and then, a JSON line each.
PROGRAM = """
import gc, json, os, sys, threading
from holdfast import Memories
from holdfast.engine.sessions import NewMessage
from holdfast.engine.spaces import create_space
from holdfast.app.wiring import open_store, utc_now

url, total, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = open_store(url)
memories = Memories.of(store, "default")
page = os.sysconf("SC_PAGE_SIZE")

def told(done):
    gc.collect()
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * page
    children = open(f"/proc/self/task/{os.getpid()}/children").read().split()
    files = len(os.listdir("/proc/self/fd"))
    figures = dict(done=done, resident=resident, children=len(children), files=files)
    # A cancelled deadline of a model takes a moment to end.
    threads = [one for one in threading.enumerate() if not isinstance(one, threading.Timer)]
    print(json.dumps({**figures, "threads": len(threads)}), flush=True)

texts = [
    "We decided to move service {n} to host batch-{n} because the old one is slow.",
    "ok", "Can you look at the logs of run {n}?", "Sure, here is what I found in run {n}: nothing.",
    "thanks", "Anything else?", "hm, let me see", "Take your time.", "no idea", "go on",
]
told(0)
for done in range(0, total, each):
    session = f"talk-{done}"
    said = []
    for n in range(each):
        text = texts[n % len(texts)].format(n=done + n)
        role = "assistant" if n % 2 else "user"
        said.append(NewMessage(role=role, content=text, message_id=f"{session}-{n}"))
    memories.say_all(session, said)
    memories.capture(session)
    told(done + each)
memories.tend()
told(total)
store.close()
"""


def run(url: str, messages: int, each: int) -> list[dict[str, int]]:
    environment = {**os.environ, "HOLDFAST_EMBEDDER": "none"}
    command = [sys.executable, "-c", PROGRAM, url, str(messages), str(each)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_flat(figures: list[dict[str, int]], growth: int) -> None:
    """From a third of the way on, when all is loaded: no more processes, threads or files, little memory."""
    begun = figures[len(figures) // 3]
    end = figures[-1]
    assert end["children"] == 0
    assert max(each["threads"] for each in figures) <= begun["threads"]
    assert end["files"] <= begun["files"] + 2
    grown = end["resident"] - begun["resident"]
    assert grown < growth, f"{grown / 1e6:.1f} MB more: {[each['resident'] // 1_000_000 for each in figures]}"


@pytest.mark.slow
@requirement("sem.tap.http")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_and_processes_stay_flat_over_hundreds_of_messages(sqlite_url: str) -> None:
    figures = run(sqlite_url, 120, 10)

    assert figures[-1]["done"] == 120
    assert_flat(figures, 24_000_000)


@pytest.mark.faults
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_and_processes_stay_flat_over_ten_thousand_messages(database_url: str) -> None:
    figures = run(database_url, 10_000, 250)

    assert figures[-1]["done"] == 10_000
    assert_flat(figures, 24_000_000)
