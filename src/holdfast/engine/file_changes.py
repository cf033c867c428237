"""What becomes of a memory when the file that it stands in is written: added, back again, or waiting.

A file is one memory, whatever else says the same, so nothing is compared but with what was deleted. Knows
nothing of paths or disks.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from holdfast.domain.memory import PEOPLE, Draft, Memory, Source, Tombstone
from holdfast.engine import changes
from holdfast.engine.forget import restored
from holdfast.engine.intake import sanitize, text_hash
from holdfast.engine.neighbours import find_tombstone, look_at_deleted
from holdfast.engine.ports import Transaction
from holdfast.engine.sessions import known_session
from holdfast.engine.space_context import SpaceContext, refuse_taken_name
from holdfast.errors import Conflict, Invalid


class StaysDeleted(Conflict):
    """What was deleted does not come back by itself."""


def added(draft: Draft, *, tx: Transaction, ctx: SpaceContext, now: datetime) -> Memory:
    """Keeps what a new file says.

    Raises: StaysDeleted, for what a person deleted; Conflict, for a name that another memory has; Invalid.
    """
    draft = sanitize(draft, ctx.profile)
    draft = replace(draft, source=known_session(tx, draft.source, now))
    refuse_taken_name(draft, "", tx, ctx)
    around = look_at_deleted(draft, tx, ctx.judge, across=False)
    while (tombstone := find_tombstone(draft, tx, around)) is not None:
        if not may_return(tombstone, draft.source, tx):
            raise StaysDeleted(f"this {tombstone.says} and is not stored again")
        tx.tombstones.lift(tombstone.hash)
    return changes.add(tx, ctx, draft, now=now)


def unopposed(drafts: Sequence[Draft], *, tx: Transaction, ctx: SpaceContext) -> list[Draft | None]:
    """The drafts as they may be stored, asked about all at once; none where one has to be looked at alone.

    Those have a name that is in use or was forgotten, may say what was deleted, or are wrong.
    """
    checked = [_fit(draft, ctx) for draft in drafts]
    fit = [draft for draft in checked if draft is not None]
    subjects = {draft.subject for draft in fit if draft.subject is not None}
    names: set[tuple[str | None, str | None]] = set()
    if ctx.profile.policy.subject_is_key:
        names |= tx.memories.names(subjects, ("active", "inactive"))
    forgotten = {subject for subject, _ in tx.memories.names(subjects, ("forgotten",))}
    hashes = {id(draft): text_hash(draft.content, tx.space.key) for draft in fit}
    deleted = tx.tombstones.about(hashes.values(), subjects)
    texts = {tombstone.hash for tombstone in deleted}
    about = {(tombstone.category, tombstone.subject) for tombstone in deleted if tombstone.content}
    free: list[Draft | None] = []
    for draft in checked:
        opposed = (
            draft is None
            or (draft.subject, draft.project) in names
            or draft.subject in forgotten
            or hashes[id(draft)] in texts
            or (draft.category, draft.subject) in about
        )
        free.append(None if opposed else draft)
        if draft is not None and ctx.profile.policy.subject_is_key and draft.subject is not None:
            names.add((draft.subject, draft.project))
    return free


def _fit(draft: Draft, ctx: SpaceContext) -> Draft | None:
    try:
        fit = sanitize(draft, ctx.profile)
    except Invalid:
        return None
    plain = draft.source.session is None and fit.subject == draft.subject
    return fit if plain else None


def put_back(known: Memory, *, tx: Transaction, ctx: SpaceContext, source: Source, now: datetime) -> Memory:
    """Brings a forgotten memory back whose file is there again.

    Raises: StaysDeleted, when a person forgot it; Conflict, when another memory has its name now.
    """
    if not _may_undo(known.id, source, tx):
        raise StaysDeleted(
            f"memory {known.id} is deleted: restore it first",
            command=f"`holdfast restore {known.id}`",
        )
    return restored(known, tx=tx, ctx=ctx, source=source, now=now)


def set_aside(
    draft: Draft,
    reason: str,
    *,
    tx: Transaction,
    ctx: SpaceContext,
    now: datetime,
    known: Memory | None = None,
) -> Memory:
    """Keeps a text in the inbox that can't be taken over, beside the memory that it would replace.

    Raises: Invalid.
    """
    draft = sanitize(draft, ctx.profile)
    memory = changes.add(tx, ctx, draft, now=now, waiting_for=reason)
    if known is not None:
        changes.connect(tx, memory.id, known.id, "supersedes", source=draft.source, now=now)
    return memory


def may_return(tombstone: Tombstone, source: Source, tx: Transaction) -> bool:
    """Whether this speaker may write again what was deleted: only a person undoes what a person did."""
    if source.origin in PEOPLE:
        return True
    if tombstone.reason != "forgotten" or tombstone.memory is None:
        return False
    return _may_undo(tombstone.memory, source, tx)


def _may_undo(memory_id: str, source: Source, tx: Transaction) -> bool:
    entries = [entry for entry in tx.journal.of(memory_id) if entry.action in ("forgotten", "purged")]
    return source.origin in PEOPLE or bool(entries and entries[-1].origin not in PEOPLE)
