"""Auth middleware: checks host, origin, token and body size of every request, and sets `state.grant`."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import NamedTuple, Protocol
from urllib.parse import quote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.domain.access import Grant
from holdfast.errors import TokenExpired, Unavailable
from holdfast.web.service.token_use import CachedGrants, RequestRates
from holdfast.wire.http_errors import MEDIA_TYPE, problem

Admit = Callable[[str], Grant | None]  # a token's secret to its grant; may read the store

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
OPEN = frozenset({"/health"})  # only reports that the service runs
#: What programs call, by the first part of the path: always JSON. At any other address a browser gets a page.
_PROGRAMS = frozenset({"api", "mcp", "proxy", "hooks", "webhook", "command", "health", "metrics"})
#: For programs that can only be given a URL, the token is the path segment after this prefix.
IN_ADDRESS = ("/proxy/", "/webhook/")
IMPORT = "/import"
PROXY = "/proxy/"  # cached tokens still work here while the database is down
MAX_BYTES = 4 * 1024 * 1024
BODY_WITHIN = 20.0  # seconds for the next piece of a body
MAX_LARGE = 32 * 1024 * 1024  # conversations with pictures in them, and files to import
ARCHIVE = "/api/archive"
MAX_ARCHIVE = 64 * 1024 * 1024  # packed: a whole space

_NO_TOKEN = "missing or invalid token: send Authorization: Bearer TOKEN (create one on the settings page)"
_WRONG_ADDRESS = "the token in the URL is unknown or revoked: create one on the settings page"
_TOO_LARGE = "request body too large: at most {:,} bytes"
_TOO_SLOW = "request body incomplete: no data for {:g} s"
_TOO_OFTEN = "too many requests: this token may make {:,} a minute; try again in {} s"
_FOREIGN_FORM = "cross-origin request refused: use the dashboard of this service"
_SAFE = ("GET", "HEAD")
_SHIELD = {"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"}


class Refusal(NamedTuple):
    """A status, the reason, and headers besides those that the status always has."""

    status: int
    reason: str
    headers: Mapping[str, str] = {}


class Pages(Protocol):
    """The part of the service that browsers look at: there, and nowhere else, a cookie counts as a token."""

    @property
    def login(self) -> str: ...
    def covers(self, path: str) -> bool: ...
    def is_open(self, path: str) -> bool: ...
    def secret(self, headers: Mapping[str, str]) -> str: ...
    def admit(self, secret: str) -> Grant | None: ...
    def wrong(self, status: int, detail: str, headers: Mapping[str, str]) -> Response: ...


class Guard:
    """Passes a request to `app`, or rejects it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        admit: Admit,
        hosts: Collection[str] = LOCAL,
        watched: Callable[[ASGIApp], ASGIApp] = lambda app: app,
        pages: Pages | None = None,
    ) -> None:
        self._app = app
        self._admit = admit
        self._cached = CachedGrants(admit)
        self._rates = RequestRates()
        self._hosts = frozenset(hosts)
        self._pages = pages
        self._answered = watched(self._answer)  # what is refused is seen as well

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "http":  # no websockets: not accepting closes the connection
            await self._answered(scope, receive, _shielded(send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        large = scope["path"].startswith(PROXY) or scope["path"] == IMPORT
        most = MAX_ARCHIVE if scope["path"] == ARCHIVE else MAX_LARGE if large else MAX_BYTES
        refused, page = self._refusal(headers, most), None
        if refused is None and scope["path"] not in OPEN:
            if self._pages is not None and _by_browser(self._pages, scope["path"], headers):
                refused = await self._authenticate_browser(self._pages, scope, headers)
                page = _shown(self._pages, refused, scope, headers) if refused else None
            else:
                refused = await self._authenticate(scope, headers)
        if refused is not None:
            await (page or _answer(refused))(scope, receive, send)
            return
        body = _Bounded(scope, receive, send, most)
        await self._app(scope, body.receive, body.send)

    def _refusal(self, headers: Mapping[str, str], most: int) -> Refusal | None:
        """The status and reason if the request is rejected, whatever its token."""
        if _host_of(f"//{headers.get('host', '')}") not in self._hosts:
            return Refusal(
                421, "unknown host name: this service answers only to local names, such as 127.0.0.1"
            )
        origin = headers.get("origin")
        if origin is not None and not self._own(origin, headers["host"]):
            return Refusal(403, "cross-origin requests are not allowed")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > most:
            return Refusal(413, _TOO_LARGE.format(most))
        return None

    def _own(self, origin: str, host: str) -> bool:
        """Whether an origin is this service's: the requested host and port, or a public host name.

        Another port of this machine is another program. For public names the port of the TLS proxy is
        unknown.
        """
        if not origin.startswith(("http://", "https://")):
            return False
        return _host_of(origin) in self._hosts - LOCAL or origin.partition("://")[2].lower() == host.lower()

    async def _authenticate(self, scope: Scope, headers: Mapping[str, str]) -> Refusal | None:
        """Authenticates by token and sets `state.grant`, or returns why not."""
        of_proxy = scope["path"].startswith(PROXY)
        admit = self._cached if of_proxy else _in_thread(self._admit)
        refused = await _admitted(scope, admit, _secret(scope["path"], headers))
        return refused or self._too_often(scope, of_proxy=of_proxy)

    def _too_often(self, scope: Scope, *, of_proxy: bool = False) -> Refusal | None:
        """Counts a request of a token. Its proxy goes on, without memory: an agent must not stop for it."""
        grant: Grant = scope["state"]["grant"]
        wait = self._rates.wait(grant)
        scope["state"]["too_often"] = wait > 0
        if not wait or of_proxy:
            return None
        says = _TOO_OFTEN.format(grant.max_requests, wait)
        return Refusal(429, says, {"retry-after": str(wait)})

    async def _authenticate_browser(
        self, pages: Pages, scope: Scope, headers: Mapping[str, str]
    ) -> Refusal | None:
        """Authenticates by cookie, with a CSRF check: the cookie is sent for cross-site requests too."""
        if scope["method"] not in _SAFE and not _own_page(headers):
            return Refusal(403, _FOREIGN_FORM)
        if pages.is_open(scope["path"]):
            return None
        secret = pages.secret(headers)
        refused = await _admitted(scope, _in_thread(pages.admit), secret)
        if refused is None:
            scope["state"]["browser"] = secret
        return refused or self._too_often(scope)


def _in_thread(admit: Admit) -> Callable[[str], Awaitable[Grant | None]]:
    async def asked(secret: str) -> Grant | None:
        from anyio.to_thread import run_sync

        return await run_sync(admit, secret)

    return asked


async def _admitted(
    scope: Scope, admit: Callable[[str], Awaitable[Grant | None]], secret: str
) -> Refusal | None:
    unknown = _WRONG_ADDRESS if scope["path"].startswith(IN_ADDRESS) else _NO_TOKEN
    if not secret:
        return Refusal(401, unknown)
    try:
        grant = await admit(secret)
    except TokenExpired as error:
        return Refusal(401, str(error))
    except Unavailable as error:
        return Refusal(503, str(error))
    if grant is None:
        return Refusal(401, unknown)
    scope.setdefault("state", {})["grant"] = grant
    return None


def _by_browser(pages: Pages, path: str, headers: Mapping[str, str]) -> bool:
    if "authorization" in headers:
        return False
    first = path.lstrip("/").partition("/")[0]
    wrong_address = "text/html" in headers.get("accept", "") and first not in _PROGRAMS
    return wrong_address or pages.covers(path)


def _own_page(headers: Mapping[str, str]) -> bool:
    """Whether the request comes from a page of this service: same host and port."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is None and origin is None:
        return False
    try:
        same = origin is None or urlsplit(origin).netloc == headers.get("host")
    except ValueError:
        return False
    return same and site in (None, "same-origin")


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


def _shielded(send: Send) -> Send:
    """Adds headers that keep pages of other origins from embedding the response."""

    async def with_shield(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _SHIELD.items():
                headers.setdefault(name, value)
        await send(message)

    return with_shield


class _Bounded:
    """Limits the size and the pauses of a request body, whatever its headers say.

    The handler only sees a disconnect, so this class sends the 408 or 413 itself.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._most = most
        self._seen = 0
        self._whole = False
        self._refused: Refusal | None = None
        self._answered = False

    async def receive(self) -> Message:
        # After the body only http.disconnect follows; it has no timeout.
        message = await (self._receive() if self._whole else self._piece())
        self._seen += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._seen > self._most:
            self._refused = Refusal(413, _TOO_LARGE.format(self._most))
        return {"type": "http.disconnect"} if self._refused else message

    async def _piece(self) -> Message:
        from anyio import move_on_after

        with move_on_after(BODY_WITHIN):
            return await self._receive()
        self._refused = Refusal(408, _TOO_SLOW.format(BODY_WITHIN))
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if self._refused is None or self._answered:
            self._answered = True
            await self._send(message)
        elif message["type"] == "http.response.start":
            await _answer(self._refused)(self._scope, self._receive, self._send)


def _shown(pages: Pages, refused: Refusal, scope: Scope, headers: Mapping[str, str]) -> Response | None:
    """What a person gets in place of JSON: the login page, or the reason as a page."""
    if refused.status == 401:
        return _to_login(pages.login, scope, headers)
    as_page = "text/html" in headers.get("accept", "") and "hx-request" not in headers
    return pages.wrong(*refused) if as_page else None


def _to_login(login: str, scope: Scope, headers: Mapping[str, str]) -> Response:
    """Redirects a browser to the login page, which redirects back."""
    query = scope.get("query_string", b"").decode("latin-1")
    asked = scope["path"] + (f"?{query}" if query else "")
    if "hx-request" in headers:  # a part of a page: the whole page has to redirect
        return Response(status_code=401, headers={"hx-redirect": login, "cache-control": "no-store"})
    back = f"?next={quote(asked, safe='')}" if scope["method"] in _SAFE and asked != "/" else ""
    return Response(status_code=303, headers={"location": f"{login}{back}", "cache-control": "no-store"})


def _answer(refused: Refusal) -> Response:
    status = refused.status
    usual = {401: {"www-authenticate": "Bearer"}, 408: {"connection": "close"}}.get(status, {})
    return JSONResponse(problem(status, refused.reason), status, {**usual, **refused.headers}, MEDIA_TYPE)
