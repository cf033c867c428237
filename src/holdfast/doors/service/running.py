"""`holdfast serve`: the application on a local port, announced to hooks, stopped by a signal."""

import ctypes
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import uvicorn

from holdfast.doors.service.guard import App

GRACE = 5  # seconds for requests at hand when the service is asked to stop
_ARENA_MAX = -8  # the name of this option in malloc.h
_HEAPS = 2


def listen(host: str, port: int) -> socket.socket:
    """The port that the service answers on; 0 takes a free one. Bound here, so that it is known before.

    Raises: OSError.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)  # from now on a caller waits for the answer instead of being refused
    except OSError:
        listening.close()
        raise
    return listening


def serve(app: App, listening: socket.socket) -> None:
    """Answers until a signal comes; then ends what is at hand and returns."""
    _share_heaps()
    config = uvicorn.Config(
        app,
        log_config=None,  # its lines go where the service's own go
        log_level="warning",
        access_log=False,  # addresses may hold tokens; `logs` writes a line a request without them
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        lifespan="on",
    )
    uvicorn.Server(config).run(sockets=[listening])


def _share_heaps() -> None:
    """Lets the threads take their memory from two heaps instead of eight for each core.

    What one thread freed only its heap can use again, so that with many heaps a service grows for hours.
    """
    with suppress(OSError, AttributeError):  # another C library than GNU's
        ctypes.CDLL(None).mallopt(_ARENA_MAX, _HEAPS)


@contextmanager
def until_a_signal() -> Iterator[None]:
    """The block ends, as if it were done, when a signal asks for it at any time.

    uvicorn raises the signal once more when it has stopped: without a handler that would end the process at
    once, and leave behind what says that the service is there.
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
