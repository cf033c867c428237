"""Half a request, a body that never comes, a hook that nobody waits for: none of them stays."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from holdfast.agents.hooks import spool
from holdfast.web.service import guard, http_server
from holdfast.web.service.guard import Guard
from tests.web.rest.conftest import OWN, Served

HALF_A_HEAD = b"POST /hooks/Stop HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "


@pytest.fixture
def served(sqlite_url: str) -> Iterator[Served]:
    service = Served(sqlite_url)
    yield service
    service.registry.close()


async def answering(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{message['type']}.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    while (message := await receive()).get("more_body"):
        pass
    status = 200 if message["type"] == "http.request" else 400
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


@contextmanager
def serving(app: Any) -> Iterator[tuple[str, int]]:
    """The application on a port of its own, with the service's settings."""
    listening = http_server.listen("127.0.0.1", 0)
    server = uvicorn.Server(http_server.settings(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join(60)


@pytest.mark.parametrize(("begun", "answered"), [(b"", False), (HALF_A_HEAD, False), (HALF_A_HEAD, True)])
def test_a_connection_on_which_no_request_gets_whole_is_closed(
    monkeypatch: pytest.MonkeyPatch, begun: bytes, answered: bool
) -> None:
    monkeypatch.setattr(http_server, "HEAD_WITHIN", 0.05)

    with serving(answering) as address, socket.create_connection(address, timeout=60) as caller:
        if answered:
            caller.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert caller.recv(1024).startswith(b"HTTP/1.1 200")
        caller.sendall(begun)
        assert caller.recv(1024) == b""


def test_a_request_that_takes_its_time_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = threading.Event()
    monkeypatch.setattr(http_server, "HEAD_WITHIN", 0.05)

    async def slow(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await anyio.to_thread.run_sync(whole.wait)
        await answering(scope, receive, send)

    with serving(slow) as address, socket.create_connection(address, timeout=60) as caller:
        caller.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        threading.Timer(0.2, whole.set).start()

        assert caller.recv(1024).startswith(b"HTTP/1.1 200")


def test_a_body_that_does_not_come_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_WITHIN", 0.05)
    guarded = Guard(answering, admit=lambda secret: None)

    sent = asked(guarded, "/health", [{"type": "http.request", "body": b"{", "more_body": True}])

    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


@pytest.mark.parametrize("waits", [False, True])
def test_a_hook_that_nobody_waits_for_is_not_carried_out(served: Served, waits: bool) -> None:
    body = json.dumps({"session_id": "s-1", "transcript_path": "/nowhere"}).encode()
    told: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
    left: list[dict[str, Any]] = [] if waits else [{"type": "http.disconnect"}]

    asked(served.app, "/hooks/Stop", told + left)

    assert len(spool.waiting()) == waits


def asked(app: Any, path: str, told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What an application sends whoever tells it this, and then stays on the line."""
    headers = {
        "host": "127.0.0.1", "authorization": f"Bearer {OWN}", "content-type": "application/json",
    }  # fmt: skip
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "http_version": "1.1", "scheme": "http", "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    coming = iter(told)
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        message = next(coming, None)
        if message is None:
            await anyio.sleep_forever()
        assert message is not None
        return message

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    anyio.run(app, scope, receive, send)
    return sent
