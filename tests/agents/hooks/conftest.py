"""The real hook command, and a service for it that answers whatever a test wants."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.app import paths

TOKEN = "a-token-of-the-tests"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What one run of the command gave."""

    code: int
    out: bytes
    err: bytes

    @property
    def context(self) -> str:
        """The text that the host would add to the conversation; empty for no output at all."""
        if not self.out:
            return ""
        answer = json.loads(self.out)
        assert set(answer) == {"hookSpecificOutput"}
        assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        return str(answer["hookSpecificOutput"]["additionalContext"])


Hook = Callable[..., Said]


#: The command with time for a busy machine, in seconds: what it says is tested with it, its deadline is not.
PATIENCE = 40.0
_PATIENT = f"""
from holdfast.agents.hooks import command
command.WHOLE, command.FOR_THE_SERVICE = {PATIENCE} + 10, {PATIENCE}
command.main()
"""


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    """Runs the hook command as a host does, with fields of its input."""

    def run(
        event: str,
        *options: str,
        stdin: bytes | None = None,
        env: Json | None = None,
        **given: Any,
    ) -> Said:
        told = {"session_id": "s-1", "cwd": str(tmp_path), "hook_event_name": event, **given}
        done = subprocess.run(
            [sys.executable, "-c", _PATIENT, event, *options],
            input=json.dumps(told).encode() if stdin is None else stdin,
            capture_output=True,
            timeout=60,
            env={**os.environ, **(env or {})},
        )
        return Said(done.returncode, done.stdout, done.stderr)

    return run


@dataclass
class Service:
    """A server on loopback in the place of the service; `answers` gives status and body for a request."""

    answers: Callable[[str, Json], tuple[int, bytes]] = lambda event, body: (200, b'{"context": ""}')
    asked: list[tuple[str, Json, dict[str, str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        handler = type("Bound", (_Handler,), {"service": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        announce(f"http://127.0.0.1:{self._server.server_port}")

    def says(self, context: str) -> None:
        """Answers every event so."""
        body = json.dumps({"context": context}).encode()
        self.answers = lambda event, _: (200, body)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    service: ClassVar[Service]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """A test server says nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.service.asked.append((self.path, body, dict(self.headers.items())))
        status, answer = self.service.answers(self.path.rpartition("/")[2], body)
        self.send_response(status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def announce(url: str, pid: int | None = None, db: str = "/srv/holdfast.db") -> None:
    """Tells hooks that a service runs there."""
    told = {"url": url, "pid": pid or os.getpid(), "db": db}
    paths.write_private(paths.service_file(), json.dumps(told).encode())
    paths.write_private(paths.token_file(), f"{TOKEN}\n".encode())


@pytest.fixture
def service() -> Iterator[Service]:
    running = Service()
    yield running
    running.close()


def spooled() -> list[Json]:
    """What waits in the spool, by session."""
    folder = Path(paths.spool())
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))] if folder.is_dir() else []


def keep_brief(text: str, project: str | None = None, space: str = "default") -> None:
    """Leaves a ready-made brief, as the service does."""
    paths.write_private(paths.brief_file(space, project), text.encode())
