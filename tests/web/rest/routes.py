"""One valid request for every route of the service, from which the matrix of callers is made."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any


@dataclass(frozen=True)
class Names:
    """What the requests are about."""

    space: str
    memory: str
    other: str
    waiting: str
    forgotten: str
    session: str
    message: str
    token: str


@dataclass(frozen=True)
class Example:
    """A request that is answered with `status` when the caller may ask it."""

    path: Callable[[Names], str] = lambda _: ""
    body: Callable[[Names], Any] | None = None
    status: int = 200
    query: Mapping[str, str] = field(default_factory=dict)
    needs_all_spaces: bool = False  # more than the scope: a token that is not bound to spaces


def _memory(rest: str = "") -> Callable[[Names], str]:
    return lambda names: f"/api/memory/{names.memory}{rest}"


def _session(rest: str = "") -> Callable[[Names], str]:
    return lambda names: f"/api/sessions/{names.session}{rest}"


SAID = {"messages": [{"role": "user", "content": "Hello over there"}]}

_ROWS = [
    {
        "holdfast": "export",
        "format": 1,
        "space": "any",
        "profile": "default",
        "profile_text": None,
        "key": "ab",
    },
    {"end": "any", "counts": {}, "sha256": sha256(b"").hexdigest()},
]
AN_ARCHIVE = gzip.compress("\n".join(map(json.dumps, _ROWS)).encode())

#: By method and path, as the OpenAPI document writes it.
EXAMPLES: dict[tuple[str, str], Example] = {
    ("GET", "/api/memory/"): Example(),
    ("POST", "/api/memory/"): Example(
        body=lambda _: {"content": "Backups run at 3 in the morning"}, status=201
    ),
    ("GET", "/api/memory/{memory_id}"): Example(_memory()),
    ("PUT", "/api/memory/{memory_id}"): Example(_memory(), lambda _: {"content": "Another wording of it"}),
    ("PATCH", "/api/memory/{memory_id}"): Example(_memory(), lambda _: {"importance": 5}),
    ("DELETE", "/api/memory/{memory_id}"): Example(_memory()),
    ("POST", "/api/memory/{memory_id}/restore"): Example(
        lambda names: f"/api/memory/{names.forgotten}/restore"
    ),
    ("POST", "/api/memory/{memory_id}/promote"): Example(_memory("/promote")),
    ("GET", "/api/memory/{memory_id}/history"): Example(_memory("/history")),
    ("GET", "/api/memory/{memory_id}/why"): Example(_memory("/why")),
    ("POST", "/api/memory/{memory_id}/split"): Example(_memory("/split"), lambda _: {"number": 1}, 201),
    ("GET", "/api/memory/{memory_id}/erasure"): Example(_memory("/erasure")),
    ("POST", "/api/memory/{memory_id}/erase"): Example(_memory("/erase")),
    ("POST", "/api/memory/{memory_id}/links"): Example(
        _memory("/links"), lambda names: {"to": names.waiting}, 201
    ),
    ("DELETE", "/api/memory/{memory_id}/links/{to}"): Example(
        lambda names: f"/api/memory/{names.memory}/links/{names.other}"
    ),
    ("POST", "/api/memory-tool"): Example(body=lambda _: {"command": "view", "path": "/memories"}),
    ("GET", "/api/recall"): Example(query={"query": "jellyfin"}),
    ("POST", "/api/recall"): Example(body=lambda _: {"query": "jellyfin"}),
    ("GET", "/api/brief"): Example(),
    ("POST", "/api/context"): Example(body=lambda _: SAID),
    ("GET", "/api/inbox"): Example(),
    ("POST", "/api/inbox/approve"): Example(body=lambda names: {"ids": [names.waiting]}),
    ("POST", "/api/inbox/reject"): Example(body=lambda names: {"ids": [names.waiting]}),
    ("POST", "/api/tend"): Example(),
    ("GET", "/api/tend"): Example(),
    ("GET", "/api/audit"): Example(),
    ("GET", "/api/sessions"): Example(),
    ("POST", "/api/sessions"): Example(body=lambda _: {"name": "A run"}, status=201),
    ("GET", "/api/sessions/{session_id}"): Example(_session()),
    ("POST", "/api/sessions/{session_id}/close"): Example(_session("/close"), lambda _: {"exit_code": 0}),
    ("POST", "/api/sessions/{session_id}/messages"): Example(_session("/messages"), lambda _: SAID),
    ("GET", "/api/sessions/{session_id}/messages"): Example(_session("/messages")),
    ("GET", "/api/messages/{message_id}"): Example(lambda names: f"/api/messages/{names.message}"),
    ("GET", "/api/sessions/{session_id}/context"): Example(_session("/context"), query={"text": "jellyfin"}),
    ("POST", "/api/sessions/{session_id}/context"): Example(_session("/context"), lambda _: SAID),
    ("GET", "/api/sessions/{session_id}/brief"): Example(_session("/brief")),
    ("GET", "/api/sessions/{session_id}/delta"): Example(_session("/delta")),
    ("POST", "/api/sessions/{session_id}/undo"): Example(_session("/undo")),
    ("GET", "/api/stats"): Example(),
    ("GET", "/api/access"): Example(),
    ("GET", "/api/jobs"): Example(),
    ("GET", "/api/spend"): Example(query={"by": "day"}),
    ("GET", "/api/events"): Example(),
    ("POST", "/api/events"): Example(
        body=lambda _: {"level": "info", "content": "all is well", "service": "mail"}, status=201
    ),
    ("GET", "/api/cooldowns"): Example(),
    ("POST", "/api/cooldowns"): Example(
        body=lambda _: {"action": "restart", "service": "mail", "succeeded": True}, status=201
    ),
    ("GET", "/api/export"): Example(),
    ("POST", "/api/archive"): Example(body=lambda _: AN_ARCHIVE),
    ("POST", "/api/import"): Example(body=lambda _: {"drafts": [{"content": "A note from elsewhere"}]}),
    ("GET", "/api/spaces"): Example(),
    ("POST", "/api/spaces"): Example(body=lambda _: {"name": "lab"}, status=201, needs_all_spaces=True),
    ("GET", "/api/spaces/{name}"): Example(lambda names: f"/api/spaces/{names.space}"),
    ("PATCH", "/api/spaces/{name}"): Example(
        lambda names: f"/api/spaces/{names.space}", lambda _: {"keeps_messages": True}
    ),
    ("DELETE", "/api/spaces/{name}"): Example(lambda names: f"/api/spaces/{names.space}"),
    ("GET", "/api/tokens"): Example(),
    ("POST", "/api/tokens"): Example(
        body=lambda names: {"scopes": ["read"], "spaces": [names.space]}, status=201
    ),
    ("PATCH", "/api/tokens/{token_id}"): Example(
        lambda names: f"/api/tokens/{names.token}", lambda _: {"max_requests": 100}
    ),
    ("POST", "/api/tokens/{token_id}/rotate"): Example(
        lambda names: f"/api/tokens/{names.token}/rotate", lambda _: {"grace": "1h"}
    ),
    ("DELETE", "/api/tokens/{token_id}"): Example(lambda names: f"/api/tokens/{names.token}"),
    ("POST", "/webhook/{token}/messages"): Example(
        lambda _: "/webhook/{secret}/messages", lambda _: {**SAID, "session": "from-a-hook"}
    ),
}
#: Routes that no scope can be declared for, each with its own test.
PROXY = {
    f"/proxy/{{token}}/{vendor}{path}"
    for vendor, paths in {
        "anthropic": ("/v1/messages", "/v1/messages/count_tokens", "/v1/models", "/v1/models/{model}"),
        "openai": (
            "/v1/chat/completions",
            "/v1/responses",
            "/v1/completions",
            "/v1/embeddings",
            "/v1/models",
            "/v1/models/{model}",
        ),
    }.items()
    for path in paths
}
BESIDE = {
    *PROXY,
    "/health",
    "/command",
    "/hooks/{event}",
    "/mcp",
    "/metrics",
    "/api/openapi.json",
    "/api/docs",
}
