"""Who may speak to the service."""

from typing import Any

import anyio
import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from holdfast.domain.access import EVERYTHING, Grant
from holdfast.web.service.guard import MAX_BYTES, Guard
from tests.requirements_ledger import requirement

TOKEN = "a-token-of-the-tests"
KNOWN = {"Authorization": f"Bearer {TOKEN}"}


async def _echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with how much of a body came through."""
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            await send({"type": "http.response.start", "status": 499, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def _admit(secret: str) -> Grant | None:
    return EVERYTHING if secret == TOKEN else None


def _asked(path: str = "/anything", **given: Any) -> httpx2.Response:
    async def ask() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=Guard(_echo, admit=_admit))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7437") as client:
            return await client.post(path, **given)

    return anyio.run(ask)


@requirement("trust.local")
def test_a_request_with_the_token_from_this_machine_is_answered() -> None:
    assert _asked(headers=KNOWN).status_code == 200
    assert _asked(headers={**KNOWN, "Host": "localhost:1"}).status_code == 200
    assert _asked(headers={**KNOWN, "Host": "[::1]:7437"}).status_code == 200
    assert _asked(headers={**KNOWN, "Origin": "http://127.0.0.1:7437"}).status_code == 200


@requirement("trust.local")
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:7437", "", "[::1", "0.0.0.0"]
)
def test_a_request_to_another_name_is_refused(host: str) -> None:
    assert _asked(headers={**KNOWN, "Host": host}).status_code == 421


@requirement("trust.local")
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example", "http://["]
)
def test_a_page_of_another_origin_is_refused_even_with_the_token(origin: str) -> None:
    assert _asked(headers={**KNOWN, "Origin": origin}).status_code == 403


@requirement("trust.local")
@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ÿ"]
)
def test_without_the_token_nothing_is_answered(header: str) -> None:
    answer = _asked(headers={"Authorization": header.encode("latin-1")})

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert TOKEN not in answer.text


def test_health_needs_no_token_but_still_the_right_host() -> None:
    assert _asked("/health").status_code == 200
    assert _asked("/health", headers={"Host": "evil.example"}).status_code == 421
    assert _asked("/health/x").status_code == 401


def test_who_has_the_token_in_the_address_is_told_of_that_one() -> None:
    for path in ("/webhook/wrong/messages", "/proxy/wrong/openai/v1/models"):
        assert "in the URL" in _asked(path).json()["detail"]
    assert "Authorization: Bearer" in _asked().json()["detail"]


def test_what_is_neither_a_request_nor_the_start_of_the_service_gets_no_answer() -> None:
    async def connect() -> None:
        await Guard(_echo, admit=_admit)({"type": "websocket", "path": "/", "headers": []}, never, never)

    async def never(*_: object) -> Any:
        pytest.fail("it was listened to or answered")

    anyio.run(connect)


def test_a_body_that_is_too_large_is_refused_by_its_header_and_cut_off_without_one() -> None:
    async def endless() -> Any:
        for _ in range(6):
            yield b"x" * (MAX_BYTES // 4)

    told = _asked(headers=KNOWN, content=b"x" * (MAX_BYTES + 1))
    untold = _asked(headers=KNOWN, content=endless())

    assert told.status_code == 413
    assert untold.status_code == 413
    assert untold.json() == told.json()
