"""Two journals as one: each entry once, in an order that both stores find.

Entries have no ids of their own; one is recognized by what it says. Its turn is its time, or just after the
turn of the entry that was written before it, if that is later: so a change follows all that its store knew,
even if the clock was set back, and changes made apart stand in the order of their times.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]

#: What an import notes for a memory that both stores had changed: it follows from the other entries.
SYNCED: Final = "synced"
_NEXT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class StoreRows:
    """One store's rows; its versions have keys that are the same in both stores, unlike their numbers."""

    rows: Rows
    numbers: Mapping[str, Mapping[int, str]]  # by memory: the key of each version's number
    wordings: Mapping[str, Mapping[str, Row]]  # by memory: the version of each key

    @classmethod
    def of(cls, rows: Rows) -> "StoreRows":
        numbers: dict[str, dict[int, str]] = {}
        wordings: dict[str, dict[str, Row]] = {}
        seen: Counter[str] = Counter()
        for row in sorted(rows.get("versions", ()), key=lambda row: (row["memory_id"], row["number"])):
            told = digest(*(row.get(name) for name in _VERSION))
            seen[told] += 1
            key = f"{told}.{seen[told]}"
            numbers.setdefault(row["memory_id"], {})[row["number"]] = key
            wordings.setdefault(row["memory_id"], {})[key] = row
        return cls(rows, numbers, wordings)

    def table(self, name: str) -> Sequence[Row]:
        return self.rows.get(name, ())


_VERSION = ("memory_id", "content", "summary", "origin", "session_id", "message_id", "created_at")


@dataclass(slots=True)
class JournalChange:
    """One entry of either journal, or of both. `before` and `after` name versions by their keys."""

    key: str
    turn: datetime
    row: Row
    before: Row | None
    after: Row | None
    seq: int | None  # in this store; None: only the other store has it
    theirs: bool = False  # whether the other store has it
    moved: bool = False  # whether the other store has it at an earlier turn

    @property
    def order(self) -> tuple[datetime, str]:
        return self.turn, self.key

    @property
    def memory(self) -> str | None:
        memory_id: str | None = self.row["memory_id"]
        return memory_id

    @property
    def removes(self) -> bool:
        """Whether the row of the memory was removed."""
        return self.row["action"] == "erased" or (self.after is None and self.before is not None)


def united(mine: StoreRows, theirs: StoreRows, erased: Collection[str]) -> list[JournalChange]:
    """The entries of both journals in their order. Of `erased` memories, an entry says only what was done."""
    found: dict[str, JournalChange] = {}
    for each in _changes(theirs, erased):
        each.seq, each.theirs = None, True
        found[each.key] = each
    for each in _changes(mine, erased):
        if (other := found.get(each.key)) is not None:
            each.theirs, each.moved = True, other.turn < each.turn
            each.turn = min(each.turn, other.turn)
        found[each.key] = each
    return sorted(found.values(), key=lambda each: each.order)


def _changes(side: StoreRows, erased: Collection[str]) -> Iterator[JournalChange]:
    seen: Counter[str] = Counter()
    for turn, row in _turns(side.table("journal")):
        if row["action"] == SYNCED:
            continue
        key = _key(row, bare=row["memory_id"] in erased)
        seen[key] += 1
        versions = side.numbers.get(row["memory_id"] or "", {})
        before, after = (_keyed(row.get(name), versions) for name in ("before", "after"))
        yield JournalChange(f"{key}.{seen[key]}", turn, row, before, after, row["seq"])


def _turns(journal: Iterable[Row]) -> Iterator[tuple[datetime, Row]]:
    reached: datetime | None = None
    for row in sorted(journal, key=lambda row: int(row["seq"])):
        if (kept := row.get("ordered_at")) is not None:
            turn = datetime.fromisoformat(kept)
        else:
            turn = datetime.fromisoformat(row["created_at"])
            turn = turn if reached is None else max(turn, reached + _NEXT)
        reached = turn if reached is None else max(turn, reached)
        yield turn, row


def _key(row: Row, *, bare: bool) -> str:
    told = [row[name] for name in ("memory_id", "action", "origin", "session_id", "created_at")]
    if not bare:
        note = row.get("note") or ""
        told += [_unnumbered(row.get(name)) for name in ("before", "after")]
        told += ["" if note.startswith("wording ") else note]  # its number may differ
    return digest(*told)


def _unnumbered(kept: Row | None) -> Row | None:
    return None if kept is None else {name: value for name, value in kept.items() if name != "version"}


def _keyed(kept: Row | None, versions: Mapping[int, str]) -> Row | None:
    if kept is None:
        return None
    number = kept["version"]
    return {**kept, "version": versions.get(number, f"number {number}")}


def digest(*values: object) -> str:
    """A short hash of JSON values."""
    return hashlib.sha256(canonical(values).encode()).hexdigest()[:32]


def canonical(value: object) -> str:
    """JSON that is the same for the same value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def text_of(moment: datetime) -> str:
    """A time as archives have it."""
    return moment.isoformat(timespec="microseconds")
