"""What was overheard is kept by one thread, in the order in which it was said, while nobody waits for it."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from holdfast.agents.proxy.fail_open import unbroken

MOST_WAITING = 16 * 1024 * 1024  # bytes of requests
_BEHIND = 64  # things that wait: more of them should not come as fast
_PATIENCE = 20.0  # seconds at the end, for what was said last
_log = logging.getLogger(__name__)

Work = Callable[[], object]


class Tap:
    """Does one thing after the other. What does not fit any more is let go: the next turn brings it again."""

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
        """Has something of this size done, in place of what waits under the same name.

        False where there is no room for it.
        """
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
        """Returns once not much waits, or patience is out: who asks for more is held back a little."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < self._behind, patience)

    def settled(self, patience: float) -> bool:
        """Waits until all is done; false when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, patience)

    def close(self, patience: float = _PATIENCE) -> None:
        """Takes nothing more, and ends once all is done or patience is out."""
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
