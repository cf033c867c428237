"""Idempotency keys: a repeated call returns its first outcome, stored in the transaction of the call."""

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Any

from holdfast.domain import outcomes
from holdfast.domain.memory import Draft, Memory
from holdfast.domain.outcomes import Outcome
from holdfast.engine.ports import Transaction
from holdfast.errors import Conflict, Invalid

_MOST = 200  # characters of a key


def fingerprint(draft: Draft) -> str:
    """A hash of the draft that distinguishes a repeated call from another one with the same key."""
    by = f" by {draft.source.person}, private: {draft.private}" if draft.source.person else ""
    return hashlib.sha256(f"remember {draft!r}{by}".encode()).hexdigest()


def once(
    tx: Transaction, key: str | None, print_of_call: str, now: datetime, act: Callable[[], Outcome]
) -> Outcome:
    """Calls `act`, or returns the outcome of the first call with this key.

    Raises: Conflict, if the key was used for another call; Invalid, for an invalid key.
    """
    if key is None:
        return act()
    if not key.strip() or len(key) > _MOST or not key.isprintable():
        raise Invalid(f"the idempotency key must be 1 to {_MOST} printable characters", field="key")
    answered = tx.calls.get(key)
    if answered is not None:
        kept_print, kept = answered
        if kept_print != print_of_call:
            raise Conflict(
                f"the idempotency key {key!r} was already used for a different request: use a new key"
            )
        return _recalled(kept, tx)
    outcome = act()
    answer = _kept(outcome)
    if answer is not None:
        tx.calls.put(key, print_of_call, answer, now)
    return outcome


def _kept(outcome: Outcome) -> dict[str, Any] | None:
    kind = type(outcome).__name__
    match outcome:
        case outcomes.Added(memory, others) | outcomes.Contradicting(memory, others):
            return {"kind": kind, "memory": memory.id, "others": [other.id for other in others]}
        case outcomes.Reinforced(memory, _, counted):
            return {"kind": kind, "memory": memory.id, "counted": counted}
        case outcomes.Merged(memory, _):
            return {"kind": kind, "memory": memory.id}
        case outcomes.Waiting(memory, reason, others):
            return {"kind": kind, "memory": memory.id, "reason": reason, "others": [o.id for o in others]}
        case outcomes.UpdateSuggested() | outcomes.Refused():
            return None  # nothing was changed: the call may be repeated


def _recalled(kept: dict[str, Any], tx: Transaction) -> Outcome:
    """The stored outcome, with its memories as they are now."""
    memory = tx.memories.get(kept["memory"])
    if memory is None:
        return outcomes.Refused(
            "this request was answered before, and its memory has been deleted since", kept["memory"]
        )
    others = tuple(found for found in map(tx.memories.get, kept.get("others", ())) if found is not None)
    return _rebuilt(kept, memory, others)


def _rebuilt(kept: dict[str, Any], memory: Memory, others: tuple[Memory, ...]) -> Outcome:
    match kept["kind"]:
        case "Added":
            return outcomes.Added(memory, others)
        case "Contradicting":
            return outcomes.Contradicting(memory, others)
        case "Reinforced":
            return outcomes.Reinforced(memory, memory, kept["counted"])
        case "Merged":
            return outcomes.Merged(memory, memory)
        case _:
            return outcomes.Waiting(memory, kept["reason"], others)
