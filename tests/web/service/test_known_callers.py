"""Who was let in before is let through to the proxy while the store is away; nobody else is, nowhere else."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from holdfast.domain.access import Grant
from holdfast.errors import Unavailable
from holdfast.web.service.guard import MAX_BYTES, MAX_LARGE, Guard
from holdfast.web.service.token_use import CachedGrants
from tests.requirements_ledger import requirement

GRANT = Grant.of("proxy", spaces=("ours",))


class Office:
    """Knows one secret, as long as it is there."""

    def __init__(self) -> None:
        self.there = True
        self.known = {"secret"}

    def admit(self, secret: str) -> Grant | None:
        if not self.there:
            raise Unavailable("the store is away")
        return GRANT if secret in self.known else None


async def _whole(scope: Scope, receive: Receive, send: Send) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def _posted(guard: Guard, path: str, **given: Any) -> int:
    async def ask() -> int:
        transport = httpx2.ASGITransport(app=guard)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7437") as client:
            return int((await client.post(path, **given)).status_code)

    return anyio.run(ask)


@requirement("sem.inject.proxy", "trust.local")
def test_only_the_proxy_goes_on_without_the_store_and_only_for_who_was_seen() -> None:
    office = Office()
    guard = Guard(_whole, admit=office.admit)
    bearer = {"Authorization": "Bearer secret"}
    assert _posted(guard, "/proxy/secret/anthropic/v1/messages") == 200
    assert _posted(guard, "/api/memory/", headers=bearer) == 200

    office.there = False

    assert _posted(guard, "/proxy/secret/anthropic/v1/messages") == 200
    assert _posted(guard, "/proxy/another/anthropic/v1/messages") == 503
    assert _posted(guard, "/api/memory/", headers=bearer) == 503
    assert _posted(guard, "/webhook/secret/messages") == 503


def test_who_was_turned_away_is_not_remembered_as_welcome() -> None:
    office = Office()
    guard = Guard(_whole, admit=office.admit)
    _posted(guard, "/proxy/secret/x")
    office.known.clear()
    assert _posted(guard, "/proxy/secret/x") == 401

    office.there = False

    assert _posted(guard, "/proxy/secret/x") == 503


def test_a_store_that_hangs_is_waited_for_briefly() -> None:
    go_on = threading.Event()
    office = Office()

    def slow(secret: str) -> Grant | None:
        go_on.wait(60)
        return office.admit(secret)

    async def asked() -> tuple[Grant | None, Grant | None]:
        go_on.set()
        admission = CachedGrants(slow, patience=10)
        first = await admission("secret")
        go_on.clear()
        admission._patience = 0.05
        try:
            second = await admission("secret")
            with pytest.raises(Unavailable):
                await admission("another")
        finally:
            go_on.set()
        return first, second

    assert anyio.run(asked) == (GRANT, GRANT)


def test_a_conversation_may_be_larger_than_other_requests() -> None:
    guard = Guard(_whole, admit=Office().admit)
    large = {"content": b"x" * (MAX_BYTES + 1)}
    too_large = {"headers": {"content-length": str(MAX_LARGE + 1)}, "content": b""}

    assert _posted(guard, "/proxy/secret/x", **large) == 200
    assert _posted(guard, "/api/x", headers={"Authorization": "Bearer secret"}, **large) == 413
    assert _posted(guard, "/proxy/secret/x", **too_large) == 413
