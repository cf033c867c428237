"""The state of a memory after all its changes, those of both stores, one after the other.

A change that was made to this very state has the effect that it had. One that was made without knowing a
change before it adds its share: of confidence, of tags, of the fields that it set.
"""

from collections.abc import Sequence
from typing import Any

from holdfast.domain.confidence import COUNTED
from holdfast.domain.history import REMEMBERED
from holdfast.domain.merge.entries import JournalChange, Row
from holdfast.domain.profile import Policy

_SET = ("category", "subject", "project", "waiting_for", "pinned", "version", "private")
_IN_USE = ("active", "inactive")
_BY_HAND = ("revised", "approved")  # these set a confidence; all others raise or lower it
_RAISING = ("merged", "split")  # these raise or lower the importance


def replayed(changes: Sequence[JournalChange], policy: Policy) -> Row | None:
    """The fields of the memory that the journal keeps; None if it has no entry of it."""
    state: Row | None = None
    for change in changes:
        if change.after is None:
            continue
        if state is None:
            state = dict(change.after)
        elif change.before is not None:
            state = _after(state, change.before, change.after, change.row["action"], policy)
    return state


def _after(state: Row, before: Row, after: Row, action: str, policy: Policy) -> Row:
    known = {name: state.get(name) == before.get(name) for name in REMEMBERED}
    result = dict(state)
    for name in _SET:
        if before.get(name) != after.get(name):
            result[name] = after.get(name)
    result["tags"] = after["tags"] if known["tags"] else _tags(state["tags"], before["tags"], after["tags"])
    result["importance"] = _importance(state, before, after, action)
    result["updated_at"] = after["updated_at"] if known["updated_at"] else _later("updated_at", state, after)
    result["confidence"] = _confidence(state, before, after, action)
    result |= _confirmed(state, before, after)
    result["state"] = _state(state, before, after, result["confidence"], policy)
    return result


def _tags(state: list[str], before: list[str], after: list[str]) -> list[str]:
    kept = [tag for tag in state if tag in after or tag not in before]
    return kept + [tag for tag in after if tag not in before and tag not in kept]


def _importance(state: Row, before: Row, after: Row, action: str) -> int:
    if before["importance"] == after["importance"]:
        return int(state["importance"])
    if action in _RAISING:
        return int(min(max(state["importance"] + after["importance"] - before["importance"], 1), 5))
    return int(after["importance"])


def _confidence(state: Row, before: Row, after: Row, action: str) -> float:
    """Decay that was counted from an older confirmation, or that both stores counted, is not added again."""
    was, now, held = before["confidence"], after["confidence"], state["confidence"]
    if was == now:
        return float(held)
    if held == was and _counts(state) == _counts(before):
        return float(now)
    share = now - was
    if action == "decayed":
        weeks = after["decayed_weeks"] - before["decayed_weeks"]
        new = after["decayed_weeks"] - max(state["decayed_weeks"], before["decayed_weeks"])
        same = _counts(state)[0] == _counts(before)[0]
        share = share * new / weeks if same and new > 0 and weeks > 0 else 0.0
    elif action in _BY_HAND:
        return float(now)
    return round(float(min(max(held + share, 0.0), 1.0)), 4)


def _counts(kept: Row) -> tuple[Any, Any]:
    since, weeks = (kept[name] for name in COUNTED)
    return since, weeks


def _confirmed(state: Row, before: Row, after: Row) -> Row:
    counts = _counts(state)
    if _counts(before) != _counts(after):
        counts = _counts(after) if counts == _counts(before) else max(counts, _counts(after))
    return dict(zip(COUNTED, counts, strict=True))


def _state(state: Row, before: Row, after: Row, confidence: float, policy: Policy) -> str:
    """What is deleted stays so, until it is restored by somebody who saw that."""
    now = str(state["state"])
    if before["state"] != after["state"] and (now != "forgotten" or before["state"] == "forgotten"):
        now = str(after["state"])
    elif confidence == state["confidence"]:
        return now
    if now in _IN_USE and confidence != after["confidence"]:
        return "active" if confidence >= policy.floor else "inactive"
    return now


def _later(name: str, state: Row, after: Row) -> str:
    return str(max(state[name], after[name]))
