"""Superseded memories: active ones that a newer active memory contradicts.

Stored as `supersedes` links, which apply while both memories are active.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.domain.memory import Memory, Source
from holdfast.domain.query import successors
from holdfast.engine.ports import Transaction

if TYPE_CHECKING:
    from holdfast.domain.ranking import Hit, MemoryHit

_DAY = timedelta(days=1)


def superseded_by(tx: Transaction, memory_ids: Collection[str]) -> dict[str, str]:
    """The successor of each memory that is superseded."""
    found = successors(tx.links.superseding(memory_ids)) if memory_ids else {}
    return {one: found[one] for one in memory_ids if one in found}


def mark(memories: Sequence[Memory], tx: Transaction) -> list[Memory]:
    """The memories, superseded ones with `superseded_by` set."""
    return _marked(memories, superseded_by(tx, [memory.id for memory in memories if memory.active]))


def mark_past(memories: Sequence[Memory], moment: datetime, tx: Transaction) -> list[Memory]:
    """As `mark`, among memories as they were at a past moment."""
    then = {memory.id: memory for memory in memories if memory.active}
    links = [
        link
        for link in tx.links.of_kind("supersedes")
        if link.created_at <= moment
        and {link.from_id, link.to_id} <= then.keys()
        and then[link.from_id].project in (None, then[link.to_id].project)
    ]
    return _marked(memories, successors(links))


def _marked(memories: Sequence[Memory], found: Mapping[str, str]) -> list[Memory]:
    return [replace(each, superseded_by=found[each.id]) if each.id in found else each for each in memories]


def supersede(newer: Memory, older: Memory, tx: Transaction, *, source: Source, now: datetime) -> None:
    """Links the memory that was said later to the other; an old transcript supersedes nothing newer."""
    if _said_at(newer, tx) < _said_at(older, tx):
        newer, older = older, newer
    engine.changes.connect(tx, newer.id, older.id, "supersedes", source=source, now=now)


def lead_again(
    memory: Memory, over: Iterable[Memory], tx: Transaction, *, source: Source, now: datetime
) -> None:
    """Lets a repeated memory supersede those that had superseded it."""
    successor = superseded_by(tx, [memory.id]).get(memory.id)
    for newer in over:
        if newer.id == successor:
            tx.links.remove(memory.id, newer.id, "supersedes")  # the latest link counts
            engine.changes.connect(tx, memory.id, newer.id, "supersedes", source=source, now=now)


def end_leading(memory: Memory, tx: Transaction, *, source: Source, now: datetime) -> None:
    """Removes the `supersedes` links of a memory, except those that it only proposes."""
    links = [link for link in tx.links.of(memory.id) if link.from_id == memory.id]
    against = {link.to_id for link in links if link.kind == "contradicts"}
    for link in links:
        if link.kind == "supersedes" and link.to_id in against:
            engine.changes.disconnect(tx, memory, link.to_id, "supersedes", source=source, now=now)


def successors_of_hits(hits: "Sequence[Hit]", tx: Transaction, past: datetime | None = None) -> "list[Hit]":
    """The hits with each successor above what it supersedes, found or not.

    A successor that was not found, or is further down, gets the place and score of the superseded hit.
    """
    from holdfast.domain.ranking import MemoryHit

    memories = [hit.memory for hit in hits if isinstance(hit, MemoryHit)]
    if past is not None:
        found = {one.id: one.superseded_by for one in mark_past(memories, past, tx) if one.superseded_by}
        known = {memory.id: memory for memory in memories}
    else:
        found, known = _chain(memories, tx)
    if not found:
        return list(hits)
    first: dict[str, Hit] = {}
    for hit in hits:
        if isinstance(hit, MemoryHit):
            for newer in _above(hit, found, known):
                first.setdefault(newer.memory.id, newer)
            shown = replace(hit, memory=replace(hit.memory, superseded_by=found.get(hit.memory.id)))
            first.setdefault(hit.memory.id, shown)
        else:
            first[f"message {hit.message.id}"] = hit
    return list(first.values())


def _chain(memories: Sequence[Memory], tx: Transaction) -> tuple[dict[str, str], dict[str, Memory]]:
    """The successors of memories, and theirs, with all of these memories."""
    known = {memory.id: memory for memory in memories}
    found: dict[str, str] = {}
    asked = list(known)
    while asked:
        new = superseded_by(tx, asked)
        found |= new
        asked = [one for one in dict.fromkeys(new.values()) if one not in known]
        known |= {memory.id: memory for memory in tx.memories.many(asked)} if asked else {}
    return found, known


def _above(hit: "MemoryHit", found: dict[str, str], known: dict[str, Memory]) -> "list[MemoryHit]":
    """The successors of a hit, the last one first."""
    above = list["MemoryHit"]()
    seen = {hit.memory.id}
    one = found.get(hit.memory.id)
    while one is not None and one not in seen and one in known:
        memory = replace(known[one], superseded_by=found.get(one))
        above.insert(0, replace(hit, memory=memory))
        seen.add(one)
        one = found.get(one)
    return above


def _said_at(memory: Memory, tx: Transaction) -> datetime:
    message = tx.sessions.message(memory.source.message) if memory.source.message else None
    return message.said_at if message is not None else memory.created_at


def as_said(memories: Sequence[Memory], tx: Transaction) -> list[Memory]:
    """The memories, with the time at which they were said: an import of old sessions stores them much later.

    One that was changed on another day keeps the time of the change.
    """
    new = {one.id: one.source.message for one in memories if one.updated_at - one.created_at < _DAY}
    sources = {message for message in new.values() if message is not None}
    said = tx.sessions.said_at(sources) if sources else {}
    dates = {owner: said[message] for owner, message in new.items() if message in said}
    return [
        replace(one, updated_at=min(one.updated_at, dates[one.id])) if one.id in dates else one
        for one in memories
    ]
