"""Who was let in before: goes on being let through where nothing is asked of the store, while it is away.

For the proxy alone: a model's client must not stop because a memory did. Of a secret only its hash is kept,
and only for as long as this process lives.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable

from holdfast.domain.access import Grant
from holdfast.errors import Unavailable

PATIENCE = 2.0  # seconds that the store is waited for
_MOST = 1_000  # secrets
_SLOW = "the database is unreachable, and this token has not been used since the service started"


class Acquainted:
    """Asks `admit`, and where it can't tell in time, what it told before."""

    def __init__(self, admit: Callable[[str], Grant | None], *, patience: float = PATIENCE) -> None:
        self._admit = admit
        self._patience = patience
        self._seen: OrderedDict[bytes, Grant] = OrderedDict()

    async def __call__(self, secret: str) -> Grant | None:
        """What the holder of `secret` may do; none for one that is unknown.

        Raises: Unavailable, when nobody can tell.
        """
        from anyio import move_on_after
        from anyio.to_thread import run_sync

        name = hashlib.sha256(secret.encode("utf-8", "replace")).digest()
        trouble = Unavailable(_SLOW)
        with move_on_after(self._patience):
            try:
                return self._noted(name, await run_sync(self._admit, secret, abandon_on_cancel=True))
            except Unavailable as away:
                trouble = away
        known = self._seen.get(name)
        if known is None:
            raise trouble
        return known

    def _noted(self, name: bytes, grant: Grant | None) -> Grant | None:
        self._seen.pop(name, None)
        if grant is not None:
            self._seen[name] = grant
            if len(self._seen) > _MOST:
                self._seen.popitem(last=False)
        return grant
