"""A page of somebody else's, in a browser on this machine: it can change nothing here and read nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import anyio
import httpx2
import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from tests.requirements_ledger import requirement
from tests.web.rest.conftest import OWN, Served

MARK = "Zanzibar-4411"  # stands in what a foreign page may not see
OURS = "127.0.0.1:7437"
HOSTS = (
    OURS,
    "evil.example",
    "evil.example:7437",
    "127.0.0.1.evil.example:7437",
    "localhost.evil.example",
    "127.0.0.1@evil.example",
    "[::ffff:127.0.0.1]:7437",
    "[::2]:7437",
    "0.0.0.0:7437",
    "127.1:7437",
    "2130706433",
    "localhost.:7437",
)
ORIGINS = (
    None,
    f"http://{OURS}",
    "http://evil.example",
    "https://evil.example:7437",
    "null",
    "http://127.0.0.1.evil.example:7437",
    "http://127.0.0.1@evil.example:7437",
    f"http://evil.example@{OURS}",
    "http://127.0.0.1:3000",
    "http://localhost:7437",
    "http://[::1]:7437",
    f"file://{OURS}",
    "chrome-extension://abcdefgh",
    f"http://{OURS}.evil.example",
    f"http://{OURS}, http://evil.example",
    "",
)
TYPES = (
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
)
ATTACKS = [
    (host, origin, kind)
    for host, origin, kind in product(HOSTS, ORIGINS, TYPES)
    if host != OURS or origin not in (None, f"http://{OURS}")
]


@dataclass(frozen=True)
class Request:
    """One kind of route, asked with everything that it needs."""

    method: str
    path: str
    body: Any = None
    query: dict[str, str] = field(default_factory=dict)


def requests(memory: str) -> list[Request]:
    """One of every kind: open, reading, writing, deleting, deciding, by address, for machines."""
    said = {"messages": [{"role": "user", "content": f"{MARK} said"}]}
    return [
        Request("GET", "/health"),
        Request("GET", "/metrics"),
        Request("GET", "/api/memory/"),
        Request("GET", "/api/export"),
        Request("GET", "/api/recall", query={"query": MARK}),
        Request("POST", "/api/memory/", {"content": f"A foreign page wrote {MARK}"}),
        Request("PUT", f"/api/memory/{memory}", {"content": f"A foreign page changed {MARK}"}),
        Request("DELETE", f"/api/memory/{memory}"),
        Request("POST", f"/api/memory/{memory}/erase"),
        Request("POST", "/api/tokens", {"scopes": ["read"], "spaces": ["default"]}),
        Request("DELETE", "/api/spaces/default"),
        Request("POST", "/api/sessions/chat/messages", said),
        Request("POST", f"/webhook/{OWN}/messages", {**said, "session": "hook"}),
        Request("POST", "/hooks/SessionStart", {"session_id": "s", "source": "startup"}),
        Request("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        Request("OPTIONS", "/api/memory/"),
    ]


@pytest.fixture
def served(sqlite_url: str) -> Iterator[Served]:
    service = Served(sqlite_url)
    yield service
    service.registry.close()


@pytest.fixture
def memory(served: Served) -> str:
    outcome = served.registry.memories().remember(f"The password is kept by {MARK}")
    return outcome.memory.id  # type: ignore[union-attr]


def everything(served: Served) -> list[str]:
    """What is stored, tokens and spaces as well."""
    store = open_store(served.database)
    try:
        kept = [line for name in store.spaces() for line in Memories.of(store, name.name).export()]
        return kept + [repr(token) for token in store.tokens.all()] + [space.name for space in store.spaces()]
    finally:
        store.close()


def ask_all(served: Served, asked: list[tuple[Request, dict[str, str]]]) -> list[httpx2.Response]:
    """Every request with its headers, straight into the application."""

    async def one_after_another() -> list[httpx2.Response]:
        transport = httpx2.ASGITransport(app=served.app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{OURS}") as client:
            return [
                await client.request(
                    request.method,
                    request.path,
                    params=request.query,
                    headers=headers,
                    content=json.dumps(request.body) if request.body is not None else None,
                )
                for request, headers in asked
            ]

    return anyio.run(one_after_another)


def headers(host: str, origin: str | None, kind: str) -> dict[str, str]:
    """As a browser sends them, with the token that no foreign page has: each check must hold alone."""
    given = {"Host": host, "Content-Type": kind, "Authorization": f"Bearer {OWN}"}
    return given if origin is None else {**given, "Origin": origin}


@requirement("trust.local")
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.faults)])
def test_no_foreign_host_or_origin_changes_or_reads_anything(served: Served, memory: str, every: int) -> None:
    """Each attack on every fifth kind of route, beginning with another one each time, or on all of them."""
    asked = [
        (request, headers(*attack))
        for place, attack in enumerate(ATTACKS)
        for request in requests(memory)[place % every :: every]
    ]
    before = everything(served)

    answers = ask_all(served, asked)

    assert len(ATTACKS) >= 200
    assert {answer.status_code for answer in answers} == {403, 421}
    assert [answer.text for answer in answers if MARK in answer.text] == []
    assert everything(served) == before


@requirement("trust.local")
def test_no_answer_ever_opens_the_service_to_another_origin(served: Served, memory: str) -> None:
    preflight = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"}
    ours = [(OURS, None, TYPES[0]), (OURS, f"http://{OURS}", TYPES[0])]
    asked = [
        (request, {**headers(*attack), **extra})
        for attack in [*ATTACKS[::7], *ours]
        for request in requests(memory)
        for extra in ({}, preflight)
    ]

    answers = ask_all(served, asked)

    opened = {name for answer in answers for name in answer.headers if name.startswith("access-control")}
    assert opened == set()
    assert {answer.headers["cross-origin-resource-policy"] for answer in answers} == {"same-origin"}
    assert {answer.headers["x-content-type-options"] for answer in answers} == {"nosniff"}


@requirement("trust.local")
@pytest.mark.parametrize("kind", TYPES[1:])
def test_a_form_or_plain_text_is_not_taken_for_json(served: Served, memory: str, kind: str) -> None:
    with_body = [
        request for request in requests(memory) if request.body is not None and request.path != "/mcp"
    ]
    before = everything(served)

    answers = ask_all(served, [(request, headers(OURS, None, kind)) for request in with_body])

    assert {answer.status_code for answer in answers} <= {403, 415, 422}
    assert everything(served) == before


@requirement("trust.local")
def test_a_foreign_page_without_the_token_learns_only_that_the_service_is_there(
    served: Served, memory: str
) -> None:
    simple = [request for request in requests(memory) if request.method in ("GET", "POST")]
    kept_from = [request for request in simple if OWN not in request.path]
    asked = [(request, {"Host": OURS, "Content-Type": kind}) for request in kept_from for kind in TYPES]
    before = everything(served)

    answers = ask_all(served, asked)

    by_path = {
        (request.path, answer.status_code) for (request, _), answer in zip(asked, answers, strict=True)
    }
    assert {path for path, status in by_path if status != 401} == {"/health"}
    assert everything(served) == before


def test_the_same_requests_of_our_own_do_change_and_read(served: Served, memory: str) -> None:
    """The twin: what is refused above is refused for where it comes from, not for what it says."""
    ours = headers(OURS, f"http://{OURS}", TYPES[0])
    unharmful = [
        request for request in requests(memory) if request.path not in ("/mcp", "/api/spaces/default")
    ]
    before = everything(served)

    answers = ask_all(served, [(request, ours) for request in unharmful])

    wrong = {
        (request.method, request.path, answer.status_code)
        for request, answer in zip(unharmful, answers, strict=True)
        if answer.status_code >= 400
    }
    assert wrong == {("OPTIONS", "/api/memory/", 405)}
    assert any(MARK in answer.text for answer in answers)
    assert everything(served) != before
