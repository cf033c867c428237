"""The real service in a process of its own, on a free port, with a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import clean


class Service:
    """A running `holdfast serve`."""

    secret: str | None = None  # in place of the one in its file

    def __init__(self, home: Path, *options: str, **environment: str) -> None:
        self.home = home
        self.environment = {**os.environ, "HOLDFAST_HOME": str(home), **environment}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--json", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        self.told: dict[str, Any] = json.loads(line)
        self.url: str = self.told["url"]

    @property
    def token(self) -> str:
        return self.secret or (self.home / "token").read_text().strip()

    def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        known = {"Authorization": f"Bearer {self.token}", **headers}
        return httpx2.post(f"{self.url}{path}", json=body, headers=known, timeout=60)

    def stop(self, with_signal: int = signal.SIGTERM) -> int:
        """Ends it as its operator would; answers its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        return self.process.returncode


def with_store(home: Path, template: Path) -> Path:
    """A home whose database is there already: to make a new one takes as long as half a start."""
    home.mkdir(mode=0o700)
    shutil.copyfile(template, home / "holdfast.db")
    return home


@pytest.fixture
def service(tmp_path: Path, sqlite_template: Path) -> Iterator[Service]:
    running = Service(with_store(tmp_path / "holdfast", sqlite_template))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Service]:
    """One for all tests of a file that only ask it."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        clean(folder, patch)
        running = Service(with_store(folder / "holdfast", sqlite_template))
    yield running
    running.stop()
