"""Runs the service with example data in a temporary home and store, which are deleted at the end.

The user's own files are not touched; only this process's environment points to the temporary home.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.app import service_host, service_lock, wiring
from holdfast.engine.spaces import Overview

if TYPE_CHECKING:
    from holdfast.web.service.logs import LogForm

#: Settings that would lead out of the example's home.
_LEADING_AWAY = ("HOLDFAST_DB", "HOLDFAST_SPACE")


@dataclass(frozen=True, slots=True)
class Shown:
    """The address and the content of the demo."""

    url: str
    login: str  # a link that opens the dashboard, once
    home: str
    token: str
    spaces: tuple[Overview, ...]


def serve_example(
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    said: Callable[[Shown], None] = lambda _: None,
    log: "LogForm" = "off",
) -> None:
    """Runs the service on the example until a signal ends it; without a port, the usual one or a free one.

    Raises: Invalid, Unavailable.
    """
    from holdfast.web.service.http_server import until_a_signal

    with _home() as home, until_a_signal():
        spaces = _filled()
        service_host.serve(
            None,
            spaces[0].space.name,
            host=host,
            port=_free(host) if port is None else port,
            said=lambda url, login: said(Shown(url, login, home, service_lock.token(), tuple(spaces))),
            log=log,
        )


def _filled() -> Sequence[Overview]:
    from holdfast.example_data import fill

    store = wiring.open_store()
    try:
        return fill(store, embedder=wiring.open_embedder())
    finally:
        store.close()


@contextmanager
def _home() -> Iterator[str]:
    """A home that is this process's while the block runs."""
    names = ("HOLDFAST_HOME", *_LEADING_AWAY)
    before = {name: os.environ.get(name) for name in names}
    with tempfile.TemporaryDirectory(prefix="holdfast-example-", ignore_cleanup_errors=True) as folder:
        try:
            for name in _LEADING_AWAY:
                os.environ.pop(name, None)
            os.environ["HOLDFAST_HOME"] = folder
            yield folder
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _free(host: str) -> int:
    """The usual port, or 0 where it is taken: perhaps by the user's own service."""
    from holdfast.web.service.http_server import listen

    try:
        listen(host, service_host.PORT).close()
    except OSError:
        return 0
    return service_host.PORT
