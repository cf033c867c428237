"""Two stores of one space as one: a pure function of their rows, so that both end with the same ones.

`merged` takes both sides alike, changes nothing when it is repeated, and needs no order of exchanges. See
docs/decisions/0024-two-machines.md for what wins, and why.
"""

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.domain.merge import tables
from holdfast.domain.merge.conflicts import Conflicts, conflicts
from holdfast.domain.merge.entries import SYNCED as SYNCED
from holdfast.domain.merge.entries import Row, Rows, StoreRows, canonical, text_of
from holdfast.domain.merge.exchange import Exchange
from holdfast.domain.merge.memories import MergedMemories, merged_memories, texts_of
from holdfast.domain.profile import Profile

#: Rows that never change once they are written.
_LOGS = ("events", "cooldowns", "spend")


def merged(
    mine: Rows, theirs: Rows, profile: Profile, hash_of: Callable[[str], str]
) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table after the merge. An entry of the journal that is new here has no `seq`.

    Jobs and files are each store's own and left out.
    """
    exchange = Exchange.of(mine, theirs, profile, hash_of)
    memories = merged_memories(exchange)
    states = {memory_id: row["state"] for memory_id, row in memories.memories.items()}
    tombstones = tables.tombstones(exchange, states, _erased_texts(exchange))
    found = conflicts(exchange, memories, {row["hash"]: row for row in tombstones})
    messages = _messages(exchange)
    said = {row["id"]: row for row in messages}
    ids = memories.memories.keys()
    told = {row["hash"] for row in tombstones}
    repetitions = tables.repetitions(exchange, told, memories.memories)
    links = tables.links(exchange, ids)
    receipts, items = tables.receipts(exchange, said, lambda side: _items(side, memories))
    result: dict[str, list[Row]] = {
        "sessions": tables.sessions(exchange),
        "messages": messages,
        "memories": [*memories.memories.values(), *found.memories],
        "versions": [*(row for rows in memories.versions.values() for row in rows), *found.versions],
        "repetitions": repetitions,
        "citations": tables.citations(exchange, said),
        "links": [*links, *found.links],
        "receipts": receipts,
        "receipt_items": items,
        "tombstones": tombstones,
        "journal": _journal(exchange, memories, repetitions, found),
        "calls": _calls(exchange),
    }
    for name in _LOGS:
        result[name] = list(tables.by_key(exchange.rows(name), ("id",), tables.later).values())
    return result


def _erased_texts(exchange: Exchange) -> list[Row]:
    """The tombstones of all that erased memories say in the store that does not know of the erase yet."""
    when = {
        change.memory: change.row["created_at"]
        for change in exchange.changes
        if change.row["action"] == "erased"
    }
    blank = dict.fromkeys(("category", "subject", "content"))
    return [
        {
            "hash": exchange.hash_of(text),
            "reason": "erased",
            "memory_id": memory_id,
            "created_at": at,
            **blank,
        }
        for memory_id, at in when.items()
        if memory_id is not None
        for text in texts_of(memory_id, exchange)
    ]


def _messages(exchange: Exchange) -> list[Row]:
    texts = {text for memory_id in exchange.erased for text in texts_of(memory_id, exchange)}
    cited = {
        row["message_id"]
        for name in ("versions", "repetitions", "citations")
        for row in exchange.rows(name)
        if row["memory_id"] in exchange.erased and not row.get("reworded")
    }
    return tables.messages(exchange, texts, cited)


def _items(side: StoreRows, memories: MergedMemories) -> list[Row]:
    return [
        {**row, "version": memories.number(side, row.get("memory_id"), row.get("version"))}
        for row in side.table("receipt_items")
    ]


def _calls(exchange: Exchange) -> list[Row]:
    def names_erased(row: Row) -> bool:
        told = canonical(row["outcome"])
        return any(f'"{memory_id}"' in told for memory_id in exchange.erased)

    joined = tables.by_key(exchange.rows("calls"), ("key",), tables.later).values()
    return [row for row in joined if not names_erased(row)]


# --------------------------------------------------------------------------------------------------- journal


def _journal(
    exchange: Exchange, memories: MergedMemories, repetitions: list[Row], found: Conflicts
) -> list[Row]:
    """The entries of both sides, with the numbers that versions and wordings have now."""
    mine = {row["seq"]: row for row in exchange.mine.table("journal")}
    notes = [_new_notes(side, repetitions) for side in exchange.sides]
    rows = []
    for row in mine.values():
        if row["action"] == SYNCED:
            kept = {name: _renumbered(row[name], row["memory_id"], exchange, memories) for name in _STATES}
            rows.append(_blank_if_erased({**row, **kept}, exchange))
    for change in exchange.changes:
        own = mine[change.seq] if change.seq is not None else None
        stays = own is not None and own.get("ordered_at") is None and not change.moved
        told: Row = {"seq": change.seq, "ordered_at": None if stays else text_of(change.turn)}
        told["note"] = _noted(change.row, notes[0 if own is not None else 1])
        for name, kept_state in (("before", change.before), ("after", change.after)):
            number = memories.numbers.get(change.memory or "", {}).get((kept_state or {}).get("version", ""))
            told[name] = change.row[name] if number is None else {**(kept_state or {}), "version": number}
        rows.append(_blank_if_erased({**change.row, **told}, exchange))
    return [*rows, *found.journal]


_STATES = ("before", "after")


def _renumbered(
    kept: Row | None, memory_id: str | None, exchange: Exchange, memories: MergedMemories
) -> Row | None:
    if kept is None:
        return None
    return {**kept, "version": memories.number(exchange.mine, memory_id, kept["version"])}


def _blank_if_erased(row: Row, exchange: Exchange) -> Row:
    blank = dict.fromkeys(("before", "after", "note")) if row["memory_id"] in exchange.erased else {}
    return {**row, **blank}


def _new_notes(side: StoreRows, repetitions: list[Row]) -> dict[tuple[str, str], str]:
    """By memory and note: the note with the number that the wording has now."""
    now = {_said(row): row["number"] for row in repetitions}
    return {
        (row["memory_id"], f"wording {row['number']}"): f"wording {now[_said(row)]}"
        for row in side.table("repetitions")
        if _said(row) in now
    }


def _said(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in tables.WORDING)


def _noted(row: Row, notes: Mapping[tuple[str, str], str]) -> str | None:
    note: str | None = row["note"]
    if note is None or not note.startswith("wording "):
        return note
    head, middle, end = note.partition(" as ")
    return f"{notes.get((row['memory_id'], head), head)}{middle}{end}"
