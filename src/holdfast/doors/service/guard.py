"""Who may speak to the service: local hosts, own pages, holders of the token, with bodies of bounded size.

Plain ASGI around the whole application, so that no route and no mounted part can be reached around it.
"""

import hmac
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
OPEN = frozenset({"/health"})  # says that the service is there, and nothing else
MOST_BYTES = 4 * 1024 * 1024


class Guard:
    """Lets a request through to `app`, or answers why not."""

    def __init__(self, app: App, *, token: str, hosts: Collection[str] = LOCAL) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks websockets: not accepting closes the connection
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refusal(scope["path"], headers)
        if refused is not None:
            await _answer(send, *refused)
            return
        await self._app(scope, _bounded(receive), send)

    def _refusal(self, path: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Status and reason, when the request may not go on."""
        if _host_of(f"//{headers.get('host', '')}") not in self._hosts:
            return 421, "this service answers to local names only: use http://127.0.0.1"
        origin = headers.get("origin")
        if origin is not None and _host_of(origin) not in self._hosts:
            return 403, "pages of other origins may not ask this service"
        if path not in OPEN and not self._known(headers.get("authorization", "")):
            return 401, "a token is needed: Authorization: Bearer TOKEN (`holdfast where` names its file)"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"the body is too large: at most {MOST_BYTES:,} bytes fit"
        return None

    def _known(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(
            token.strip().encode("latin-1", "replace"), self._token
        )


def _host_of(place: str) -> str | None:
    try:
        return urlsplit(place).hostname
    except ValueError:
        return None


def _bounded(receive: Receive) -> Receive:
    """The same body, cut off where it grows past the limit whatever its headers said."""
    seen = 0

    async def counted() -> dict[str, Any]:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            return {"type": "http.disconnect"}
        return message

    return counted


async def _answer(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"title": reason, "status": status}).encode()
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
