"""forget and restore: out of sight, and back."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from holdfast.domain.confidence import believed
from holdfast.domain.memory import Memory, Source, State, Tombstone
from holdfast.domain.retention import archived
from holdfast.engine import changes, rewordings
from holdfast.engine.intake import text_hash
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext, existing, expect, refuse_taken_name
from holdfast.errors import Conflict, NotFound


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The memory as it was; `restorable` unless the profile removes for good."""

    memory: Memory
    restorable: bool


def forget(
    memory_id: str, *, ctx: SpaceContext, source: Source, expect_version: int | None = None
) -> Forgotten:
    """Takes a memory out of lists, briefs and recall, softly or for good as the profile says.

    Either way it does not come back by itself: not its text, and not in other words.
    Raises: NotFound, Conflict.
    """
    with ctx.write() as tx:
        now = ctx.now()
        known = existing(tx, memory_id)
        expect(known, expect_version)
        return forgotten(known, tx=tx, ctx=ctx, source=source, now=now)


def forgotten(
    known: Memory, *, tx: Transaction, ctx: SpaceContext, source: Source, now: datetime, softly: bool = False
) -> Forgotten:
    """The same inside a transaction; `softly`: to be restored, even where the profile removes for good."""
    bury(tx, known, "forgotten", now)
    if ctx.profile.policy.removal == "permanent" and not softly:
        tx.words.drop(known.id)
        tx.memories.remove(known.id)
        rewordings.seek(tx, known.id, now)
        tx.journal.write("purged", source=source, now=now, before=known)
        return Forgotten(known, restorable=False)
    changes.change(tx, known, replace(known, state="forgotten"), "forgotten", source=source, now=now)
    return Forgotten(known, restorable=True)


def restore(memory_id: str, *, ctx: SpaceContext, source: Source) -> Memory:
    """Brings a forgotten memory back as it was, and an archived one to where it is found again.

    Raises: NotFound, Conflict.
    """
    with ctx.write() as tx:
        now = ctx.now()
        if tx.memories.get(memory_id) is None and tx.tombstones.of(memory_id):
            raise NotFound(f"memory {memory_id} was deleted permanently and can't be restored")
        known = existing(tx, memory_id, forgotten=True)
        if archived(known, ctx.profile):
            # Known to hold as of now: else the next upkeep would archive it again.
            back = replace(known.confirmed(now), state="active")
            return changes.change(tx, known, back, "restored", source=source, now=now)
        if known.state != "forgotten":
            raise Conflict(f"memory {memory_id} is {known.state}, not deleted: there is nothing to restore")
        return restored(known, tx=tx, ctx=ctx, source=source, now=now)


def restored(known: Memory, *, tx: Transaction, ctx: SpaceContext, source: Source, now: datetime) -> Memory:
    """The same for a forgotten memory inside a transaction.

    Raises: Conflict, when its name was given to another one meanwhile.
    """
    refuse_taken_name(known, known.id, tx, ctx)
    unbury(tx, known)
    # What waited for a person waits again: this is no way around the inbox.
    state: State = "waiting" if known.waiting_for else "active"
    back = believed(replace(known, state=state), known.confidence, ctx.profile.policy)
    return changes.change(tx, known, back, "restored", source=source, now=now)


def unbury(tx: Transaction, memory: Memory) -> None:
    """Allows every wording of the memory again, whichever memory it was forbidden with."""
    for content in _wordings(tx, memory):
        tx.tombstones.lift(text_hash(content, tx.space.key))


def bury(
    tx: Transaction,
    memory: Memory,
    reason: Literal["forgotten", "rejected", "undone"],
    now: datetime,
    *,
    but: Collection[str] = (),
) -> None:
    """Forbids every wording that the memory has had, `but` those that another one has."""
    for content in _wordings(tx, memory):
        if content in but:
            continue
        tx.tombstones.add(
            Tombstone(
                hash=text_hash(content, tx.space.key),
                reason=reason,
                memory=memory.id,
                category=memory.category,
                subject=memory.subject,
                content=content,
                created_at=now,
            )
        )


def _wordings(tx: Transaction, memory: Memory) -> list[str]:
    worded = {version.content for version in tx.versions.of(memory.id)}
    return sorted(worded | {wording.content for wording in tx.repetitions.of(memory.id)} | {memory.content})
