"""The outcome of a draft: exactly one of these, never an exception.

Callers match over `Outcome` and finish with `assert_never`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from holdfast.domain.memory import Memory


@dataclass(frozen=True, slots=True)
class Added:
    """A new memory. `related` are similar ones that were kept separate and linked."""

    memory: Memory
    related: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Reinforced:
    """A duplicate. `counted` is false if this session had confirmed or written it before."""

    memory: Memory
    previous: Memory
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Merged:
    """A duplicate that became the next version of the known memory."""

    memory: Memory
    previous: Memory


@dataclass(frozen=True, slots=True)
class Contradicting:
    """A new memory that contradicts others, which are kept; `weakened` are their new states."""

    memory: Memory
    weakened: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class UpdateSuggested:
    """Not stored: a duplicate or a contradiction exists. Revise `known` instead."""

    known: Memory
    relation: Literal["same", "contradicts"]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Stored in the inbox, until a person approves or rejects it."""

    memory: Memory
    reason: str
    known: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Deletion:
    """An earlier deletion of the same text; if `restorable`, the memory can be restored."""

    reason: Literal["forgotten", "rejected", "erased", "undone"]
    at: datetime
    restorable: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """Not stored, for this `reason`; each interface says how to restore `deleted`."""

    reason: str
    known_id: str | None = None
    deleted: Deletion | None = None


Outcome = Added | Reinforced | Merged | Contradicting | UpdateSuggested | Waiting | Refused


def settled(outcome: Outcome) -> Memory | None:
    """The memory that now holds the draft's text; None if nothing was stored."""
    match outcome:
        case UpdateSuggested() | Refused():
            return None
        case _:
            return outcome.memory
