"""What can be told of a request without what it was about: method, kind of route, status, how long it took.

Plain ASGI. Addresses, headers and bodies are never passed on: they may hold memories and tokens.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

UNMATCHED = "unmatched"  # no route answers to this address
REFUSED = "refused"  # the guard did not let it in, so nobody looked where it was going
GONE = 499  # the caller left before there was an answer
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """One request that was answered."""

    id: str
    method: str
    route: str  # its form, as `/api/memory/{memory_id}`
    status: int
    seconds: float  # until the last byte of the answer was handed over
    token: str | None  # the id of the token, which is no secret


Watcher = Callable[[RequestFacts], None]


def watched(watchers: Sequence[Watcher]) -> Callable[[ASGIApp], ASGIApp]:
    """Tells `watchers` of every request to an application once it is answered."""

    def around(app: ASGIApp) -> ASGIApp:
        async def seen(scope: Scope, receive: Receive, send: Send) -> None:
            began = time.perf_counter()
            answered: list[int] = []

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    answered.append(int(message["status"]))
                await send(message)

            ended = False
            try:
                await app(scope, receive, noting)
                ended = True
            finally:
                status = answered[0] if answered else (GONE if ended else 500)
                told = _told(scope, status, time.perf_counter() - began)
                for watcher in watchers:
                    watcher(told)

        return seen

    return around


def _told(scope: Scope, status: int, seconds: float) -> RequestFacts:
    grant = scope.get("state", {}).get("grant")
    method = str(scope.get("method", ""))
    return RequestFacts(
        id=secrets.token_hex(6),
        method=method if method in _METHODS else "OTHER",
        route=_route(scope),
        status=status,
        seconds=seconds,
        token=grant.token if grant is not None else None,
    )


def _route(scope: Scope) -> str:
    """The form of the address; FastAPI keeps the whole of it beside the route of an included router."""
    context = scope.get("fastapi", {}).get("effective_route_context")
    for found in (context, scope.get("route")):
        form = getattr(found, "path_format", None) or getattr(found, "path", None)
        if form:
            return str(form)
    return UNMATCHED if "router" in scope else REFUSED
