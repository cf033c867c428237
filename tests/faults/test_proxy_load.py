"""64 clients at once through the proxy and its queue for a minute: no error, nothing lost, nothing grows."""

from __future__ import annotations

import signal
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration
from tests.agents.proxy.upstream import Upstream
from tests.requirements_ledger import requirement
from tests.web.service.conftest import Service

pytestmark = pytest.mark.faults

CLIENTS = 64
SECONDS = 60.0
TURNS = 4  # of a conversation, before a client begins the next one
SPACE = "talks"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    yield server
    server.close()


class Client(threading.Thread):
    """Holds conversations until time is up, and posts to the tap in between."""

    def __init__(self, number: int, url: str, tokens: dict[str, str], ends: float) -> None:
        super().__init__(daemon=True)
        self._number, self._url, self._tokens, self._ends = number, url, tokens, ends
        self.waited: list[float] = []
        self.said: list[str] = []
        self.troubles: list[str] = []

    def run(self) -> None:
        with httpx2.Client(base_url=self._url, timeout=60) as client:
            while time.monotonic() < self._ends and not self.troubles:
                self._conversation(client)

    def _conversation(self, client: httpx2.Client) -> None:
        name = f"c{self._number}-{len(self.said)}"
        history: list[dict[str, Any]] = []
        for turn in range(TURNS):
            text = f"{name} says {turn}"
            history.append({"role": "user", "content": text})
            body = {"model": "m", "max_tokens": 50, "messages": history, "stream": turn % 2 == 0}
            place = f"/proxy/{self._tokens['proxy']}/anthropic/v1/messages"
            if not self._asked(client, place, body, {"x-holdfast-session": name}):
                return
            self.said.append(text)
            history.append({"role": "assistant", "content": "Done."})
        posted = f"{name} was posted"
        known = {"authorization": f"Bearer {self._tokens['write']}"}
        messages = [{"role": "user", "content": posted, "id": f"{name}-posted"}]
        if self._asked(client, f"/api/sessions/{name}/messages", {"messages": messages}, known):
            self.said.append(posted)

    def _asked(self, client: httpx2.Client, place: str, body: Any, headers: dict[str, str]) -> bool:
        begun = time.monotonic()
        try:
            answer = client.post(place, json=body, headers=headers)
            if answer.status_code != 200:
                self.troubles.append(f"{answer.status_code} {answer.text[:200]}")
        except httpx2.HTTPError as trouble:
            self.troubles.append(repr(trouble))
        self.waited.append(time.monotonic() - begun)
        return not self.troubles


def _resident(service: Service) -> int:
    """MB that the service holds."""
    for line in Path(f"/proc/{service.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) // 1024
    raise AssertionError("no such process")


@requirement("sem.inject.proxy", "sem.tap.http")
@pytest.mark.timeout(400)
def test_64_clients_for_a_minute(database_url: str, upstream: Upstream, tmp_path: Path) -> None:
    store = open_store(database_url)
    Administration(store).create_space(SPACE, profile="semantic")
    tokens = {
        scope: Administration(store).create_token(scope, spaces=(SPACE,)).secret
        for scope in ("proxy", "write")
    }
    store.close()
    service = Service(
        tmp_path / "holdfast", HOLDFAST_DB=database_url, HOLDFAST_ANTHROPIC_UPSTREAM=upstream.url
    )
    logged: list[str] = []
    assert service.process.stderr is not None
    reading = threading.Thread(target=logged.extend, args=(service.process.stderr,), daemon=True)
    reading.start()  # a pipe that nobody reads fills up, and then who writes to it stands still
    ends = time.monotonic() + SECONDS
    clients = [Client(number, service.url, tokens, ends) for number in range(CLIENTS)]

    for client in clients:
        client.start()
    clients[0].join(SECONDS / 3)
    before = _resident(service)  # under load already
    for client in clients:
        client.join(SECONDS * 4)
    after = _resident(service)
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(60)
    reading.join(60)
    service.stop()

    waited = sorted(each for client in clients for each in client.waited)
    p50, p99 = statistics.median(waited), waited[int(len(waited) * 0.99)]
    figures = f"{len(waited)} requests, p50 {p50:.3f} s, p99 {p99:.3f} s, {before} -> {after} MB"
    figures += f", {len(logged)} lines logged"
    assert [each for client in clients for each in client.troubles] == [], figures
    with Memories.open(database_url, SPACE) as memories:
        kept = [
            one.content
            for session in memories.sessions()
            for one in memories.session(session.id).messages
            if one.role == "user"
        ]
    assert sorted(kept, key=str) == sorted(text for client in clients for text in client.said)
    assert p99 < 10 * p50, figures
    assert after < before + 100, figures
