"""Memories as they are after a merge: what each of both stores changed, one change after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from holdfast.domain.history import REMEMBERED, REMEMBERED_TIMES
from holdfast.domain.merge.entries import Row, StoreRows, canonical, text_of
from holdfast.domain.merge.exchange import Exchange
from holdfast.domain.merge.replay import replayed
from holdfast.domain.merge.wordings import OrderedVersion, wordings

_COUNTED = ("accesses", "accessed_at")  # in no journal: the higher one counts


@dataclass(slots=True)
class MergedMemories:
    """The memories and versions of both stores as one."""

    memories: dict[str, Row] = field(default_factory=dict)
    versions: dict[str, list[Row]] = field(default_factory=dict)
    numbers: dict[str, Mapping[str, int]] = field(default_factory=dict)  # by memory: of each version's key

    def number(self, side: StoreRows, memory_id: str | None, number: int | None) -> int | None:
        """The number that a version of one side has now."""
        key = side.numbers.get(memory_id or "", {}).get(number or 0)
        return (
            self.numbers.get(memory_id or "", {}).get(key or "", number or 0) if number is not None else None
        )


def merged_memories(exchange: Exchange) -> MergedMemories:
    """The memories of both stores, except those that either removed for good."""
    merged = MergedMemories()
    rows = [{row["id"]: row for row in side.table("memories")} for side in exchange.sides]
    for memory_id in sorted(rows[0].keys() | rows[1].keys()):
        if memory_id in exchange.gone:
            continue
        there = [side[memory_id] for side in rows if memory_id in side]
        worded = wordings(memory_id, exchange)
        merged.memories[memory_id] = _memory(memory_id, there, worded, exchange)
        merged.versions[memory_id] = [one.row for one in worded.values()]
        merged.numbers[memory_id] = {key: one.row["number"] for key, one in worded.items()}
    return merged


def _memory(
    memory_id: str, there: list[Row], worded: Mapping[str, OrderedVersion], exchange: Exchange
) -> Row:
    row = dict(max(there, key=lambda each: (each["updated_at"], canonical(each))))
    for name in _COUNTED:
        row[name] = max((each[name] for each in there if each[name] is not None), default=None)
    state = replayed(exchange.by_memory.get(memory_id, ()), exchange.profile.policy)
    if state is None:
        return row
    row |= {
        name: state[name]
        for name in REMEMBERED
        if name in state and name not in ("version", *REMEMBERED_TIMES)
    }
    row["private"] = bool(state.get("private"))
    row |= {name: text_of(datetime.fromisoformat(state[name])) for name in REMEMBERED_TIMES}
    if (wording := worded.get(state["version"])) is not None:
        row |= {name: wording.row[name] for name in ("content", "summary")} | {
            "version": wording.row["number"]
        }
    return row


def texts_of(memory_id: str, exchange: Exchange) -> Iterator[str]:
    """All that a memory said, in either store."""
    for side in exchange.sides:
        for row in side.wordings.get(memory_id, {}).values():
            yield row["content"]
    for row in chain(exchange.rows("repetitions"), exchange.rows("tombstones")):
        if row["memory_id"] == memory_id and row["content"]:
            yield row["content"]
