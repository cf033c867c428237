"""Requests to the upstream and its answers, byte for byte, for as long as the client is there.

The operator sets where an upstream is; nothing in a request can name another place, and redirects are left
to the client. A response is parsed while it passes, and never delayed.
"""

import json
import logging
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from holdfast.agents.proxy.api_shapes import ApiReply
from holdfast.domain.dialogue import Turn
from holdfast.models.http_json import is_here

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 32 * 1024 * 1024  # of a response; a longer one is not stored
_UNPACKED = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
_log = logging.getLogger(__name__)


class AnswerReader:
    """One response: `hear` takes its bytes, `answer` is set once the model has finished."""

    def __init__(self, reply: ApiReply, headers: Mapping[str, str]) -> None:
        self._reply = reply
        self._events = "text/event-stream" in headers.get("content-type", "").lower()
        packed = headers.get("content-encoding", "").strip().lower()
        self._deaf = packed not in _UNPACKED
        bits = _UNPACKED.get(packed)
        self._unpacked = zlib.decompressobj(bits) if bits is not None else None
        self._waiting = bytearray()
        self._size = 0
        length = headers.get("content-length", "")
        self._left = int(length) if length.isascii() and length.isdigit() else None  # remaining bytes

    @property
    def answer(self) -> Turn | None:
        """The model's turn, if it is complete."""
        return self._reply.turn() if self._reply.complete and not self._deaf else None

    def hear(self, data: bytes) -> bool:
        """Takes the next bytes; true when they complete the answer.

        If they can't be parsed, reading ends and nothing else happens.
        """
        if self._deaf or self._reply.complete:
            return False
        if self._left is not None:
            self._left -= len(data)
        try:
            if self._unpacked is not None:
                data = self._unpacked.decompress(data, MAX_BYTES)
            self._size += len(data)
            if self._size > MAX_BYTES or (self._unpacked is not None and self._unpacked.unconsumed_tail):
                raise ValueError("answer too long")
            self._waiting += data
            if self._events:
                self._lines()
        except (ValueError, zlib.error, RecursionError) as error:
            self._end(error)
        if self._left == 0 and not self._events:
            return self.ended()
        return self.answer is not None

    def ended(self) -> bool:
        """Ends the stream; true if that completes the answer."""
        if self._deaf or self._reply.complete or self._events:
            return False
        try:
            found = json.loads(self._waiting)
            if isinstance(found, dict):
                self._reply.whole(found)
        except (ValueError, RecursionError) as error:
            self._end(error)
        return self.answer is not None

    def _lines(self) -> None:
        *lines, rest = bytes(self._waiting).split(b"\n")
        self._waiting = bytearray(rest)
        for line in lines:
            if line.startswith(b"data:"):
                self._event(line[5:].strip())

    def _event(self, data: bytes) -> None:
        if data == b"[DONE]":
            self._reply.end()
        elif data:
            found: Any = json.loads(data)
            if isinstance(found, dict):
                self._reply.event(found)

    def _end(self, error: Exception) -> None:
        self._deaf = True
        _log.warning("an answer could not be recorded: %s", type(error).__name__)


Headers = Sequence[tuple[bytes, bytes]]

_CONNECT = 10.0  # seconds
_SILENCE = 900.0  # seconds without a byte: a long answer without streaming arrives at its end
_KEPT_ALIVE = 20  # connections
#: What belongs to one connection, not to what it carries.
_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer"
    b" transfer-encoding upgrade".split()
)
# Responses are requested uncompressed, so that they can be parsed; the length is set anew.
_NOT_FORWARDED: Final = _HOP | {b"host", b"content-length", b"accept-encoding", b"expect"}
_OURS: Final = b"x-holdfast-"
# Headers of the upstream's own connection, or set by our server.
_NOT_ANSWERED: Final = _HOP | {b"date", b"server", b"alt-svc", b"strict-transport-security"}
_PAGES: Final = b"access-control-"  # CORS is not the upstream's decision


class Upstream:
    """One model's API: its address, and the connections to it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: httpx2.AsyncClient | None = None

    def request(
        self, method: str, path: str, query: bytes, headers: Headers, body: bytes, *, plain: bool = False
    ) -> "httpx2.Request":
        """A request to this upstream; `plain`: the body is not packed any more."""
        import httpx2

        target = f"{self._url}{path}" + (f"?{query.decode('latin-1')}" if query else "")
        dropped = _NOT_FORWARDED | {b"content-encoding"} if plain else _NOT_FORWARDED
        kept = [*_keep_headers(headers, dropped, _OURS), (b"accept-encoding", b"identity")]
        # Made here and not by the client, which would add headers of its own.
        return httpx2.Request(method, target, headers=kept, content=body if method != "GET" else None)

    async def send(self, request: "httpx2.Request") -> "httpx2.Response":
        """Sends the request and returns the response with only its headers read. Raises: httpx2.HTTPError."""
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(_SILENCE, connect=_CONNECT),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=_KEPT_ALIVE),
                follow_redirects=False,
                trust_env=not is_here(self._url),
            )
        return await self._client.send(request, stream=True)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


class Passing(Response):
    """A streaming response to the client. If either side disconnects, both connections end."""

    def __init__(
        self,
        upstream: Upstream,
        request: "httpx2.Request",
        *,
        problem: Callable[[int, str], Mapping[str, Any]],
        listening: Callable[[Mapping[str, str]], AnswerReader] | None = None,
        heard: Callable[[AnswerReader], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self._upstream = upstream
        self._request = request
        self._problem = problem
        self._listening = listening
        self._heard = heard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from anyio import create_task_group

        async with create_task_group() as tasks:

            async def until_gone() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(until_gone)
            await self._passed(scope, receive, send)
            tasks.cancel_scope.cancel()

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        import httpx2

        try:
            answer = await self._upstream.send(self._request)
        except httpx2.HTTPError as error:
            status, why = _why(error)
            host = self._request.url.host
            _log.warning("the upstream %s %s", host, why)
            told = JSONResponse(dict(self._problem(status, f"the upstream {host} {why}")), status)
            await told(scope, receive, send)
            return
        try:
            await self._streamed(answer, send)
        finally:
            from anyio import CancelScope

            with CancelScope(shield=True):
                await answer.aclose()

    async def _streamed(self, answer: "httpx2.Response", send: Send) -> None:
        import httpx2

        listens = self._listening is not None and answer.status_code == 200
        hearing = self._listening(answer.headers) if self._listening is not None and listens else None
        headers = _keep_headers(answer.headers.raw, _NOT_ANSWERED, _PAGES)
        await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
        try:
            async for data in answer.aiter_raw():
                if hearing is not None and hearing.hear(data):
                    self._heard(
                        hearing
                    )  # before the client has all of it: its next request may follow at once
                await send({"type": "http.response.body", "body": data, "more_body": True})
        except httpx2.HTTPError as error:
            # As with a direct connection, the client sees that the response is incomplete.
            _log.warning(
                "the upstream %s closed the connection: %s", self._request.url.host, type(error).__name__
            )
            return
        if hearing is not None and hearing.ended():
            self._heard(hearing)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _keep_headers(headers: Iterable[tuple[bytes, bytes]], dropped: frozenset[bytes], family: bytes) -> Any:
    """The headers to forward, in order."""
    given = [(name.lower(), name, value) for name, value in headers]
    named = b",".join(value for lower, _, value in given if lower == b"connection")
    also = {token.strip().lower() for token in named.split(b",")}
    return [
        (name, value)
        for lower, name, value in given
        if lower not in dropped and lower not in also and not lower.startswith(family)
    ]


def _why(error: Exception) -> tuple[int, str]:
    import httpx2

    match error:
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            return 502, "is unreachable"
        case httpx2.TimeoutException():
            return 504, "timed out"
        case _:
            return 502, "closed the connection without an answer"
