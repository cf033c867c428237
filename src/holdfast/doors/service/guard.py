"""Who may speak to the service: local hosts, own pages, holders of a token, with bodies of bounded size.

Plain ASGI around the whole application, so that no route and no mounted part can be reached around it. What a
token allows is put beside the request (`state.grant`); whoever answers holds it against what is asked.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

from holdfast.domain.grant import Grant
from holdfast.errors import Unavailable
from holdfast.problems import MEDIA_TYPE, problem

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Admit = Callable[[str], Grant | None]  # a token's secret to what its holder may do; may look into the store

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
OPEN = frozenset({"/health"})  # says that the service is there, and nothing else
#: For programs that can be told an address and nothing else, the token is the part of it after this.
IN_ADDRESS = ("/proxy/", "/webhook/")
MOST_BYTES = 4 * 1024 * 1024

_NO_TOKEN = "a token is needed: Authorization: Bearer TOKEN (`holdfast token create` makes one)"
Refusal = tuple[int, str]


class Guard:
    """Lets a request through to `app`, or answers why not."""

    def __init__(self, app: App, *, admit: Admit, hosts: Collection[str] = LOCAL) -> None:
        self._app = app
        self._admit = admit
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks websockets: not accepting closes the connection
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refusal(headers)
        if refused is None and scope["path"] not in OPEN:
            refused = await self._let_in(scope, headers)
        if refused is not None:
            await _answer(send, *refused)
            return
        await self._app(scope, _bounded(receive), send)

    def _refusal(self, headers: Mapping[str, str]) -> Refusal | None:
        """Status and reason, when the request may not go on, whoever sends it."""
        if _host_of(f"//{headers.get('host', '')}") not in self._hosts:
            return 421, "this service answers to local names only: use http://127.0.0.1"
        origin = headers.get("origin")
        if origin is not None and _host_of(origin) not in self._hosts:
            return 403, "pages of other origins may not ask this service"
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > MOST_BYTES:
            return 413, f"the body is too large: at most {MOST_BYTES:,} bytes fit"
        return None

    async def _let_in(self, scope: Scope, headers: Mapping[str, str]) -> Refusal | None:
        """Puts what the token allows beside the request, or says why there is nothing."""
        from anyio.to_thread import run_sync

        secret = _secret(scope["path"], headers)
        if not secret:
            return 401, _NO_TOKEN
        try:
            grant = await run_sync(self._admit, secret)
        except Unavailable as trouble:
            return 503, str(trouble)
        if grant is None:
            return 401, _NO_TOKEN
        scope.setdefault("state", {})["grant"] = grant
        return None


def _secret(path: str, headers: Mapping[str, str]) -> str:
    for place in IN_ADDRESS:
        if path.startswith(place):
            return path.removeprefix(place).partition("/")[0]
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


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
    body = json.dumps(problem(status, reason)).encode()
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
