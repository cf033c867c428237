"""The HTTP client behind the vendors' SDKs, held to bounds: no redirect, a greatest size, a deadline.

Knows nothing of models. What an SDK sends goes where it was sent and nowhere else; proxies that the
environment names are not asked for addresses of this machine.
"""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from holdfast.models.http_json import is_here

if TYPE_CHECKING:
    import httpx2

LARGEST = 4 * 1024 * 1024  # bytes of an answer


def bounded_client(url: str, within: float) -> "httpx2.Client":
    """A client for the server at `url` whose answers are complete within `within` seconds, or fail."""
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        """The body of an answer, up to its bounds."""

        def __init__(self, stream: Any, ends: float) -> None:
            self._stream = stream
            self._ends = ends

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for piece in self._stream:
                size += len(piece)
                if size > LARGEST:
                    raise httpx2.ReadError(f"returned more than {LARGEST // 2**20} MiB")
                if time.monotonic() > self._ends:
                    raise httpx2.ReadTimeout(f"did not finish within {within:.3g} s")
                yield piece

        def close(self) -> None:
            self._stream.close()

    def bound(response: "httpx2.Response") -> None:
        response.stream = Bounded(response.stream, time.monotonic() + within)

    return httpx2.Client(
        follow_redirects=False,
        trust_env=not is_here(url),
        timeout=within,
        event_hooks={"response": [bound]},
        headers={"Accept-Encoding": "identity"},  # a small answer must not unpack to a huge one
    )
