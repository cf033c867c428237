"""The ASGI application of `holdfast serve`: health, hooks, MCP over HTTP, and the other routes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast import __version__
from holdfast.domain.access import EVERYTHING, Grant
from holdfast.engine.doors import DOOR
from holdfast.errors import Forbidden, Unavailable
from holdfast.web.service.background_tasks import Worker
from holdfast.web.service.error_responses import tell_problems
from holdfast.web.service.guard import LOCAL, Admit, Guard, Pages
from holdfast.web.service.logs import Watcher, watched

#: The answer to a hook, from its event, its input and the grant of its token.
Answer = Callable[[str, Mapping[str, Any], Grant], Mapping[str, Any]]
#: The output of a command line's command.
Commands = Callable[[Mapping[str, Any]], Mapping[str, Any]]
#: Requests at once. Those that write wait for each other in their threads; those that read need not.
THREADS = 128
NOT_THERE = "the database file was removed or replaced: restore it, then restart the service"
#: By the first part of the path; all other paths are pages.
_DOORS = {
    "api": "rest",
    "mcp": "mcp",
    "proxy": "proxy",
    "hooks": "hook",
    "webhook": "webhook",
    "command": "command line",
}
_HEAD_TOO = ("/health", "/metrics", "/api/memory/", "/api/docs", "/api/openapi.json")
_NO_TELEMETRY = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The services that routes find at `request.state`, by field name."""

    answer_hook: Answer
    answer_command: Commands
    check: Callable[[], None]  # raises Unavailable when the database is gone
    mcp: "MountedMcp"
    registry: Any  # the spaces, for REST and pages
    heard: Callable[[], None]  # called after new messages
    metrics: Any
    proxy: Any
    board: Any  # what the pages share


def application(
    parts: Parts,
    routes: FastAPI,
    *,
    admit: Admit,
    worker: Worker,
    outside: Sequence[str] = (),
    watchers: Sequence[Watcher] = (),
    pages: Pages | None = None,
) -> ASGIApp:
    """Everything behind the guard, for `outside` names too."""
    app = _WithParts(routes, parts, worker)
    hosts = {*LOCAL, *outside}
    return Guard(app, admit=admit, hosts=hosts, watched=watched(watchers), pages=pages)


def all_routes(routers: Sequence[APIRouter]) -> FastAPI:
    """All routes; creating them takes a fifth of a second, so do it once."""
    # FastAPI's own pages load scripts from elsewhere; the REST part brings pages that do not.
    app = FastAPI(
        title="Holdfast",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry=_NO_TELEMETRY,  # type: ignore[arg-type]  # all of its keys are optional
    )
    tell_problems(app)
    app.add_middleware(_HeadToo)
    for router in (_own, *routers):
        app.include_router(router)
    app.router.routes.append(Route("/mcp", _Mcp()))
    return app


_own = APIRouter()


@_own.get("/health")
def health(request: Request, response: Response) -> dict[str, bool | str]:
    """Whether the service is up and its database file is in place."""
    try:
        request.state.check()
    except Unavailable:  # public, so it reveals nothing about the database
        response.status_code = 503
        return {"ok": False, "detail": NOT_THERE}
    return {"ok": True}


@_own.post("/hooks/{event}", include_in_schema=False)
async def hook(event: str, payload: dict[str, Any], request: Request) -> Mapping[str, Any]:
    """The answer to an agent's hook."""
    answer: Answer = request.state.answer_hook
    return await _unless_gone(request, lambda: answer(event, payload, request.state.grant))


@_own.post("/command", include_in_schema=False)
def command(payload: dict[str, Any], request: Request) -> Mapping[str, Any]:
    """Runs a command of this user's command line."""
    if request.state.grant != EVERYTHING:
        raise Forbidden("commands need the local token of this user")
    answer: Commands = request.state.answer_command
    return answer(payload)


async def _unless_gone(request: Request, work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """The result of `work` in a thread; not started if the caller disconnects while waiting for one.

    An agent that waits too long for its hook goes on without it; work that no one waits for must not delay
    the rest.
    """
    from anyio import CancelScope
    from anyio.to_thread import run_sync

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    with CancelScope() as scope:
        watching = asyncio.ensure_future(left())
        try:
            return await run_sync(work)
        finally:
            watching.cancel()
    return {}


class _WithParts:
    """The shared routes with the parts of one application, and its background threads."""

    def __init__(self, routes: FastAPI, parts: Parts, worker: Worker) -> None:
        self._routes = routes
        self._state = {field.name: getattr(parts, field.name) for field in fields(parts)}
        self._life = Router(lifespan=_lifespan(parts, worker))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._life.lifespan(scope, receive, send)
            return
        scope.setdefault("state", {}).update(self._state)
        DOOR.set(_DOORS.get(scope["path"].lstrip("/").partition("/")[0], "dashboard"))
        await self._routes(scope, receive, send)


def _lifespan(parts: Parts, worker: Worker) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        from anyio.to_thread import current_default_thread_limiter

        current_default_thread_limiter().total_tokens = THREADS
        async with parts.mcp.running(), parts.proxy.running():
            worker.start()
            try:
                yield
            finally:
                worker.stop()

    return lifespan


@dataclass(frozen=True, slots=True)
class McpCaller:
    """The caller and space of an MCP request; None if the token covers only one space."""

    grant: Grant
    space: str | None


ASKING: ContextVar[McpCaller] = ContextVar("asking")


class MountedMcp:
    """The MCP server as part of the application, stateless.

    Created for the first client, because the SDK takes long to load.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request to the MCP server with the caller in a context variable, which its tasks and
        threads inherit.
        """
        app = self._app or await self._first()
        if "grant" in scope.get("state", {}):
            named = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("space", [None])[-1]
            ASKING.set(McpCaller(scope["state"]["grant"], named))
        await app(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        from anyio import Lock, create_task_group

        self._making = Lock()
        async with create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def _first(self) -> ASGIApp:
        from anyio.to_thread import run_sync

        async with self._making:
            if self._app is None:
                server, app = await run_sync(self._build)
                await self._tasks.start(_run_sessions, server)
                self._app = app
        return self._app

    def _build(self) -> tuple[Any, ASGIApp]:
        # The guard has checked host and origin already, and knows hosts that the SDK's own check does not.
        from mcp.server.transport_security import TransportSecuritySettings

        server = self._make()
        return server, server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )


async def _run_sessions(server: Any, *, task_status: Any) -> None:
    """Runs the SDK's session manager until the application ends."""
    from anyio import sleep_forever

    async with server.session_manager.run():
        task_status.started()
        await sleep_forever()


class _HeadToo:
    """Answers HEAD where GET is safe to repeat, like GET without the body.

    Not elsewhere: a delta is sent to a session once, and a page's URL may contain a one-time code.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or not scope["path"].startswith(_HEAD_TOO):
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        asked = {**scope, "method": "GET"}
        try:
            await self._app(asked, receive, without_body)
        finally:
            scope.update({**asked, "method": "HEAD"})  # logs and metrics get the route from it


class _Mcp:
    """The MCP server of the request's application."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope["state"]["mcp"](scope, receive, send)
