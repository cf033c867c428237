"""Ends of sessions that could not be stored, for the store was busy: noted on disk, and stored later.

The service does it with what hooks noted down; without one, the next session of the same space.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from holdfast.doors.hooks import captures, events, spool
from holdfast.errors import HoldfastError
from holdfast.memories import Memories


def end_later(
    memories: Memories, session: str, exit_code: int | None, usage: Mapping[str, Any] | None
) -> None:
    """Notes that a session has ended.

    Raises: OSError, ValueError.
    """
    told = {"session_id": session, "db": memories.store.where(), "space": memories.space}
    ended = {"exit_code": exit_code, "usage": dict(usage) if usage is not None else None}
    spool.put(spool.entry_of(events.SESSION_END, {**told, **ended}))


def end_noted(memories: Memories) -> None:
    """Stores the noted ends of sessions of this space; what fails is tried again by the next session."""
    where = memories.store.where()
    with suppress(HoldfastError):
        captures.take_in(
            lambda _: memories,
            wanted=lambda entry: entry.get("db") == where and entry.get("space") == memories.space,
        )
