"""The work in the background: a thread that goes round the chores until the service stops."""

import logging
import threading
from collections.abc import Callable, Sequence

from holdfast.errors import Unavailable

_log = logging.getLogger(__name__)

Chore = Callable[[], bool]  # does some of its work; true when there is more to do at once


class Worker:
    """One thread, woken by a pause's end or by `wake`; a second one for `beside`.

    Chores beside are those that wait for other machines: nothing here should wait with them.
    """

    def __init__(self, chores: Sequence[Chore], *, beside: Sequence[Chore] = (), pause: float = 5.0) -> None:
        self._chores = chores
        self._beside = Worker(beside, pause=pause) if beside else None
        self._pause = pause  # seconds between rounds when there is nothing to do
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._away = False  # whether the memory could not be used when it was last asked for
        self._thread = threading.Thread(target=self._run, name="holdfast-worker", daemon=True)

    def start(self) -> None:
        self._thread.start()
        if self._beside is not None:
            self._beside.start()

    def wake(self) -> None:
        """There is work: the next round begins now."""
        self._woken.set()
        if self._beside is not None:
            self._beside.wake()

    def stop(self, patience: float = 10.0) -> None:
        """Ends after the chore at hand; what it leaves behind is taken up when its lease ends."""
        self._stopping.set()
        self._woken.set()
        if self._beside is not None:
            self._beside.stop(patience)
        if self._thread.is_alive():
            self._thread.join(patience)

    def _run(self) -> None:
        while not self._stopping.is_set():
            if not self._round():
                self._woken.wait(self._pause)
            self._woken.clear()

    def _round(self) -> bool:
        more = away = False
        for chore in self._chores:
            if self._stopping.is_set():
                return False
            try:
                more = chore() or more
            except Unavailable:
                away = True
            except Exception:  # broad: the background loop; one chore's trouble must not end the others
                _log.exception("a chore failed; it is tried again")
        self._note(away)
        return more

    def _note(self, away: bool) -> None:
        """A memory that is away for an hour is two lines in the log, not thousands."""
        if away and not self._away:
            _log.error("the memory can't be used: `holdfast doctor` says why; the work waits for it")
        if self._away and not away:
            _log.warning("the memory can be used again: the work goes on")
        self._away = away
