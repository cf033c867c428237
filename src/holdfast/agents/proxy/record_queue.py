"""Stores the messages of the proxy in order, in one background thread."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

from holdfast.agents import fail_open as boundary
from holdfast.errors import HoldfastError

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


def unbroken(work: Callable[[], Result], what: str) -> Result | None:
    """The result of `work`; None if it failed. `what` is the log message."""

    def failed(error: Exception) -> None:
        if isinstance(error, HoldfastError):
            _log.warning("%s: %s", what, error)
        else:
            _log.error("%s", what, exc_info=error)

    return boundary.unbroken(work, failed)


MOST_WAITING = 16 * 1024 * 1024  # bytes of requests
_BEHIND = 64  # waiting items, above which clients are slowed down
_PATIENCE = 20.0  # seconds at the end, for the last messages

Work = Callable[[], object]


class Tap:
    """A queue of work. What does not fit is dropped: the next request brings it again."""

    def __init__(self, *, most: int = MOST_WAITING, behind: int = _BEHIND) -> None:
        self._most = most
        self._behind = behind
        self._waiting: OrderedDict[Hashable, tuple[int, Work]] = OrderedDict()
        self._size = 0
        self._changed = threading.Condition()
        self._busy = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def later(self, name: Hashable, size: int, work: Work) -> bool:
        """Queues work of this size, replacing waiting work of the same name; false if the queue is full."""
        with self._changed:
            before, _ = self._waiting.get(name, (0, work))
            if self._closed or self._size - before + size > self._most:
                _log.warning("a message was dropped: the database is too slow")
                return False
            self._size += size - before
            self._waiting[name] = (size, work)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="holdfast-tap", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return True

    def wait_in_line(self, patience: float) -> None:
        """Waits until the queue is short or the time is up, to slow down fast clients a little."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < self._behind, patience)

    def settled(self, patience: float) -> bool:
        """Waits until the queue is empty; false when that takes too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, patience)

    def close(self, patience: float = _PATIENCE) -> None:
        """Accepts nothing more, and returns when the queue is empty or the time is up."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if not self.settled(patience):
            _log.warning("some of the last messages were dropped: the database is too slow")

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                _, (size, work) = self._waiting.popitem(last=False)
                self._size -= size
                self._busy = True
            unbroken(work, "a message could not be stored")
            with self._changed:
                self._busy = False
                self._changed.notify_all()
