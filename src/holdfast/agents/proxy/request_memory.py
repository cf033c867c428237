"""Adds memory to a request and stores its messages, within a deadline. On any error it stays unchanged."""

import json
import logging
import math
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from holdfast.agents import fail_open as boundary
from holdfast.agents.proxy.api_adapters import ApiAdapter, Json, tool_names
from holdfast.domain.access import Grant
from holdfast.domain.dialogue import Dialogue, Turn
from holdfast.engine.memories import Memories
from holdfast.errors import HoldfastError

Result = TypeVar("Result")


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


class RecordQueue:
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
                self._thread = threading.Thread(target=self._run, name="holdfast-queue", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return True

    def wait_in_line(self, patience: float) -> None:
        """Waits until the queue is short or the time is up, to slow down fast clients a little."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < self._behind, patience)

    def settled(self, patience: float) -> bool:
        """Waits until the queue is empty; false on timeout."""
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


DEADLINE = 2.0  # seconds for all that is done before a request is forwarded
_TOLD_EVERY = 60.0  # seconds between two log lines about it
_AT_ONCE = 16  # requests that are read at the same time; others wait for their turn, within the deadline
_MAX_BYTES = 32 * 1024 * 1024  # of a request that came packed
#: Headers with the client's session; the first one found counts.
SESSION_HEADERS: Final = ("x-holdfast-session", "x-claude-code-session-id")
PROJECT_HEADER: Final = "x-holdfast-project"
#: A subagent's conversation with itself: not messages of a person.
_INNER_VOICES: Final = ("x-claude-code-agent-id",)
Quiet = Callable[[str | None, str], str | None]
_log = logging.getLogger(__name__)


class ProxyRegistry(Protocol):
    """The open spaces of the service."""

    def entered(self, grant: Grant, space: str | None = None) -> Memories: ...


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request to forward, and the function that stores its answer, if it is to be stored."""

    body: bytes
    changed: bool = False
    keep: Callable[[Turn], None] | None = None


class RequestMemory:
    """Handles the requests of all clients."""

    def __init__(
        self, registry: ProxyRegistry, queue: RecordQueue, *, quiet: Quiet, heard: Callable[[], None]
    ) -> None:
        self._registry = registry
        self._queue = queue
        self._quiet = quiet
        self._heard = heard
        self._limiter: Any = None
        self._late = 0  # requests that the memory was too slow for
        self._told_at = float("-inf")

    async def prepared(
        self, raw: bytes, headers: Mapping[str, str], grant: Grant, adapter: ApiAdapter
    ) -> PreparedRequest:
        """The request with memories; unchanged if there are none in time."""
        from anyio import CapacityLimiter, move_on_after
        from anyio.to_thread import run_sync

        if self._limiter is None:
            self._limiter = CapacityLimiter(_AT_ONCE)
        late = threading.Event()

        def work() -> PreparedRequest | None:
            return unbroken(
                lambda: self._attended(raw, headers, grant, adapter, lambda: not late.is_set()),
                "a request was forwarded without memory",
            )

        ready = None
        with move_on_after(DEADLINE) as waiting:
            ready = await run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        if waiting.cancelled_caught:
            late.set()
            self._tell_of_lateness()
        return ready if ready is not None else self._unchanged(raw, headers, grant, adapter)

    def _tell_of_lateness(self) -> None:
        self._late += 1
        self._tell(f"memory lookup timed out: requests were forwarded without memory ({self._late} so far)")

    def tell_of_limit(self, grant: Grant) -> None:
        """Logs that a token makes more requests than it may."""
        limit = f"its limit is {grant.max_requests} requests a minute"
        self._tell(f"requests of token {grant.token} were forwarded without memory: {limit}")

    def _tell(self, what: str) -> None:
        """Logs it, at most once a minute."""
        now = time.monotonic()
        if now - self._told_at >= _TOLD_EVERY:
            _log.warning("%s", what)
            self._told_at = now

    def _attended(
        self,
        raw: bytes,
        headers: Mapping[str, str],
        grant: Grant,
        adapter: ApiAdapter,
        wanted: Callable[[], bool],
    ) -> PreparedRequest:
        body = _read(raw, headers.get("content-encoding", ""))
        dialogue = _dialogue(body, headers, adapter) if body is not None else None
        if body is None or dialogue is None:
            return PreparedRequest(raw)
        self._queue.wait_in_line(DEADLINE / 4)
        memories = self._registry.entered(grant)
        found = memories.proxy_context(dialogue, quiet=self._quiet, wanted=wanted)
        if not wanted():
            return PreparedRequest(raw)  # the deadline has passed; the continuing task stores the messages
        keep = self._store(len(raw), lambda: dialogue, lambda: memories, found.session)
        if not found.brief and not found.recalled:
            return PreparedRequest(raw, keep=keep)
        return PreparedRequest(
            _dump(adapter.added(body, found.brief, found.recalled)), changed=True, keep=keep
        )

    def _unchanged(
        self, raw: bytes, headers: Mapping[str, str], grant: Grant, adapter: ApiAdapter
    ) -> PreparedRequest:
        """The request unchanged; its messages are stored as soon as the memory is available."""

        def dialogue() -> Dialogue | None:
            body = _read(raw, headers.get("content-encoding", ""))
            return _dialogue(body, headers, adapter) if body is not None else None

        return PreparedRequest(
            raw, keep=self._store(len(raw), dialogue, lambda: self._registry.entered(grant), session=None)
        )

    def _store(
        self,
        size: int,
        dialogue: Callable[[], Dialogue | None],
        memories: Callable[[], Memories],
        session: str | None,
    ) -> Callable[[Turn], None]:
        """Stores the messages, and returns the function that stores the answer after them."""

        exchange = object()  # the answer replaces the queued request, if that is still waiting

        def later(answer: Turn | None) -> None:
            def work() -> None:
                said = dialogue()
                if said is not None and memories().proxy_record(
                    said, session_id=session, answer=answer, quiet=self._quiet
                ):
                    self._heard()

            self._queue.later(exchange, size, work)

        later(None)
        return later


def _dialogue(body: Json, headers: Mapping[str, str], adapter: ApiAdapter) -> Dialogue | None:
    if any(name in headers for name in _INNER_VOICES):
        return None
    found = adapter.turns(body)
    if found is None or not any(turn.role == "user" for turn in found[0]):
        return None
    turns, asks = found
    return Dialogue(
        turns=tuple(turns),
        asks=asks,
        session=next(
            (headers[name].strip() for name in SESSION_HEADERS if headers.get(name, "").strip()), None
        ),
        project=headers.get(PROJECT_HEADER, "").strip() or None,
        client=adapter.client,
        tools=tuple(tool_names(body)),
    )


def _read(raw: bytes, packed: str) -> Json | None:
    """The JSON of a request; None for anything else, which the upstream may accept."""
    try:
        if packed.strip().lower() == "gzip":
            unpacking = zlib.decompressobj(31)
            raw = unpacking.decompress(raw, _MAX_BYTES)
            if unpacking.unconsumed_tail or not unpacking.eof:
                return None
        elif packed.strip().lower() not in ("", "identity"):
            return None
        found = json.loads(raw, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, zlib.error, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _dump(body: Json) -> bytes:
    """JSON, the same at every call."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a character, which only JSON's own escapes can carry
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not valid JSON")
