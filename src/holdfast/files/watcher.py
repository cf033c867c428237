"""Watches bound directories while a service runs, so that edits are imported within moments.

The watcher only signals a change; the worker imports it. Without it, or on file systems without change
notifications, the next use and the worker's rounds find the changes.
"""

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress

from holdfast.app import paths
from holdfast.engine.ports import Store, TimeUp
from holdfast.errors import HoldfastError
from holdfast.files.registry import Binding, Registry

_LOOK_AGAIN = 1_000  # milliseconds after which the list of directories is read again
_SETTLE = 200  # milliseconds that belong together
_FILES_AT_A_TIME = 15
_log = logging.getLogger(__name__)


class Watching:
    """One thread, which ends with `stop`; `woken` is called after every change in a bound directory."""

    def __init__(self, woken: Callable[[], None]) -> None:
        self._woken = woken
        self._registry = Registry()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="holdfast-files", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience: float = 0.5) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(patience)

    def _run(self) -> None:
        while not self._stopping.is_set():
            paths = self._paths()
            if not paths:
                self._stopping.wait(_LOOK_AGAIN / 1_000)
                continue
            try:
                self._watch(paths)
            except (OSError, RuntimeError) as trouble:
                # One that went away between the look and the watch; the list is read again.
                _log.debug("bound directories can't be watched: %s", trouble)
                self._stopping.wait(_LOOK_AGAIN / 1_000)

    def _watch(self, paths: list[str]) -> None:
        from watchfiles import watch

        changes = watch(
            *paths,
            watch_filter=None,
            debounce=_SETTLE,
            stop_event=self._stopping,
            rust_timeout=_LOOK_AGAIN,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
        for found in changes:
            if found:
                self._woken()
            if self._paths() != paths:
                return

    def _paths(self) -> list[str]:
        return sorted(one.path for one in self._registry.read() if os.path.isdir(one.path))


def follow(open_store: Callable[[], Store]) -> Callable[[TimeUp], bool]:
    """The background job that imports edits of every bound directory, and writes missing files."""

    left: list[Binding] = []  # of this round

    def chore(time_up: TimeUp) -> bool:
        if not os.path.exists(paths.directories()):
            return False
        from holdfast.app import wiring

        store = open_store()
        found = wiring.directories(store)
        left.extend(() if left else found.bindings())
        while left:
            one = left.pop(0)
            with suppress(HoldfastError):  # its space was deleted; or it is tried again
                ctx = wiring.context_for(one.space, store)
                if found.arrive(ctx, most=_FILES_AT_A_TIME, time_up=time_up):
                    left.append(one)
            if time_up():
                return bool(left)
        return False

    return chore
