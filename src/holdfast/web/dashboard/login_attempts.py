"""Slows whoever tries to sign in and fails: after a few failures each further one doubles the wait."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from typing import Final

FREE_FAILURES: Final = 5  # a person mistypes
LONGEST_WAIT: Final = 300.0  # seconds; after twice as long without a failure all is forgotten
_MOST_ADDRESSES: Final = 10_000


class LoginAttempts:
    """By the address that they come from. Nobody is made to wait in a thread: they are told to come back."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how often, and when last

    def wait(self, address: str) -> int:
        """Seconds before which an address may not try again; 0 when it may."""
        with self._lock:
            count, last = self._failed.get(address, (0, 0.0))
        if count < FREE_FAILURES:
            return 0
        wait = min(2.0 ** min(count - FREE_FAILURES, 10), LONGEST_WAIT)
        return max(ceil(last + wait - self._now()), 0)

    def failed(self, address: str) -> None:
        with self._lock:
            count, last = self._failed.pop(address, (0, 0.0))
            if self._now() - last > 2 * LONGEST_WAIT:
                count = 0
            self._failed[address] = (count + 1, self._now())
            if len(self._failed) > _MOST_ADDRESSES:
                self._failed.popitem(last=False)

    def succeeded(self, address: str) -> None:
        with self._lock:
            self._failed.pop(address, None)
