"""Rows of the other tables after a merge: sessions, messages, links, citations, receipts, tombstones.

Every rule takes both sides alike and is the same when it is applied again, so that both stores end with the
same rows.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from typing import Any

from holdfast.domain.merge.entries import Row, StoreRows, canonical
from holdfast.domain.merge.exchange import Exchange

Key = tuple[Any, ...]
#: What a wording is recognized by that was counted as a repetition.
WORDING = ("memory_id", "content", "origin", "session_id", "message_id", "created_at")
_REASONS = ("undone", "rejected", "forgotten", "erased")


def by_key(rows: Iterable[Row], names: tuple[str, ...], join: Callable[[Row, Row], Row]) -> dict[Key, Row]:
    """The rows of both sides by their keys; those with the same key are joined."""
    found: dict[Key, Row] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        found[key] = join(found[key], row) if key in found and found[key] != row else row
    return found


def later(one: Row, other: Row) -> Row:
    """One of two rows with the same key that never change; or, of a price, the row that was settled."""
    return max(one, other, key=lambda row: (row.get("outcome") != "asked", canonical(row)))


# -------------------------------------------------------------------------------------- sessions and messages


def sessions(exchange: Exchange) -> list[Row]:
    renamed = {
        change.row["session_id"]: change.row["note"]
        for change in exchange.changes
        if change.row["action"] == "renamed"
    }
    joined = by_key(exchange.rows("sessions"), ("id",), _session).values()
    return [{**row, "name": renamed.get(row["id"], row["name"])} for row in joined]


def _session(one: Row, other: Row) -> Row:
    filled = {name: _filled(one[name], other[name]) for name in one}
    ending = max(
        one, other, key=lambda row: (row["ended_at"] or "", canonical([row["exit_code"], row["usage"]]))
    )
    ended = {name: ending[name] for name in ("ended_at", "exit_code", "usage")}
    return {**filled, **ended, "started_at": min(one["started_at"], other["started_at"])}


def _filled(one: Any, other: Any) -> Any:
    return max(one, other, key=lambda value: (value is not None, canonical(value)))


def messages(exchange: Exchange, erased_texts: Collection[str], cited: Collection[str]) -> list[Row]:
    """Messages of both sides, without the text of those that say what was erased, or that it `cited`."""
    kept = by_key(exchange.rows("messages"), ("id",), _message)
    for key, row in kept.items():
        content = row["content"]
        if content and (row["id"] in cited or any(text in content for text in erased_texts)):
            kept[key] = {**row, "content": None}
    return _numbered(kept.values(), "session_id", "said_at", "id")


def _message(one: Row, other: Row) -> Row:
    joined = dict(later(one, other))
    if one["content"] is None or other["content"] is None:
        joined["content"] = None
    joined["off_record"] = one.get("off_record", False) or other.get("off_record", False)
    return {**joined, "number": max(one["number"], other["number"])}


def _numbered(rows: Iterable[Row], group: str, *order: str) -> list[Row]:
    """The rows with a number of their own in each group: where two have one, the later ones move up."""
    taken = list(rows)
    doubled = Counter((row[group], row["number"]) for row in taken)
    moved = {of for (of, _), count in doubled.items() if count > 1}
    found = [row for row in taken if row[group] not in moved]
    last: dict[str, int] = {}
    for row in sorted(taken, key=lambda row: (row["number"], *(row[name] for name in order))):
        if row[group] in moved:
            number = max(row["number"], last.get(row[group], row["number"] - 1) + 1)
            last[row[group]] = number
            found.append({**row, "number": number})
    return found


def citations(exchange: Exchange, said: Mapping[str, Row]) -> list[Row]:
    """Citations of both sides, except of messages without text: the longer of two."""

    def longer(one: Row, other: Row) -> Row:
        ends = None if None in (one["ends"], other["ends"]) else max(one["ends"], other["ends"])
        found_later = one.get("reworded", False) and other.get("reworded", False)
        return {**one, "ends": ends, "reworded": found_later}

    joined = by_key(exchange.rows("citations"), ("message_id", "memory_id", "begins"), longer)
    silent = {message_id for message_id, row in said.items() if row["content"] is None}
    return [row for row in joined.values() if row["message_id"] not in silent]


# ----------------------------------------------------------------------------------------- links and receipts


def links(exchange: Exchange, memory_ids: Collection[str]) -> list[Row]:
    """The links of both sides that nobody removed after they were made."""

    def newer(one: Row, other: Row) -> Row:
        return max(one, other, key=lambda row: (row["created_at"], row["session_id"] or ""))

    removed: dict[Key, str] = {}
    for change in exchange.changes:
        if change.row["action"] == "unlinked" and change.row["note"]:
            kind, _, to_id = change.row["note"].partition(" ")
            key = (change.memory, to_id, kind)
            removed[key] = max(removed.get(key, ""), change.row["created_at"])

    def stays(row: Row) -> bool:
        ends = (row["from_id"], row["to_id"])
        cuts = [removed.get((*ends, kind), "") for kind in (row["kind"], "all")]
        cut = max(*cuts, exchange.undone.get(row["session_id"], ""))
        return row["created_at"] > cut and all(end in memory_ids for end in ends)

    joined = by_key(exchange.rows("links"), ("from_id", "to_id", "kind"), newer)
    return [row for row in joined.values() if stays(row)]


def receipts(
    exchange: Exchange, said: Mapping[str, Row], items_of: Callable[[StoreRows], list[Row]]
) -> tuple[list[Row], list[Row]]:
    """The receipts of both sides with their items. What was erased stands in none, nor does its text."""

    def struck(one: Row, other: Row) -> Row:
        return one if one["text"] is None else other

    def hides(item: Row) -> bool:
        message = said.get(item.get("message_id") or "")
        return item.get("memory_id") in exchange.erased or (
            message is not None and message["content"] is None
        )

    listed = [items_of(side) for side in exchange.sides]
    items = by_key(chain(*listed), ("receipt_id", "position"), later)
    there = [{_item(row) for row in rows} for rows in listed]
    known = [{row["id"] for row in side.table("receipts")} for side in exchange.sides]
    both = known[0] & known[1]
    kept = [
        row for row in items.values() if row["receipt_id"] not in both or _item(row) in there[0] & there[1]
    ]
    hidden = {row["receipt_id"] for row in items.values() if hides(row)}
    joined = by_key(exchange.rows("receipts"), ("id",), struck).values()
    told = [{**row, "text": None, "query": None} if row["id"] in hidden else row for row in joined]
    return told, [row for row in kept if not hides(row)]


def _item(row: Row) -> Key:
    return row["receipt_id"], row["position"]


# --------------------------------------------------------------------------------- wordings that were counted


def repetitions(exchange: Exchange, tombstones: Collection[str], memories: Mapping[str, Row]) -> list[Row]:
    """The wordings of both sides, except deleted ones and those that became memories of their own."""

    def higher(one: Row, other: Row) -> Row:
        return max(one, other, key=lambda row: (row["number"], canonical(row)))

    split = {
        (change.memory, change.row["note"].rpartition(" as ")[2])
        for change in exchange.changes
        if change.row["action"] == "split" and change.row["note"]
    }
    own = {
        (memory_id, row["created_at"]) for memory_id, new in split if (row := memories.get(new)) is not None
    }
    joined = by_key(exchange.rows("repetitions"), WORDING, higher)
    kept = [
        row
        for row in joined.values()
        if row["memory_id"] in memories
        and (row["memory_id"], row["created_at"]) not in own
        and exchange.hash_of(row["content"]) not in tombstones
        and row["created_at"] > exchange.undone.get(row["session_id"], "")
    ]
    return _numbered(kept, "memory_id", "created_at", "content")


# -------------------------------------------------------------------------------------------- what is deleted


def tombstones(exchange: Exchange, states: Mapping[str, str], erased: Iterable[Row]) -> list[Row]:
    """The tombstones of both sides that neither lifted, and those of texts that the other store `erased`.

    Of two of one text, that of an erase stays, else the newer one.
    """

    def stronger(one: Row, other: Row) -> Row:
        def rank(row: Row) -> tuple[bool, str, int, str]:
            reason = row["reason"]
            return reason == "erased", row["created_at"], _REASONS.index(reason), canonical(row)

        return max(one, other, key=rank)

    hashes = [{row["hash"] for row in side.table("tombstones")} for side in exchange.sides]
    acts = [
        {(row["memory_id"], row["created_at"]) for row in side.table("journal")} for side in exchange.sides
    ]

    def lifted(row: Row) -> bool:
        act = (row["memory_id"], row["created_at"])
        return any(row["hash"] not in hashes[one] and act in acts[one] for one in (0, 1))

    def restored(row: Row) -> bool:
        return states.get(row["memory_id"] or "", "forgotten") != "forgotten"

    joined = by_key([*exchange.rows("tombstones"), *erased], ("hash",), stronger)
    return [row for row in joined.values() if row["reason"] == "erased" or not (lifted(row) or restored(row))]
