"""The real program in a process of its own: exit codes, pipes, colour, signals, standard input."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memories
from tests.requirements_ledger import requirement

pytestmark = pytest.mark.slow  # a process for each command

PROGRAM = [sys.executable, "-m", "holdfast"]


@pytest.fixture
def db(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memories]:
    """The store that every command of a test works on."""
    monkeypatch.setenv("HOLDFAST_DB", sqlite_url)
    with Memories.open(sqlite_url) as memories:
        yield memories


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, **options)  # type: ignore[call-overload, no-any-return]


def on_terminal(*arguments: str, **environment: str) -> str:
    """What the program shows on a terminal."""
    leader, follower = pty.openpty()
    settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    process = subprocess.Popen(
        [*PROGRAM, *arguments], stdin=follower, stdout=follower, stderr=follower, env=settings
    )
    os.close(follower)
    shown = b""
    while select.select([leader], [], [], 30)[0]:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not piece:
            break
        shown += piece
    process.wait(timeout=60)
    os.close(leader)
    return shown.decode()


@requirement("sem.cli")
def test_the_exit_code_tells_done_refused_wrong_usage_and_unavailable(db: Memories) -> None:
    kept = run("remember", "Lives in Lisbon")
    missing = run("show", "nowhere0")
    wrong = run("remember")
    away = run("remember", "Lives in Lisbon", "--db", "/proc/none/holdfast.db")

    assert [kept.returncode, missing.returncode, wrong.returncode, away.returncode] == [0, 1, 2, 3]
    assert [done.stderr.count("\n") for done in (kept, missing, wrong, away)] == [0, 1, 1, 1]
    assert "Traceback" not in "".join(done.stderr for done in (missing, wrong, away))


@requirement("sem.cli")
def test_a_pipe_gets_plain_text_and_a_terminal_a_table_with_colour(db: Memories) -> None:
    db.remember("Lives in Lisbon")

    piped, shown = run("list").stdout, on_terminal("list")
    without = on_terminal("list", NO_COLOR="1")

    assert "\x1b" not in piped
    assert "(confidence 0.7)" in piped
    assert "\x1b[36m" in shown
    assert "updated" in shown
    assert "\x1b[36m" not in without
    assert "Lives in Lisbon" in without


def test_text_comes_in_by_a_pipe(db: Memories) -> None:
    done = run("remember", "-", "--json", input="Grüße aus Lisboa\n")

    assert json.loads(done.stdout)["memory"]["content"] == "Grüße aus Lisboa"


def test_an_output_that_knows_few_letters_gets_escapes(db: Memories) -> None:
    db.remember("漢字")
    poor = {**os.environ, "PYTHONIOENCODING": "latin-1"}

    text, answer = run("list", env=poor), run("list", "--json", env=poor)

    assert (text.returncode, answer.returncode) == (0, 0)
    assert "\\u6f22\\u5b57" in text.stdout
    assert json.loads(answer.stdout)["memories"][0]["content"] == "漢字"


@pytest.mark.parametrize("command", [["list"], ["export"]])
def test_a_reader_that_leaves_early_gets_no_complaint(db: Memories, command: list[str]) -> None:
    for number in range(30):
        db.remember(f"fact {number} about thing {number}")
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run([*PROGRAM, *command], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)

    assert done.stderr == ""


@pytest.mark.parametrize(
    "command", [["list"], ["list", "--json"], ["show", "nowhere0", "--json"], ["--help"]]
)
def test_an_output_that_is_full_is_told_in_one_line(db: Memories, command: list[str]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([*PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, text=True)

    assert done.returncode == 1
    told = "there is no memory" if "show" in command else "No space left on device (set HOLDFAST_DEBUG=1"
    assert done.stderr.startswith(f"holdfast: {told}")
    assert done.stderr.count("\n") == 1


def test_closed_standard_streams_are_survived(db: Memories) -> None:
    command = f"'{sys.executable}' -m holdfast remember 'Lives in Lisbon' <&- >&-"

    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    assert [memory.content for memory in db.find().memories] == ["Lives in Lisbon"]


def test_an_interrupt_ends_quietly_with_130(db: Memories) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "remember", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _wait_until_it_reads(process.pid)

    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=60)

    assert process.returncode == 130
    assert (said, complained.strip()) == ("", "")


def _wait_until_it_reads(pid: int) -> None:
    """Python has started and sleeps in a read of the pipe."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if "pipe" in Path(f"/proc/{pid}/wchan").read_text(encoding="ascii"):
            return
        time.sleep(0.02)  # another process can't be awaited otherwise


def test_a_question_on_a_terminal_is_asked_and_may_be_denied(db: Memories) -> None:
    db.remember("Lives in Lisbon")
    [kept] = [memory.id for memory in db.find().memories]
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "erase", kept], stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    os.close(follower)

    os.write(leader, b"n\n")
    said, asked = process.communicate(timeout=60)
    os.close(leader)

    assert process.returncode == 1
    assert said == ""
    assert "This erases 1 memory" in asked
    assert "Nothing was changed" in asked
    assert [memory.id for memory in db.find().memories] == [kept]


def test_what_nobody_foresaw_is_one_line_and_a_traceback_on_request(db: Memories) -> None:
    program = (
        "import holdfast.engine.memories as m\n"
        "def find(*a, **k): raise RuntimeError('the moon\\nfell')\n"
        "m.Memories.find = find\n"
        "from holdfast.cli import main\n"
        "import sys; sys.argv = ['holdfast', 'list', '--json']; main()"
    )

    plain = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    debugged = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "HOLDFAST_DEBUG": "1"},
    )

    assert plain.returncode == 1
    assert plain.stderr == "holdfast: RuntimeError: the moon (set HOLDFAST_DEBUG=1 for a traceback)\n"
    assert json.loads(plain.stdout)["error"]["kind"] == "unforeseen"
    assert "Traceback" in debugged.stderr
