"""Writes a change of a memory everywhere: row, version, search index, citations, journal.

No other module writes them, so that no verb can forget one.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter

from holdfast.domain.history import Action
from holdfast.domain.memory import Citation, Draft, Link, LinkKind, Memory, Source, State, Version
from holdfast.domain.passage import places
from holdfast.engine import rewordings
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable

_NO_ID = "no unique id could be generated: the random number source of this machine seems broken"
_TRIES = 50  # ids are 8 random characters: two clashes in a row mean a broken source of chance


def add(
    tx: Transaction,
    ctx: SpaceContext,
    draft: Draft,
    *,
    now: datetime,
    waiting_for: str | None = None,
    note: str | None = None,
    said_at: datetime | None = None,
) -> Memory:
    """Stores a checked draft as a new memory; in the inbox if it is `waiting_for` something.

    `said_at` is its creation time if it was said earlier.
    """
    for _ in range(_TRIES):
        memory = replace(_settled(draft, ctx, now, waiting_for), created_at=said_at or now)
        if tx.memories.add(memory):
            break
    else:
        raise Unavailable(_NO_ID)
    tx.versions.add(_wording(memory, draft.source, memory.created_at))
    cite(tx, memory.id, draft.source, draft.content)
    if memory.active:
        tx.words.put(memory, new=True)
    else:
        rewordings.seek(tx, memory.id, now)
    tx.journal.write(
        "waiting" if waiting_for else "added", source=draft.source, now=now, after=memory, note=note
    )
    return memory


def add_all(tx: Transaction, ctx: SpaceContext, drafts: Sequence[Draft], *, now: datetime) -> list[Memory]:
    """Stores checked drafts as new memories in a few statements; returned in their order."""
    memories = [_settled(draft, ctx, now, None) for draft in drafts]
    for _ in range(_TRIES):
        first = {memory.id: place for place, memory in reversed(list(enumerate(memories)))}
        taken = {memory.id for memory in tx.all_memories.many(list(first))}
        if not taken and len(first) == len(memories):
            break
        memories = [
            replace(memory, id=ctx.new_id()) if memory.id in taken or first[memory.id] != place else memory
            for place, memory in enumerate(memories)
        ]
    else:
        raise Unavailable(_NO_ID)
    tx.memories.add_all(memories)
    tx.versions.add(*(_wording(memory, memory.source, now) for memory in memories))
    for memory in memories:
        cite(tx, memory.id, memory.source, memory.content)
    tx.words.put(*(memory for memory in memories if memory.active), new=True)
    tx.journal.write_added(memories, now)
    return memories


def change(
    tx: Transaction,
    before: Memory,
    after: Memory,
    action: Action,
    *,
    source: Source,
    now: datetime,
    note: str | None = None,
) -> Memory:
    """Replaces `before` by `after`; a higher version number adds the wording to the history."""
    tx.memories.save(after)
    if after.version != before.version:
        tx.versions.add(_wording(after, source, now))
        cite(tx, after.id, source, after.content)
    if after.active:
        if _reads_otherwise(before, after):
            tx.words.put(after)
    elif before.active:
        tx.words.drop(after.id)
        rewordings.seek(tx, after.id, now)
    tx.journal.write(action, source=source, now=now, before=before, after=after, note=note)
    return after


def connect(
    tx: Transaction, from_id: str, to_id: str, kind: LinkKind, *, source: Source, now: datetime
) -> bool:
    """Links two memories; returns False if they were linked already."""
    link = Link(from_id=from_id, to_id=to_id, kind=kind, created_at=now, session=source.session)
    added = tx.links.add(link)
    if added and kind == "supersedes":
        rewordings.seek(tx, to_id, now)
    return added


def disconnect(
    tx: Transaction, memory: Memory, to_id: str, kind: LinkKind | None, *, source: Source, now: datetime
) -> int:
    """Removes the links from a memory to another, of one kind or all; returns how many."""
    if count := tx.links.remove(memory.id, to_id, kind):
        note = f"{kind or 'all'} {to_id}"
        tx.journal.write("unlinked", source=source, now=now, before=memory, after=memory, note=note)
    return count


def cite(tx: Transaction, memory_id: str, source: Source, content: str) -> None:
    """Records which characters of which message a memory was taken from; the whole message if unknown."""
    taken = source.taken_from or (((source.message, content),) if source.message else ())
    for message_id, words in taken:
        message = tx.sessions.message(message_id) if words else None
        spans = places(words or "", (message.content if message else None) or "")
        cited = [Citation(message=message_id, memory=memory_id, begins=at, ends=end) for at, end in spans]
        tx.citations.add(*(cited or [Citation(message=message_id, memory=memory_id)]))


def _settled(draft: Draft, ctx: SpaceContext, now: datetime, waiting_for: str | None) -> Memory:
    assert draft.confidence is not None
    state: State = "active" if draft.confidence >= ctx.profile.policy.floor else "inactive"
    memory = Memory.of(draft, now, memory_id=ctx.new_id(), space=ctx.space, state=state)
    return replace(memory, state="waiting", waiting_for=waiting_for) if waiting_for else memory


def _wording(memory: Memory, source: Source, now: datetime) -> Version:
    return Version(
        memory=memory.id,
        number=memory.version,
        content=memory.content,
        summary=memory.summary,
        source=source,
        created_at=now,
    )


def _reads_otherwise(before: Memory, after: Memory) -> bool:
    words = attrgetter("active", "content", "subject", "summary", "tags")
    return bool(words(before) != words(after))
