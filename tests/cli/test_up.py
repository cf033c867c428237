"""up: from a home directory with old transcripts to a first recall, in one command that may be repeated."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli import cli, service_process
from holdfast.cli.service_unit import serve_command
from tests.agents.importers.written import SAMPLES
from tests.requirements_ledger import requirement

pytestmark = pytest.mark.slow  # real commands, real services

COMMAND = (sys.executable, "-c", "from holdfast.cli import main; main()")


class Machine:
    """A user's home directory, and commands run there as a user would."""

    def __init__(self, home: Path) -> None:
        self.home = home
        # No service manager and no client is found by its command: only what lies in the home directory.
        kept = {name: os.environ[name] for name in ("LANG",) if name in os.environ}
        ours = {"HOME": str(home), "PATH": str(home / "bin"), "PYTHONPATH": "src"}
        self.environment = {**kept, **ours, "HOLDFAST_EMBEDDER": "none"}

    @property
    def data(self) -> Path:
        return self.home / ".local" / "share" / "holdfast"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*COMMAND, *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=200)

    def answers(self, answer: str, *arguments: str) -> tuple[str, str]:
        """What a command says and asks where a person gives the same answer to all of it."""
        ours, theirs = pty.openpty()
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [*COMMAND, *arguments], env=self.environment, stdin=theirs, stdout=pipe, stderr=pipe, text=True
        ) as process:
            os.write(ours, f"{answer}\n".encode() * 6)
            told, asked = process.communicate(timeout=100)
        os.close(ours)
        os.close(theirs)
        assert process.returncode == 0, asked
        return told, asked

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

    def use(self) -> None:
        """Its user works with three clients."""
        places = {
            ".claude/projects/-srv-user-proj/a.jsonl": "claude_code_resumed_compacted.jsonl",
            ".claude/projects/-srv-user-proj/b.jsonl": "claude_code_with_subagent.jsonl",
            ".codex/sessions/2026/11/15/rollout-1.jsonl": "codex_rollout.jsonl",
            ".gemini/tmp/proj/chats/session-1.jsonl": "gemini_chat.jsonl",
        }
        for place, sample in places.items():
            file = self.home / place
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SAMPLES / sample, file)


@contextmanager
def machine_in(folder: Path) -> Iterator[Machine]:
    made = Machine(folder / "user")
    made.home.mkdir()
    yield made
    for process in made.services():
        os.kill(process, signal.SIGKILL)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with machine_in(tmp_path) as made:
        yield made


@pytest.fixture
def used(machine: Machine) -> Machine:
    """A machine whose user has worked with three clients."""
    machine.use()
    return machine


@dataclass
class Up:
    """A used machine after `up --yes`."""

    machine: Machine
    before: dict[str, bytes]
    told: Any


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Set up once, with its service, for all who look at what came of it."""
    with machine_in(tmp_path_factory.mktemp("up")) as machine:
        machine.use()
        before = machine.files()
        yield Up(machine, before, machine.json("up", "--yes"))


@requirement("first.recall")
def test_one_command_ends_with_a_recall_from_the_users_own_past(up: Up) -> None:
    told = up.told

    assert told["transcripts"]["sessions"] == 4
    assert told["transcripts"]["new"] == 12
    assert told["service"]["started"] is True
    assert set(told["connect"]["connected"]) == {"claude-code", "codex", "gemini"}
    assert told["recall"]["question"] == "What did I say about Alec?"
    # The service may have made a memory of the message by now.
    texts = [(hit.get("message") or hit["memory"])["content"] for hit in told["recall"]["hits"]]
    assert re.search(r"Alec is (my|the user's) boss", "\n".join(texts))
    assert up.machine.services() == [told["service"]["pid"]]


@requirement("first.recall")
def test_doing_it_again_changes_nothing(up: Up) -> None:
    files = up.machine.files()

    again = up.machine.json("up", "--yes")

    assert (again["transcripts"]["messages"], again["transcripts"]["new"]) == (12, 0)
    assert (again["service"]["pid"], again["service"]["started"]) == (up.told["service"]["pid"], False)
    assert again["connect"]["connected"] == {"claude-code": [], "codex": [], "gemini": []}
    assert again["recall"]["question"] == up.told["recall"]["question"]
    assert up.machine.files() == files
    assert len(up.machine.services()) == 1


def test_a_person_is_asked_again_only_about_what_is_new(up: Up) -> None:
    told, asked = up.machine.answers("n", "up")

    assert "Import them?" not in asked
    assert "nothing new from Claude Code" in told

    new = up.machine.home / ".claude/projects/-srv-user-proj/c.jsonl"
    old = (SAMPLES / "claude_code_resumed_compacted.jsonl").read_text()
    new.write_text(re.sub(r"[0-9a-f]{8}-(?=[0-9a-f]{4}-)", "0new0000-", old))
    told, asked = up.machine.answers("n", "up", "--without", "connect")
    new.unlink()

    assert re.search(r"Found 1 session with \d+ messages from claude-code. Import them\?", asked)


def test_people_read_each_step_then_the_recall_then_how_to_go_on_and_how_to_leave(up: Up) -> None:
    done = up.machine.run("up", "--yes")

    told, _, end = done.stdout.partition("\n\n")
    steps = [line.split()[0] for line in told.splitlines() if not line.startswith(" ")]
    assert done.returncode == 0, done.stdout + done.stderr
    assert steps == ["memories", "transcripts", "service", "connect", "recall"]
    assert end.startswith("Ready: every new session starts with what earlier ones learned.\n")
    assert re.search(r"^  \S*holdfast uninstall  +disconnect the agents", end, re.MULTILINE)
    assert re.search(r"\?\n .*Alec is (my|the user's) boss", done.stdout)


def test_what_was_said_is_quoted_with_who_said_it_when_and_where(used: Machine) -> None:
    done = used.run("up", "--yes", "--without", "service", "--without", "connect")

    said = "“STUB:toolsearch STUB:mcp STUB:bash Alec is my boss by the way”"
    assert re.search(rf"{said}\n +you, 2026-11-15 07:07, in proj\n", done.stdout), done.stdout


def test_nothing_that_was_there_is_touched_but_the_clients_settings(up: Up) -> None:
    after = up.machine.files()

    changed = {name for name, content in after.items() if up.before.get(name) != content}
    assert all(after[name] == content for name, content in up.before.items())
    assert changed <= {
        ".claude/settings.json",
        ".claude.json",
        ".codex/hooks.json",
        ".codex/config.toml",
        ".gemini/settings.json",
    }


def test_a_machine_without_a_past_is_set_up_all_the_same(machine: Machine) -> None:
    told = machine.json("up", "--yes", "--without", "service")

    assert told["transcripts"] == {"done": True, "found": 0}
    assert told["connect"]["connected"] == {}
    assert told["recall"]["question"] is None


def test_steps_can_be_left_out(used: Machine) -> None:
    told = used.json(
        "up", "--yes", "--without", "service", "--without", "connect", "--without", "transcripts"
    )

    assert set(told) == {"memories", "recall"}
    assert used.services() == []


def test_where_nobody_can_be_asked_nothing_is_done(used: Machine) -> None:
    done = used.run("up")

    assert done.returncode == 2
    assert "not a terminal: add --yes to confirm" in done.stderr
    assert not used.data.exists()


def test_a_person_is_asked_before_anything_is_read_started_or_changed(used: Machine) -> None:
    before = used.files()

    told, asked = used.answers("n", "up")

    assert "Found 4 sessions with 12 messages from claude-code, codex, gemini. Import them?" in asked
    assert "Start the service in the background?" in asked
    assert "Connect Claude Code" in asked
    assert told.count("skipped") == 5
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
        found = list(pool.map(lambda _: service_process.start(), range(4)))

    assert len({service for service, _ in found}) == 1
    assert sum(started for _, started in found) == 1
    assert home.services() == [found[0][0].pid]
    assert found[0][0].url.startswith("http://127.0.0.1:")


def test_a_taken_port_is_no_reason_not_to_start(home: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        usual = [*serve_command(), "--port", str(port)]
        monkeypatch.setattr(service_process, "serve_command", lambda: usual)

        found, started = service_process.start()

    assert started
    assert not found.url.endswith(f":{port}")


@requirement("sem.service")
def test_the_service_is_stopped_and_says_so(home: Machine) -> None:
    found, _ = service_process.start()

    status, stopped, again = (
        json.loads(CliRunner().invoke(cli, ["service", command, "--json"]).stdout)
        for command in ("status", "stop", "stop")
    )

    assert (status["running"], status["pid"]) == (True, found.pid)
    assert stopped == {"stopped": True, "pid": found.pid}
    assert again == {"stopped": False, "pid": None}
    assert home.services() == []
    assert not (home.data / "service.json").exists()


def test_a_file_that_a_killed_service_left_stops_nobody(home: Machine) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    left = {"url": "http://127.0.0.1:9", "pid": bystander.pid, "db": str(home.data / "holdfast.db")}
    home.data.mkdir(parents=True)
    (home.data / "service.json").write_text(json.dumps(left), encoding="utf-8")

    stopped = service_process.stop()

    assert stopped is None
    assert bystander.poll() is None
    bystander.communicate(b"\n")


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

    assert service_process.running() is None


def test_a_service_that_ends_at_once_says_why(home: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.errors import Unavailable

    failing = [sys.executable, "-c", "import sys; sys.exit('no room on the disk')"]
    monkeypatch.setattr(service_process, "serve_command", lambda: failing)

    with pytest.raises(Unavailable, match="the service exited at startup: no room on the disk"):
        service_process.start()
