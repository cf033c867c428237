"""Cached tokens for the proxy: they still work while the database is down, so that model calls continue.

Only hashes of secrets are kept, in memory.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable

from holdfast.domain.access import Grant
from holdfast.errors import Unavailable

PATIENCE = 2.0  # seconds that the store is waited for
_MOST = 1_000  # secrets
_SLOW = "the database is unreachable, and this token has not been used since the service started"


class CachedGrants:
    """Calls `admit`, and uses its last result if it does not answer in time."""

    def __init__(self, admit: Callable[[str], Grant | None], *, patience: float = PATIENCE) -> None:
        self._admit = admit
        self._patience = patience
        self._seen: OrderedDict[bytes, Grant] = OrderedDict()

    async def __call__(self, secret: str) -> Grant | None:
        """The grant of a token; None if it is unknown.

        Raises: Unavailable, if neither the database nor the cache knows it.
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
        if known is None:
            raise error
        return known

    def _cache(self, name: bytes, grant: Grant | None) -> Grant | None:
        self._seen.pop(name, None)
        if grant is not None:
            self._seen[name] = grant
            if len(self._seen) > _MOST:
                self._seen.popitem(last=False)
        return grant
