"""The service's log on standard error: requests, errors, and who signs in and administers; text or JSON.

No line contains a memory, an address or a secret. An exception is logged by type and traceback; its message
is left out, because it may quote stored text.
"""

import asyncio
import json
import logging
import secrets
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any, Literal

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.engine import security_log
from holdfast.engine.intake import safe

UNMATCHED = "unmatched"  # no route for this path
REFUSED = "refused"  # rejected by the guard, before routing
GONE = 499  # the client disconnected first
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFacts:
    """One request that was answered."""

    id: str
    method: str
    route: str  # its form, as `/api/memory/{memory_id}`
    status: int
    seconds: float  # until the last byte of the response
    token: str | None  # the id of the token, which is no secret


Watcher = Callable[[RequestFacts], None]


def watched(watchers: Sequence[Watcher]) -> Callable[[ASGIApp], ASGIApp]:
    """Middleware that reports every answered request to `watchers`."""

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
                told = _facts_of(scope, status, time.perf_counter() - began)
                for watcher in watchers:
                    watcher(told)

        return seen

    return around


def _facts_of(scope: Scope, status: int, seconds: float) -> RequestFacts:
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
    """The path template; FastAPI stores it elsewhere for an included router."""
    context = scope.get("fastapi", {}).get("effective_route_context")
    for found in (context, scope.get("route")):
        form = getattr(found, "path_format", None) or getattr(found, "path", None)
        if form:
            return str(form)
    return UNMATCHED if "router" in scope else REFUSED


LogForm = Literal["off", "text", "json"]

_requests = logging.getLogger("holdfast.requests")
_MAX_FRAMES = 8
_MAX_CAUSES = 5


def log_request(seen: RequestFacts) -> None:
    """A watcher that writes a line a request."""
    if _requests.isEnabledFor(logging.INFO):
        fields = {
            "id": seen.id,
            "method": seen.method,
            "route": seen.route,
            "status": seen.status,
            "ms": round(seen.seconds * 1_000, 1),
            "token": seen.token,
        }
        _requests.info("request", extra={"fields": fields})


def set_up(form: LogForm, stream: IO[str] | None = None) -> None:
    """Logs to standard error; `off` leaves out the requests."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(AsJson() if form == "json" else AsText())
    handler.addFilter(_worth_a_line)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    security_log.log.setLevel(logging.INFO)
    _requests.setLevel(logging.WARNING if form == "off" else logging.INFO)


def _worth_a_line(record: logging.LogRecord) -> bool:
    """Requests that are cut off when the service ends are no errors."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


class AsJson(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the fields of a request."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            told["error"] = _causes(record.exc_info[1])
        return json.dumps(told, ensure_ascii=False)


class AsText(logging.Formatter):
    """The same for people."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", None)
        if fields is not None:
            shown = " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)
            return f"{_moment(record)} {shown}"
        line = f"{_moment(record)} {record.levelname.lower()} {record.name}: {_message(record)}"
        if record.exc_info and record.exc_info[1] is not None:
            for cause in _causes(record.exc_info[1]):
                line += f"\n  {cause['kind']}" + "".join(f"\n    at {place}" for place in cause["at"])
        return line


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _message(record: logging.LogRecord) -> str:
    """The text on one line, without what looks like a secret."""
    return " ".join(safe(record.getMessage()).split())


def _causes(error: BaseException) -> list[dict[str, Any]]:
    """An exception and what it came from, the outermost first: kinds and places, no messages."""
    told: list[dict[str, Any]] = []
    cause: BaseException | None = error
    while cause is not None and len(told) < _MAX_CAUSES:
        frames = traceback.extract_tb(cause.__traceback__)[-_MAX_FRAMES:]
        places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        told.append({"kind": f"{type(cause).__module__}.{type(cause).__qualname__}", "at": places})
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return told
