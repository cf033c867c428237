"""What a person has to decide after a merge: it goes to the inbox.

A proposal and its times follow from the rows alone, so that both stores make the same one, with the same id.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from holdfast.domain.history import REMEMBERED, REMEMBERED_TIMES
from holdfast.domain.merge.entries import JournalChange, Row, text_of
from holdfast.domain.merge.exchange import Exchange
from holdfast.domain.merge.memories import MergedMemories
from holdfast.domain.merge.wordings import OrderedVersion, unfollowed, wordings

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID = 8
_NEXT = timedelta(microseconds=1)


@dataclass(slots=True)
class Conflicts:
    """Rows that a merge adds: proposals with what belongs to them, and entries of memories that wait now."""

    memories: list[Row] = field(default_factory=list)
    versions: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)
    journal: list[Row] = field(default_factory=list)


def conflicts(exchange: Exchange, merged: MergedMemories, tombstones: Mapping[str, Row]) -> Conflicts:
    """All of them; `merged` has the memories that wait now."""
    found = Conflicts()
    known = {change.memory for change in exchange.changes} | merged.memories.keys()
    for memory_id in sorted(_reworded(exchange)):
        for wording, reason in _undecided(memory_id, exchange, merged):
            proposal = _id(memory_id, wording.key)
            if proposal not in known:
                known.add(proposal)
                _propose(proposal, wording, reason, memory_id in merged.memories, found)
    for memory_id, reason, at in (
        *_deleted_there(exchange, merged, tombstones),
        *_same_name(exchange, merged),
    ):
        row = merged.memories[memory_id]
        waiting = {**row, "state": "waiting", "waiting_for": reason}
        found.journal.append(_entry(row, waiting, reason, at, exchange))
        merged.memories[memory_id] = waiting
    return found


def _reworded(exchange: Exchange) -> Collection[str]:
    """The memories with more than one version."""
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for side in exchange.sides:
        for memory_id, worded in side.wordings.items():
            keys[memory_id].update(worded)
    return {one for one, worded in keys.items() if len(worded) > 1} - exchange.erased


def _undecided(
    memory_id: str, exchange: Exchange, merged: MergedMemories
) -> Iterator[tuple[OrderedVersion, str]]:
    """The versions of a memory that lost against a change of the other store, each with the reason to ask."""
    if memory_id not in merged.memories:
        yield from _reworded_after_removal(memory_id, exchange)
        return
    worded = wordings(memory_id, exchange)
    last = unfollowed(worded)
    memory = merged.memories[memory_id]
    if memory["state"] == "forgotten":
        seen = {
            change.before["version"]
            for change in exchange.by_memory.get(memory_id, ())
            if change.before is not None and change.after is not None and change.after["state"] == "forgotten"
        }
        for wording in last:
            if wording.key not in seen:
                yield wording, f"memory {memory_id} was deleted on one machine and reworded on another"
    else:
        for wording in last:
            if wording.row["content"] != memory["content"]:
                yield wording, f"memory {memory_id} was reworded on two machines: this is the older text"


def _reworded_after_removal(memory_id: str, exchange: Exchange) -> Iterator[tuple[OrderedVersion, str]]:
    removals = [one for one in exchange.by_memory.get(memory_id, ()) if one.row["action"] == "purged"]
    for wording in unfollowed(wordings(memory_id, exchange)):
        if any(_apart(removal, wording.by) for removal in removals if wording.by is not None):
            yield wording, f"memory {memory_id} was deleted on one machine and reworded on another"


def _apart(one: JournalChange, other: JournalChange) -> bool:
    """Whether the store of `one` does not know the other change."""
    return (one.seq is not None and other.seq is None) or (one.theirs and not other.theirs)


def _id(memory_id: str, key: str) -> str:
    number = int.from_bytes(sha256(f"{memory_id} {key}".encode()).digest()[:_ID])
    letters = []
    for _ in range(_ID):
        number, rest = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[rest])
    return "".join(letters)


def _propose(proposal: str, wording: OrderedVersion, reason: str, linked: bool, found: Conflicts) -> None:
    """A memory in the inbox with the text of a version, and what its writer knew of the memory."""
    if wording.by is None or wording.by.after is None:
        return
    version, after, at = wording.row, wording.by.after, wording.by.row["created_at"]
    moments = dict.fromkeys(("created_at", *REMEMBERED_TIMES), at)
    kept = {name: after.get(name) for name in REMEMBERED}
    source = {name: version.get(name) for name in ("origin", "session_id", "message_id", "tier", "person")}
    seen = {"private": bool(after.get("private"))}
    told = {"id": proposal, "content": version["content"], "summary": version["summary"], "version": 1}
    waits = {"state": "waiting", "waiting_for": reason, "pinned": False, "decayed_weeks": 0}
    row = {**kept, **source, **seen, **told, **waits, **moments, "accessed_at": None, "accesses": 0}
    found.memories.append(row)
    found.versions.append({**version, "memory_id": proposal, "number": 1})
    if linked:
        about = wording.row["memory_id"]
        link = {
            "from_id": proposal,
            "to_id": about,
            "kind": "supersedes",
            "session_id": None,
            "created_at": at,
        }
        found.links.append(link)
    entry = {"seq": None, "action": "waiting", "memory_id": proposal, "origin": version["origin"]}
    entry |= {"session_id": version["session_id"], "before": None, "after": journal_copy(row), "note": reason}
    found.journal.append(entry | {"judged": None, "created_at": at, "ordered_at": text_of(wording.by.turn)})


def journal_copy(row: Row) -> Row:
    """What the journal keeps of a memory's row."""
    kept = {name: row[name] for name in REMEMBERED} | ({"private": True} if row.get("private") else {})
    return kept | {name: datetime.fromisoformat(row[name]).isoformat() for name in REMEMBERED_TIMES}


def _entry(row: Row, waiting: Row, reason: str, at: datetime, exchange: Exchange) -> Row:
    before, after = journal_copy(row), journal_copy(waiting)
    last = max((change.turn for change in exchange.by_memory.get(row["id"], ())), default=at)
    told = {
        "seq": None,
        "action": "waiting",
        "memory_id": row["id"],
        "origin": row["origin"],
        "session_id": None,
    }
    moments = {"created_at": text_of(at), "ordered_at": text_of(max(last + _NEXT, at))}
    return {**told, "before": before, "after": after, "note": reason, "judged": None, **moments}


def _deleted_there(
    exchange: Exchange, merged: MergedMemories, tombstones: Mapping[str, Row]
) -> Iterator[tuple[str, str, datetime]]:
    """The memories of one store whose text was deleted in the other, which did not know the memory."""
    hashes = [{row["hash"] for row in side.table("tombstones")} for side in exchange.sides]
    acts = [
        {(row["memory_id"], row["created_at"]) for row in side.table("journal")} for side in exchange.sides
    ]
    known = [{row["memory_id"] for row in side.table("journal")} for side in exchange.sides]
    alone = [hashes[0] - hashes[1], hashes[1] - hashes[0]]
    if not (alone[0] or alone[1]):
        return
    for memory_id, row in sorted(merged.memories.items()):
        tombstone = tombstones.get(exchange.hash_of(row["content"]))
        if row["state"] not in ("active", "inactive") or tombstone is None or row.get("private"):
            continue
        act = (tombstone["memory_id"], tombstone["created_at"])
        if any(
            tombstone["hash"] in alone[one] and memory_id not in known[one] and act not in acts[1 - one]
            for one in (0, 1)
        ):
            day = tombstone["created_at"][:10]
            reason = f"this text was deleted on another machine on {day}"
            yield memory_id, reason, datetime.fromisoformat(max(tombstone["created_at"], row["updated_at"]))


def _same_name(exchange: Exchange, merged: MergedMemories) -> Iterator[tuple[str, str, datetime]]:
    """Where names are unique, the memories that have the name of an older one."""
    if not exchange.profile.policy.subject_is_key:
        return
    named: dict[tuple[str, str | None], str] = {}
    for memory_id, row in sorted(merged.memories.items(), key=lambda one: (one[1]["created_at"], one[0])):
        if row["state"] not in ("active", "inactive") or row["subject"] is None:
            continue
        first = named.setdefault((row["subject"], row["project"]), memory_id)
        if first != memory_id:
            reason = (
                f"memory {first} already has the name {row['subject']!r}: approving this replaces its text"
            )
            yield memory_id, reason, datetime.fromisoformat(row["updated_at"])
