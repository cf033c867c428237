"""The versions of a memory that two stores changed: all of both, numbered in the order of the changes.

A version follows the one that its writer saw. Where two follow the same one, the memory was reworded in both
stores.
"""

from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.merge.entries import JournalChange, Row
from holdfast.domain.merge.exchange import Exchange


@dataclass(frozen=True, slots=True)
class OrderedVersion:
    """One version of either store, with its new number and the change that brought it."""

    key: str
    row: Row
    by: JournalChange | None


def wordings(memory_id: str, exchange: Exchange) -> dict[str, OrderedVersion]:
    """The versions of a memory by key, in their order."""
    rows: dict[str, Row] = {}
    for side in exchange.sides:
        for key, row in side.wordings.get(memory_id, {}).items():
            number = max(row["number"], rows[key]["number"]) if key in rows else row["number"]
            rows[key] = {**row, "number": number}
    by = _introduced(memory_id, exchange)

    def order(key: str) -> tuple[datetime, int, str]:
        turn = by[key].turn if key in by else datetime.fromisoformat(rows[key]["created_at"])
        return turn, rows[key]["number"], key

    found: dict[str, OrderedVersion] = {}
    number = 0
    for key in sorted(rows, key=order):
        number = max(rows[key]["number"], number + 1)
        found[key] = OrderedVersion(key, {**rows[key], "number": number}, by.get(key))
    return found


def _introduced(memory_id: str, exchange: Exchange) -> dict[str, JournalChange]:
    found: dict[str, JournalChange] = {}
    for change in exchange.by_memory.get(memory_id, ()):
        if change.after is not None and _seen(change) != change.after["version"]:
            found.setdefault(change.after["version"], change)
    return found


def _seen(change: JournalChange) -> str | None:
    """The key of the version that a change was made to."""
    return change.before["version"] if change.before is not None else None


def unfollowed(worded: dict[str, OrderedVersion]) -> list[OrderedVersion]:
    """The versions that no other follows: one, unless the memory was reworded in both stores."""
    followed = {_seen(one.by) for one in worded.values() if one.by is not None}
    return [one for key, one in worded.items() if key not in followed]
