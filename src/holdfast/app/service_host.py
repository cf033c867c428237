"""Builds and runs the service and the MCP server on standard input; `_worker` lists the background tasks."""

import atexit
import hmac
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from holdfast.app import paths, service_lock, wiring
from holdfast.app.space_registry import SpaceRegistry
from holdfast.domain.access import EVERYTHING, Grant
from holdfast.engine.memories import Memories
from holdfast.engine.space_context import shown_later
from holdfast.errors import HoldfastError, Invalid, Unavailable
from holdfast.settings import Settings

if TYPE_CHECKING:
    import socket

    from fastapi import FastAPI
    from starlette.types import ASGIApp

    from holdfast.agents.brief_files import BriefFiles
    from holdfast.engine.ports import TimeUp
    from holdfast.web.dashboard.browsers import Browsers
    from holdfast.web.service.app import McpCaller
    from holdfast.web.service.background_tasks import Chore, Worker
    from holdfast.web.service.logs import LogForm

#: Carries out what a command line on this machine asks for; answers nothing where it has to do so itself.
Commands = Callable[[SpaceRegistry, Mapping[str, Any]], Mapping[str, Any]]
NO_COMMANDS: Commands = lambda registry, asked: {}  # noqa: E731

PORT = 7437
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve_mcp(db: str | None, space: str | None, *, project: str | None, session: str | None) -> None:
    """Speaks MCP on standard input and output until the client is done."""
    from holdfast.agents.mcp import serve

    registry = SpaceRegistry(db, space, door="mcp")
    focus = project or paths.project_of(os.getcwd())
    try:
        serve(lambda: registry.memories().speaking_as("assistant", session=session, project=focus))
    finally:
        registry.close()


def serve(
    db: str | None,
    space: str | None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    outside: Sequence[str] = (),
    log: "LogForm" = "off",
    said: Callable[[str, str], None] = lambda url, login: None,
    commands: Commands = NO_COMMANDS,
) -> None:
    """Runs the service until a signal; `said` gets its URL and a login link.

    `outside` are the public host names; without one it answers only this machine. Raises: Conflict, if a
    service of this home is running; Invalid, Unavailable.
    """
    from holdfast.web.service import http_server, logs

    logs.set_up(log)
    with service_lock.single_instance_lock():
        listening = _listening(host, port, outside)
        registry = SpaceRegistry(db, space, waits=False)
        url = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        try:
            worker, own = _worker(registry), service_lock.own_token()
            browsers = _browsers(own, registry)
            app = assembled(registry, worker, own=own, outside=outside, browsers=browsers, commands=commands)
            with suppress(HoldfastError):  # before the first request, which reports errors itself
                registry.memories()
            with http_server.until_a_signal(), service_lock.address(url, registry.db), _watch(worker.wake):
                http_server.serve(
                    app,
                    listening,
                    started=lambda: said(url, _login(host, listening, browsers)),
                    leaving=service_lock.remove_address_file,
                )
        finally:
            listening.close()
            registry.close()
    atexit.register(http_server.leave)


def _listening(host: str, port: int, outside: Sequence[str]) -> "socket.socket":
    from holdfast.web.service.http_server import listen

    if host not in LOOPBACK and not outside:
        right = f"use {' or '.join(LOOPBACK)}, or add --outside with the public host name"
        raise Invalid(f"{host!r} is not a local address: {right}", field="host")
    try:
        return listen(host, port)
    except OSError as error:
        raise Unavailable(
            f"can't listen on {host} port {port} ({error.strerror}): choose another port with --port"
        ) from None


def assembled(
    registry: SpaceRegistry,
    worker: "Worker | None" = None,
    *,
    own: str,
    outside: Sequence[str] = (),
    browsers: "Browsers | None" = None,
    commands: Commands = NO_COMMANDS,
) -> "ASGIApp":
    """Builds the ASGI app: all interfaces (REST, MCP, hooks, proxy, dashboard) behind the auth middleware."""
    from holdfast.agents import proxy
    from holdfast.web import dashboard
    from holdfast.web.service import metrics
    from holdfast.web.service.app import ASKING, MountedMcp, Parts, application
    from holdfast.web.service.background_tasks import Worker
    from holdfast.web.service.logs import log_request

    worker = worker or Worker([])  # no background tasks
    figures = metrics.Metrics(registry.figures)
    board, entrance = dashboard.dashboard(browsers or _browsers(own, registry))
    parts = Parts(
        answer_hook=_hooks(registry, worker.wake),
        answer_command=lambda asked: commands(registry, asked),
        check=registry.check,
        mcp=MountedMcp(lambda: _mcp(lambda: _for_model(registry, ASKING.get()))),
        registry=registry,
        heard=worker.wake,
        metrics=figures,
        proxy=proxy.Proxy(registry, upstreams=Settings.read().upstreams, heard=worker.wake),
        board=board,
    )
    return application(
        parts,
        _routes(),
        admit=_admission(own, registry),
        worker=worker,
        outside=outside,
        pages=entrance,
        watchers=[figures.seen, log_request],
    )


def _mcp(open_memories: Callable[[], Memories]) -> Any:
    from holdfast.agents.mcp import server

    return server(open_memories)


@cache
def _routes() -> "FastAPI":
    from holdfast.agents import proxy
    from holdfast.web import dashboard, rest
    from holdfast.web.service import metrics
    from holdfast.web.service.app import all_routes

    return all_routes([rest.router, metrics.router, proxy.router, dashboard.router])


@contextmanager
def _watch(woken: Callable[[], None]) -> Iterator[None]:
    """Notices what is done by hand in bound directories, for as long as the service runs."""
    from holdfast.files.watcher import Watching

    watching = Watching(woken)
    watching.start()
    try:
        yield
    finally:
        watching.stop()


def _admission(own: str, registry: SpaceRegistry) -> Callable[[str], Grant | None]:
    """Authenticates the local token of this user, with all rights, and the tokens in the database."""

    def admit(secret: str) -> Grant | None:
        if hmac.compare_digest(secret.encode("utf-8", "replace"), own.encode()):
            return EVERYTHING
        return registry.admit(secret)

    return admit


def _browsers(own: str, registry: SpaceRegistry) -> "Browsers":
    """The signed-in browsers; each has the rights of the token that it signed in with."""
    from holdfast.web.dashboard.browsers import Browsers, hashed

    owners = hashed(own)

    def held(token_hash: str) -> Grant | None:
        return EVERYTHING if hmac.compare_digest(token_hash, owners) else registry.admit_known(token_hash)

    return Browsers(own=own, held=held, rows=lambda: registry.memories().store.browsers, clock=wiring.utc_now)


def _login(host: str, listening: "socket.socket", browsers: "Browsers") -> str:
    """A link that opens the dashboard on this machine, once."""
    from holdfast.web.dashboard.login import link_path

    there = host if host in LOOPBACK else LOOPBACK[0]
    named = f"[{there}]" if ":" in there else there
    return f"http://{named}:{listening.getsockname()[1]}{link_path(browsers)}"


def _for_model(registry: SpaceRegistry, asking: "McpCaller") -> Memories:
    """The memories for a model over MCP: the default space for the local token, else the token's."""
    if asking.grant == EVERYTHING:
        found = registry.memories(asking.space)
    else:
        found = registry.entered(asking.grant, asking.space)
    return found.speaking_as("assistant")


def _hooks(
    registry: SpaceRegistry, wake: Callable[[], None]
) -> Callable[[str, Mapping[str, Any], Grant], Mapping[str, Any]]:
    """Answers hooks from the space that they name; what they noted down is taken in soon."""
    from holdfast.agents.hooks.responses import answer

    def answered(event: str, body: Mapping[str, Any], grant: Grant) -> Mapping[str, Any]:
        space = body.get("space")
        grant.require(
            "admin", everywhere="hooks need the local token of this user, not a token for some spaces"
        )
        named = space if isinstance(space, str) and space else None
        told = answer(event, body, registry.memories(named).granted(grant))
        wake()
        return told

    return answered


def _worker(registry: SpaceRegistry) -> "Worker":
    """The background tasks, the most urgent first.

    Tasks that call remote models run on their own thread, so that nothing waits for them.
    """
    from holdfast.agents import capture_off
    from holdfast.engine.ports import InProcess
    from holdfast.web.service.background_tasks import Worker, capture, reading, upkeep, vectors

    spaces = registry.spaces, registry.memories
    loading = registry.warm_up()
    here = registry.embedder is None or isinstance(registry.embedder, InProcess)
    embed = [_shown_later(vectors(*spaces, registry.writes))]
    read = [reading(*spaces, capture_off.reason, registry.writes)] if registry.reads else []
    return Worker(
        [
            *_first_chores(registry),
            _shown_later(capture(*spaces, capture_off.reason, registry.writes)),
            *(embed if here else ()),
        ],
        when_idle=[_shown_later(upkeep(*spaces, registry.writes))],
        beside=[*read, *(() if here else embed)],
        loads=lambda time_up: next(loading, True) is None,
    )


def _shown_later(chore: "Chore") -> "Chore":
    """The same, but what it changes is shown in files by the chores that come first, in the next round."""

    def run(time_up: "TimeUp") -> bool:
        with shown_later() as changed:
            return chore(time_up) or changed()

    return run


def _first_chores(registry: SpaceRegistry) -> "list[Chore]":
    """The tasks that come first: import transcripts, refresh brief files, sync folders."""
    from holdfast.agents.hooks.captures import take_in
    from holdfast.files.watcher import follow

    def transcripts(time_up: "TimeUp") -> bool:
        return take_in(registry.memories, registry.db, time_up=time_up) > 0

    @cache
    def files() -> "BriefFiles":
        return wiring.brief_files(registry.memories().store)

    def briefs(time_up: "TimeUp") -> bool:
        return files().refresh(time_up)

    return [_shown_later(transcripts), briefs, follow(lambda: registry.memories().store)]
