"""Ends of sessions that could not be stored, for the store was busy: noted on disk, and stored later.

The service does it with what hooks noted down; without one, the next session of the same space.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from holdfast.agents.hooks import captures, events, spool
from holdfast.engine.memories import Memories
from holdfast.errors import HoldfastError
from holdfast.settings import public_place


def end_later(
    memories: Memories, session: str, exit_code: int | None, usage: Mapping[str, Any] | None
) -> None:
    """Notes that a session has ended.

    Raises: OSError, ValueError.
    """
    told = {"session_id": session, "db": _place(memories), "space": memories.space, "run": True}
    ended = {"exit_code": exit_code, "usage": dict(usage) if usage is not None else None}
    spool.put(spool.entry_of(events.SESSION_END, {**told, **ended}))


def end_noted(memories: Memories) -> None:
    """Stores the noted ends of sessions of this space; what fails is tried again by the next session."""
    with suppress(HoldfastError):
        captures.take_in(
            lambda _: memories,
            _place(memories),
            wanted=lambda entry: bool(entry.get("run")) and entry.get("space") == memories.space,
        )


def _place(memories: Memories) -> str:
    return public_place(memories.store.where())
