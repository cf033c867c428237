"""Applies changes of memory files: a memory is added, restored, or proposed in the inbox.

A file is one memory even if another one says the same, so drafts are compared only with deleted texts. Knows
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
    """A deleted memory is not restored without a person."""


def added(draft: Draft, *, tx: Transaction, ctx: SpaceContext, now: datetime) -> Memory:
    """Stores the memory of a new file.

    Raises: StaysDeleted, if a person deleted the text; Conflict, if another memory has its name; Invalid.
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
    """The drafts that can be stored in one batch; None in place of one that must be handled alone.

    Those are invalid, use a name that exists or was deleted, or may repeat a deleted text.
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
    """Restores a deleted memory whose file exists again.

    Raises: StaysDeleted, if a person deleted it; Conflict, if another memory has its name now.
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
    """Puts a text that can't be applied into the inbox, linked to the memory that it would replace.

    Raises: Invalid.
    """
    draft = sanitize(draft, ctx.profile)
    memory = changes.add(tx, ctx, draft, now=now, waiting_for=reason)
    if known is not None:
        changes.connect(tx, memory.id, known.id, "supersedes", source=draft.source, now=now)
    return memory


def may_return(tombstone: Tombstone, source: Source, tx: Transaction) -> bool:
    """Whether this origin may store a deleted text again: only a person reverts a person's deletion."""
    if source.origin in PEOPLE:
        return True
    if tombstone.reason != "forgotten" or tombstone.memory is None:
        return False
    return _may_undo(tombstone.memory, source, tx)


def _may_undo(memory_id: str, source: Source, tx: Transaction) -> bool:
    entries = [entry for entry in tx.journal.of(memory_id) if entry.action in ("forgotten", "purged")]
    return source.origin in PEOPLE or bool(entries and entries[-1].origin not in PEOPLE)
