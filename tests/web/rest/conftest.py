"""The application of the service in this process, on both databases, and callers with all kinds of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from holdfast.app.service_host import assembled
from holdfast.app.space_registry import SpaceRegistry
from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration
from holdfast.web.service.background_tasks import Worker

OWN = "the-token-of-this-machines-user"
URL = "http://127.0.0.1:7437"


class Served:
    """A service without a port: requests go straight into the application."""

    def __init__(self, database: str) -> None:
        self.database = database
        self.registry = SpaceRegistry(database)
        self.woken = 0
        self.worker = Worker([])
        self.worker.wake = self._woken  # type: ignore[method-assign]
        self.app: Any = assembled(self.registry, self.worker, own=OWN)

    def _woken(self) -> None:
        self.woken += 1

    def caller(self, secret: str | None = OWN) -> TestClient:
        """Somebody who holds this token."""
        headers = {"Authorization": f"Bearer {secret}"} if secret is not None else {}
        return TestClient(self.app, base_url=URL, headers=headers, raise_server_exceptions=False)

    def token(self, *scopes: str, spaces: tuple[str, ...] | None = None) -> str:
        """A token's secret, made as `holdfast token create` does."""
        store = open_store(self.database)
        try:
            return Administration(store).create_token(*scopes, spaces=spaces).secret
        finally:
            store.close()

    def make(self, space: str, profile: str = "default") -> str:
        """A space."""
        store = open_store(self.database)
        try:
            return Administration(store).create_space(space, profile=profile).name
        finally:
            store.close()


@pytest.fixture
def served(database_url: str) -> Iterator[Served]:
    service = Served(database_url)
    yield service
    service.registry.close()


@pytest.fixture
def assistant(served: Served) -> TestClient:
    """Somebody who administers the one space of profile `assistant`, and no other."""
    served.make("helper", "assistant")
    return served.caller(served.token("admin", spaces=("helper",)))


def remembered(client: TestClient, content: str, **fields: Any) -> dict[str, Any]:
    """A memory that was created over REST."""
    answer: httpx2.Response = client.post("/api/memory/", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found
