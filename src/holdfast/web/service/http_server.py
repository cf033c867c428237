"""`holdfast serve`: the application on a local port, announced to hooks, stopped by a signal."""

import asyncio
import ctypes
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

GRACE = 1  # seconds for current requests after a signal
ENDS_WITHIN = 1.9  # seconds after which the process exits in any case
HEAD_WITHIN = 10.0  # seconds for the head of a request
MAX_CONNECTIONS = 512
_ARENA_MAX = -8  # the name of this option in malloc.h
_HEAPS = 2
_log = logging.getLogger(__name__)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on a port; 0 takes a free one. Bound here, so that the port is known early.

    Raises: OSError.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)  # from now on clients wait instead of being refused
    except OSError:
        listening.close()
        raise
    return listening


def serve(
    app: ASGIApp,
    listening: socket.socket,
    *,
    started: Callable[[], None] = lambda: None,
    leaving: Callable[[], None] = lambda: None,
) -> None:
    """Serves until a signal; then finishes the current requests and returns.

    `started` is called once it is ready for requests and signals. If requests don't finish in time, `leaving`
    is called and the process ends.
    """
    _share_heaps()
    _Server(settings(app), started, leaving).run(sockets=[listening])


def settings(app: ASGIApp) -> uvicorn.Config:
    """The settings of uvicorn."""
    return uvicorn.Config(
        app,
        http=_Impatient,
        log_config=None,  # its lines go where the service's own go
        log_level="warning",
        access_log=False,  # URLs may contain tokens; `logs` logs requests without them
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=MAX_CONNECTIONS,
        lifespan="on",
    )


class _Server(uvicorn.Server):
    """Stops in time: a request in a thread can't be cancelled.

    Nothing is lost: acknowledged writes are committed, others are rolled back.
    """

    def __init__(
        self, config: uvicorn.Config, started: Callable[[], None], leaving: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._started = started
        self._leaving = leaving

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._started()

    def handle_exit(self, sig: int, frame: object) -> None:
        last = threading.Timer(ENDS_WITHIN, self._leave)  # a busy event loop begins its shutdown much later
        last.daemon = True
        last.start()
        super().handle_exit(sig, None)

    def _leave(self) -> None:
        try:
            _log.warning("stopped during work that took too long")
            self._leaving()
        finally:
            os._exit(0)


def leave() -> None:
    """Ends the process without waiting for threads that are loading a model.

    Interpreter shutdown would crash them, and waiting takes long.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none at all
            stream.flush()
    os._exit(0)


class _Impatient(H11Protocol):
    """Closes idle connections, and those with an incomplete request head."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._waiting is None:  # the next request on a kept connection
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._waiting = self.loop.call_later(HEAD_WITHIN, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def _share_heaps() -> None:
    """Limits malloc to two arenas.

    Memory that a thread freed stays in its arena, so that with many arenas a service grows for hours.
    """
    with suppress(OSError, AttributeError):  # another C library than GNU's
        ctypes.CDLL(None).mallopt(_ARENA_MAX, _HEAPS)


@contextmanager
def until_a_signal() -> Iterator[None]:
    """Ends the block normally on a signal at any time.

    uvicorn raises the signal again after it stopped: without a handler that would end the process before the
    address file is removed.
    """
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    except (KeyboardInterrupt, _Ended):
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


class _Ended(BaseException):
    """A termination signal."""


def _end(*_: object) -> None:
    raise _Ended
