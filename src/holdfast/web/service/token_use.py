"""What one instance of the service remembers of tokens: their last grants, and how often they are used."""

import hashlib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime

from holdfast.domain.access import Grant
from holdfast.errors import Unavailable

PATIENCE = 2.0  # seconds that the store is waited for
_MOST = 1_000  # secrets that are kept
_SLOW = "the database is unreachable, and this token has not been used since the service started"
_MOST_TOKENS = 10_000  # whose use is counted


class RequestRates:
    """A token bucket for each access token with a limit: as many requests at once as it may make in a minute,
    which then come back one by one. Each instance of the service counts for itself.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # how many, and when it was counted

    def wait(self, grant: Grant) -> int:
        """Counts a request: seconds until there may be one; 0 if this one is allowed."""
        most = grant.max_requests
        if most is None or grant.token is None:
            return 0
        with self._lock:
            now = self._now()
            left, counted_at = self._left.pop(grant.token, (float(most), now))
            left = min(left + (now - counted_at) * most / 60, float(most))
            allowed = left >= 1
            self._left[grant.token] = (left - allowed, now)
            if len(self._left) > _MOST_TOKENS:
                self._left.popitem(last=False)
        return 0 if allowed else max(math.ceil((1 - left) * 60 / most), 1)


class CachedGrants:
    """Calls `admit`, and uses its last result if it does not answer in time. Only hashes, in memory."""

    def __init__(
        self,
        admit: Callable[[str], Grant | None],
        *,
        patience: float = PATIENCE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._admit = admit
        self._now = now
        self._patience = patience
        self._seen: OrderedDict[bytes, Grant] = OrderedDict()

    async def __call__(self, secret: str) -> Grant | None:
        """The grant of a token; None if it is unknown.

        Raises: Unavailable, if neither the database nor the cache knows it; TokenExpired.
        """
        from anyio import move_on_after
        from anyio.to_thread import run_sync

        name = hashlib.sha256(secret.encode("utf-8", "replace")).digest()
        error = Unavailable(_SLOW)
        with move_on_after(self._patience):
            try:
                return self._cache(name, await run_sync(self._admit, secret, abandon_on_cancel=True))
            except Unavailable as away:
                error = away
        known = self._seen.get(name)
        if known is None or (known.until is not None and self._now() >= known.until):
            raise error
        return known

    def _cache(self, name: bytes, grant: Grant | None) -> Grant | None:
        self._seen.pop(name, None)
        if grant is not None:
            self._seen[name] = grant
            if len(self._seen) > _MOST:
                self._seen.popitem(last=False)
        return grant
