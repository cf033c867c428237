"""The dashboard for tests: the application in this process, or `holdfast serve` in one of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx2
from starlette.testclient import TestClient

from holdfast import Memories
from holdfast.app.service_host import assembled
from holdfast.app.space_registry import SpaceRegistry
from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration
from holdfast.web.dashboard.browsers import cookie_name
from holdfast.web.service.background_tasks import Worker

OWN = "the-token-of-this-machines-user"
URL = "http://127.0.0.1:7437"
SAME_ORIGIN = {"Origin": URL, "Sec-Fetch-Site": "same-origin"}


class Board:
    """The application over a database, and browsers that look at it."""

    def __init__(self, database: str) -> None:
        self.database = database
        self.registry = SpaceRegistry(database)
        self.app: Any = assembled(self.registry, Worker([]), own=OWN)
        self.make("ops", "ops")
        self.make("helper", "assistant")

    def browser(self, secret: str | None = OWN) -> TestClient:
        """A browser; signed in by pasting this token, if any."""
        client = TestClient(
            self._decoded_once, base_url=URL, raise_server_exceptions=True, follow_redirects=False
        )
        if secret is not None:
            answer = client.post("/login", data={"token": secret}, headers=SAME_ORIGIN)
            assert answer.status_code == 200, answer.text
            assert cookie_name("127.0.0.1:7437") in client.cookies
        return client

    async def _decoded_once(self, scope: Any, receive: Any, send: Any) -> None:
        """The application as a server calls it: the test client decodes a path twice."""
        if "raw_path" in scope:
            scope["path"] = unquote(scope["raw_path"].decode())
        await self.app(scope, receive, send)

    def token(self, *scopes: str, spaces: tuple[str, ...] | None = None) -> str:
        with self._administration() as office:
            return office.create_token(*scopes, spaces=spaces).secret

    def make(self, space: str, profile: str) -> None:
        with self._administration() as office:
            office.create_space(space, profile=profile)

    def memories(self, space: str = "ops") -> Memories:
        return self.registry.memories(space)

    @contextmanager
    def _administration(self) -> Iterator[Administration]:
        store = open_store(self.database)
        try:
            yield Administration(store)
        finally:
            store.close()


def posted(client: TestClient, path: str, fields: dict[str, Any], *, script: bool = True) -> httpx2.Response:
    """A form of ours, sent by our script or plainly with the key that stands in every form."""
    headers = dict(SAME_ORIGIN)
    if script:
        headers["HX-Request"] = "true"
    else:
        fields = {"key": form_key_of(client), **fields}
    answer: httpx2.Response = client.post(path, data=fields, headers=headers)
    return answer


def form_key_of(client: TestClient) -> str:
    from holdfast.web.dashboard.browsers import form_key

    return form_key(client.cookies[cookie_name("127.0.0.1:7437")])


class Running:
    """A service with a home of its own, and other processes' way to its memories."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "holdfast"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
        self.environment = {
            **kept, "HOLDFAST_HOME": str(self.home), "HOLDFAST_EMBEDDER": "none", "HOLDFAST_SPACE": "ops",
            "HOME": str(folder),
        }  # fmt: skip
        self.database = f"sqlite:///{self.home / 'holdfast.db'}"
        self.home.mkdir(mode=0o700)
        store = open_store(self.database)
        try:
            Administration(store).create_space("ops", profile="ops")
            Administration(store).create_space("helper", profile="assistant")
        finally:
            store.close()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        told = json.loads(line)
        self.url: str = told["url"]

    @property
    def token(self) -> str:
        return (self.home / "token").read_text().strip()

    def login(self) -> str:
        """A new one-time link."""
        answer = httpx2.post(
            f"{self.url}/login/link", headers={"Authorization": f"Bearer {self.token}"}, timeout=60
        )
        return f"{self.url}{answer.json()['path']}"

    @contextmanager
    def memories(self, space: str = "ops") -> Iterator[Memories]:
        """The memories as this process, another than the service's, opens them."""
        store = open_store(self.database)
        try:
            yield Memories.of(store, space)
        finally:
            store.close()

    def run(self, *command: str) -> str:
        """What a command of the command line says, in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *command], capture_output=True, text=True, env=self.environment
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
