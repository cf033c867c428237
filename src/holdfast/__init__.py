"""Holdfast: one memory for every agent that a person or a team runs.

from holdfast import Memories

with Memories.open() as memories:
    memories.remember("Takes 60s to start after a restart", category="timing", subject="jellyfin")
    print(memories.recall("how long does jellyfin need to start").hits)
"""

# Spelled out, for hooks import this package and `typing` alone would take half of their time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from holdfast.client import Client
    from holdfast.domain.memory import Draft, Memory, Source
    from holdfast.domain.outcomes import (
        Added,
        Contradicting,
        Merged,
        Outcome,
        Refused,
        Reinforced,
        UpdateSuggested,
        Waiting,
    )
    from holdfast.domain.query import Filter
    from holdfast.engine.memories import Memories
    from holdfast.errors import Conflict, Forbidden, HoldfastError, Invalid, NotFound, Unavailable

__version__ = "0.2.0"

# Where each public name lives. Looked up on first use: `--help` and hooks must not wait for the store.
_HOMES = {
    "Added": "holdfast.domain.outcomes",
    "Client": "holdfast.client",
    "Conflict": "holdfast.errors",
    "Contradicting": "holdfast.domain.outcomes",
    "Draft": "holdfast.domain.memory",
    "Filter": "holdfast.domain.query",
    "Forbidden": "holdfast.errors",
    "HoldfastError": "holdfast.errors",
    "Invalid": "holdfast.errors",
    "Memories": "holdfast.engine.memories",
    "Memory": "holdfast.domain.memory",
    "Merged": "holdfast.domain.outcomes",
    "NotFound": "holdfast.errors",
    "Outcome": "holdfast.domain.outcomes",
    "Refused": "holdfast.domain.outcomes",
    "Reinforced": "holdfast.domain.outcomes",
    "Source": "holdfast.domain.memory",
    "Unavailable": "holdfast.errors",
    "UpdateSuggested": "holdfast.domain.outcomes",
    "Waiting": "holdfast.domain.outcomes",
}

__all__ = [
    "Added",
    "Client",
    "Conflict",
    "Contradicting",
    "Draft",
    "Filter",
    "Forbidden",
    "HoldfastError",
    "Invalid",
    "Memories",
    "Memory",
    "Merged",
    "NotFound",
    "Outcome",
    "Refused",
    "Reinforced",
    "Source",
    "Unavailable",
    "UpdateSuggested",
    "Waiting",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
