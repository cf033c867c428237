"""forget (delete) and restore."""

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
    """The memory before it was deleted; `restorable` unless the profile deletes permanently."""

    memory: Memory
    restorable: bool


def forget(
    memory_id: str, *, ctx: SpaceContext, source: Source, expect_version: int | None = None
) -> Forgotten:
    """Deletes a memory, restorably or permanently as the profile says.

    Its text is not stored again automatically, nor in other words.
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
    """As `forget`, inside a transaction; `softly`: restorably, whatever the profile says."""
    bury(tx, known, "forgotten", now)
    if ctx.profile.policy.removal == "permanent" and not softly:
        tx.words.drop(known.id)
        tx.memories.remove(known.id)
        rewordings.seek(tx, known.id, now)
        tx.journal.write("purged", source=source, now=now, before=known)
        if known.private:
            conceal(tx, known.id)
        return Forgotten(known, restorable=False)
    changes.change(tx, known, replace(known, state="forgotten"), "forgotten", source=source, now=now)
    return Forgotten(known, restorable=True)


def restore(memory_id: str, *, ctx: SpaceContext, source: Source) -> Memory:
    """Restores a deleted memory as it was, or reactivates an archived one.

    Raises: NotFound, Conflict.
    """
    with ctx.write() as tx:
        now = ctx.now()
        gone = [one for one in tx.tombstones.of(memory_id) if one.content or one.reason == "erased"]
        if gone and tx.all_memories.get(memory_id) is None:
            raise NotFound(f"memory {memory_id} was deleted permanently and can't be restored")
        known = existing(tx, memory_id, forgotten=True)
        if archived(known, ctx.profile):
            # Confirmed now, so that the next upkeep doesn't archive it again.
            back = replace(known.confirmed(now), state="active")
            return changes.change(tx, known, back, "restored", source=source, now=now)
        if known.state != "forgotten":
            raise Conflict(f"memory {memory_id} is {known.state}, not deleted: there is nothing to restore")
        return restored(known, tx=tx, ctx=ctx, source=source, now=now)


def restored(known: Memory, *, tx: Transaction, ctx: SpaceContext, source: Source, now: datetime) -> Memory:
    """As `restore` for a deleted memory, inside a transaction.

    Raises: Conflict, if another memory has its name now.
    """
    refuse_taken_name(known, known.id, tx, ctx)
    unbury(tx, known)
    # What was waiting for a review waits again.
    state: State = "waiting" if known.waiting_for else "active"
    back = believed(replace(known, state=state), known.confidence, ctx.profile.policy)
    return changes.change(tx, known, back, "restored", source=source, now=now)


def unbury(tx: Transaction, memory: Memory) -> None:
    """Removes the tombstones of all texts of the memory, also those made for another memory."""
    for content in _wordings(tx, memory):
        tx.tombstones.lift(text_hash(content, tx.space.key, memory.private_to))


def bury(
    tx: Transaction,
    memory: Memory,
    reason: Literal["forgotten", "rejected", "undone"],
    now: datetime,
    *,
    but: Collection[str] = (),
) -> None:
    """Adds tombstones for all texts that the memory has had, except those that the memory `but` has.

    Of a private one only hashes are kept: other drafts are compared with the texts of tombstones.
    """
    shown = not memory.private
    for content in _wordings(tx, memory):
        if content in but:
            continue
        tx.tombstones.add(
            Tombstone(
                hash=text_hash(content, tx.space.key, memory.private_to),
                reason=reason,
                memory=memory.id,
                category=memory.category if shown else None,
                subject=memory.subject if shown else None,
                content=content if shown else None,
                created_at=now,
            )
        )


def conceal(tx: Transaction, memory_id: str) -> None:
    """Removes what is left of a private memory beside its row, which no longer says whose it was."""
    tx.receipts.strike(memory_id)
    tx.journal.forget_text(memory_id)


def _wordings(tx: Transaction, memory: Memory) -> list[str]:
    worded = {version.content for version in tx.versions.of(memory.id)}
    return sorted(worded | {wording.content for wording in tx.repetitions.of(memory.id)} | {memory.content})
