"""up: from a home directory with old transcripts to a first recall, in one command that may be repeated."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from holdfast.doors.cli import running
from holdfast.doors.cli.units import serve_command
from tests.doors.importers.written import SAMPLES
from tests.requirements_ledger import requirement

pytestmark = pytest.mark.slow  # real commands, real services

COMMAND = (sys.executable, "-c", "from holdfast.doors.cli import main; main()")


class Machine:
    """A user's home directory, and commands run there as a user would."""

    def __init__(self, home: Path) -> None:
        self.home = home
        # No service manager and no client is found by its command: only what lies in the home directory.
        kept = {name: os.environ[name] for name in ("HOLDFAST_EMBEDDER", "LANG") if name in os.environ}
        self.environment = {**kept, "HOME": str(home), "PATH": str(home / "bin"), "PYTHONPATH": "src"}

    @property
    def data(self) -> Path:
        return self.home / ".local" / "share" / "holdfast"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*COMMAND, *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=200)

    def json(self, *arguments: str) -> Any:
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def services(self) -> list[int]:
        """The processes that serve this home."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                of_this = f"HOME={self.home}".encode() in (folder / "environ").read_bytes().split(b"\0")
            except OSError:  # gone, or somebody else's
                continue
            if of_this and b"serve" in words:
                found.append(int(folder.name))
        return found

    def files(self) -> dict[str, bytes]:
        """What lies in the home directory, but for our own data."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and not path.is_relative_to(self.data)
        }


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path / "user")
    made.home.mkdir()
    yield made
    for process in made.services():
        os.kill(process, signal.SIGKILL)


@pytest.fixture
def used(machine: Machine) -> Machine:
    """A machine whose user has worked with three clients."""
    places = {
        ".claude/projects/-srv-user-proj/a.jsonl": "claude_code_resumed_compacted.jsonl",
        ".claude/projects/-srv-user-proj/b.jsonl": "claude_code_with_subagent.jsonl",
        ".codex/sessions/2026/11/15/rollout-1.jsonl": "codex_rollout.jsonl",
        ".gemini/tmp/proj/chats/session-1.jsonl": "gemini_chat.jsonl",
    }
    for place, sample in places.items():
        file = machine.home / place
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SAMPLES / sample, file)
    return machine


@requirement("first.recall")
def test_one_command_ends_with_a_recall_from_the_users_own_past(used: Machine) -> None:
    told = used.json("up", "--yes")

    assert told["transcripts"]["sessions"] == 4
    assert told["transcripts"]["new"] == 12
    assert told["service"]["started"] is True
    assert set(told["connect"]["connected"]) == {"claude-code", "codex", "gemini"}
    assert told["recall"]["question"] == "What did I say about Alec and boss?"
    texts = [hit["message"]["content"] for hit in told["recall"]["hits"]]
    assert any("Alec is my boss by the way" in text for text in texts)
    assert used.services() == [told["service"]["pid"]]


@requirement("first.recall")
def test_doing_it_again_changes_nothing(used: Machine) -> None:
    first = used.json("up", "--yes")
    files = used.files()

    again = used.json("up", "--yes")

    assert (again["transcripts"]["messages"], again["transcripts"]["new"]) == (12, 0)
    assert (again["service"]["pid"], again["service"]["started"]) == (first["service"]["pid"], False)
    assert again["connect"]["connected"] == {"claude-code": [], "codex": [], "gemini": []}
    assert again["recall"]["question"] == first["recall"]["question"]
    assert used.files() == files
    assert len(used.services()) == 1


def test_people_read_each_step_and_the_recall_last(used: Machine) -> None:
    done = used.run("up", "--yes")

    steps = [line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert done.returncode == 0, done.stdout + done.stderr
    assert steps == ["memories", "transcripts", "service", "connect", "recall"]
    assert (
        "“STUB:toolsearch STUB:mcp STUB:bash Alec is my boss by the way” (you, 2026-11-15 07:07, in proj)"
        in (done.stdout)
    )


def test_nothing_that_was_there_is_touched_but_the_clients_settings(used: Machine) -> None:
    before = used.files()

    used.json("up", "--yes", "--without", "service")

    changed = {name for name, content in used.files().items() if before.get(name) != content}
    assert all(used.files()[name] == content for name, content in before.items())
    assert changed <= {
        ".claude/settings.json",
        ".claude.json",
        ".codex/hooks.json",
        ".codex/config.toml",
        ".gemini/settings.json",
    }


def test_a_machine_without_a_past_is_set_up_all_the_same(machine: Machine) -> None:
    told = machine.json("up", "--yes")

    assert told["transcripts"] == {"done": True, "found": 0}
    assert told["connect"]["connected"] == {}
    assert (told["service"]["done"], told["recall"]["question"]) == (True, None)


def test_steps_can_be_left_out(used: Machine) -> None:
    told = used.json(
        "up", "--yes", "--without", "service", "--without", "connect", "--without", "transcripts"
    )

    assert set(told) == {"memories", "recall"}
    assert used.services() == []


def test_where_nobody_can_be_asked_nothing_is_done(used: Machine) -> None:
    done = used.run("up")

    assert done.returncode == 2
    assert "there is nobody to ask: add --yes to agree" in done.stderr
    assert not used.data.exists()


def test_a_person_is_asked_before_anything_is_read_started_or_changed(used: Machine) -> None:
    before = used.files()
    ours, theirs = pty.openpty()
    command = [*COMMAND, "up"]
    with subprocess.Popen(
        command, env=used.environment, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        os.write(ours, b"n\n" * 6)
        told, asked = process.communicate(timeout=100)
    os.close(ours)
    os.close(theirs)

    assert process.returncode == 0, asked
    assert "4 sessions with 12 messages of claude-code, codex, gemini on this machine. Read them in?" in asked
    assert "Start the service in the background?" in asked
    assert "Connect Claude Code" in asked
    assert told.count("left alone") == 5
    assert used.files() == before
    assert used.services() == []


def test_a_service_that_can_not_start_is_said_and_the_rest_goes_on(used: Machine) -> None:
    used.environment["HOLDFAST_DB"] = "postgresql://nobody@127.0.0.1:1/none"

    done = used.run("up", "--yes", "--without", "transcripts", "--without", "connect")

    assert done.returncode == 3
    assert used.services() == []


# ------------------------------------------------------------------------------------------- one service only


@pytest.fixture
def home(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The same home for calls in this process."""
    for name in [name for name in os.environ if name.startswith(("XDG_", "HOLDFAST_HOME"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(machine.home))
    return machine


@requirement("sem.service", "trust.local")
def test_all_who_start_the_service_at_once_get_the_same_one(home: Machine) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: running.start(), range(4)))

    assert len({service for service, _ in found}) == 1
    assert sum(started for _, started in found) == 1
    assert home.services() == [found[0][0].pid]
    assert found[0][0].url.startswith("http://127.0.0.1:")


def test_a_taken_port_is_no_reason_not_to_start(home: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        usual = [*serve_command(), "--port", str(port)]
        monkeypatch.setattr(running, "serve_command", lambda: usual)

        found, started = running.start()

    assert started
    assert not found.url.endswith(f":{port}")


@requirement("sem.service")
def test_the_service_is_stopped_and_says_so(home: Machine) -> None:
    found, _ = running.start()

    status = home.json("service", "status")
    stopped = home.json("service", "stop")
    again = home.json("service", "stop")

    assert (status["running"], status["pid"]) == (True, found.pid)
    assert stopped == {"stopped": True, "pid": found.pid}
    assert again == {"stopped": False, "pid": None}
    assert home.services() == []
    assert not (home.data / "service.json").exists()


def test_a_file_that_a_killed_service_left_stops_nobody(home: Machine) -> None:
    found, _ = running.start()
    left = (home.data / "service.json").read_bytes()
    running.stop()
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    told = json.loads(left) | {"pid": bystander.pid}
    (home.data / "service.json").write_text(json.dumps(told), encoding="utf-8")

    stopped = running.stop()

    assert stopped is None
    assert bystander.poll() is None
    bystander.communicate(b"\n")
    assert found.pid != bystander.pid


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"[]",
        b'{"url": 1}',
        b'{"url": "http://127.0.0.1:1", "pid": 1}',
        b'{"url": "http://192.0.2.1:80", "pid": 1}',
        b'{"url": "file:///etc/passwd", "pid": 1}',
    ],
)
def test_a_service_that_does_not_answer_is_none(home: Machine, content: bytes) -> None:
    home.data.mkdir(parents=True)
    (home.data / "service.json").write_bytes(content)

    assert running.running() is None


def test_a_service_that_ends_at_once_says_why(home: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.errors import Unavailable

    failing = [sys.executable, "-c", "import sys; sys.exit('no room on the disk')"]
    monkeypatch.setattr(running, "serve_command", lambda: failing)

    with pytest.raises(Unavailable, match="the service ended at once: no room on the disk"):
        running.start()
