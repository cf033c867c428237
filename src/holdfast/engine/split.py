"""split: turns a wording that was counted as a duplicate into a memory of its own.

Such wordings are stored, so that a wrong merge loses nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.confidence import believed
from holdfast.domain.history import Entry, without_confirmation
from holdfast.domain.memory import Draft, Memory, Repetition, Session, Source
from holdfast.domain.query import UPKEEP
from holdfast.domain.text import normal_form
from holdfast.engine import changes
from holdfast.engine.forget import conceal
from holdfast.engine.intake import sanitize, text_hash
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext, existing
from holdfast.errors import Conflict, NotFound
from holdfast.language.consolidation import pair_id

_FROM = "split from "


@dataclass(frozen=True, slots=True)
class Split:
    """The new memory, and the original before and after."""

    memory: Memory
    original: Memory
    previous: Memory


def split(memory_id: str, number: int, *, ctx: SpaceContext, source: Source) -> Split:
    """Makes wording `number` of a memory a memory of its own, and reverts its effect on the confidence.

    The new memory has the source and the date of the wording. The two are not merged again automatically.
    Raises: NotFound, Conflict.
    """
    with ctx.write() as tx:
        now = ctx.now()
        known = existing(tx, memory_id)
        wording = _chosen(known, number, tx)
        draft = sanitize(_drafted(wording, known), ctx.profile)
        if tx.tombstones.get(text_hash(draft.content, tx.space.key, draft.private_to)) is not None:
            raise Conflict("this wording was deleted before: it can't be split off")
        note = f"{_FROM}{known.id}"
        memory = changes.add(tx, ctx, draft, now=now, note=note, said_at=wording.created_at)
        entries = [entry for entry in tx.journal.of(known.id) if entry.note == wording.note]
        after = _without(known, wording, entries, tx, ctx, now)
        note = split_note(number, memory.id)
        after = changes.change(tx, known, after, "split", source=source, now=now, note=note)
        tx.repetitions.remove(known.id, number)
        changes.connect(tx, memory.id, known.id, "related", source=source, now=now)
        _keep_apart(memory, known, tx, ctx, now)
    return Split(memory, after, known)


def split_from(first: Entry) -> str | None:
    """The id of the memory that a new one was split from, by the journal's first entry."""
    note = first.note or ""
    return note.removeprefix(_FROM) if first.before is None and note.startswith(_FROM) else None


def unsplit(memory: Memory, original: str, tx: Transaction, source: Source, now: datetime) -> Memory:
    """Reverts a split: the memory becomes a wording of the original again."""
    ending = f" as {memory.id}"
    notes = [entry.note or "" for entry in tx.journal.of(original) if entry.action == "split"]
    [note] = [note for note in notes if note.endswith(ending)]
    first = tx.versions.of(memory.id)[0]
    tx.repetitions.add(
        Repetition(
            memory=original,
            number=int(note.removesuffix(ending).removeprefix("wording ")),
            content=first.content,
            category=memory.category,
            subject=memory.subject,
            project=memory.project,
            source=first.source,
            created_at=first.created_at,
        )
    )
    tx.words.drop(memory.id)
    tx.memories.remove(memory.id)
    tx.journal.write("undone", source=source, now=now, before=memory)
    if memory.private:
        conceal(tx, memory.id)
    return replace(memory, state="forgotten")


def _chosen(known: Memory, number: int, tx: Transaction) -> Repetition:
    kept = {wording.number: wording for wording in tx.repetitions.of(known.id)}
    if number not in kept:
        there = f"it has {', '.join(map(str, kept))}" if kept else "it has none"
        raise NotFound(f"memory {known.id} has no repeated wording {number}: {there}")
    return kept[number]


def _drafted(wording: Repetition, known: Memory) -> Draft:
    source = replace(wording.source, person=known.private_to) if known.private else wording.source
    return Draft(
        content=wording.content,
        category=wording.category,
        subject=wording.subject,
        project=wording.project,
        source=source,
        private=known.private,
    )


def _without(
    known: Memory,
    wording: Repetition,
    entries: Sequence[Entry],
    tx: Transaction,
    ctx: SpaceContext,
    now: datetime,
) -> Memory:
    """The original without the effect of the wording; changes by others stay."""
    steps = [(entry.before, entry.after) for entry in entries if entry.before and entry.after]
    confidence = known.confidence - sum(after["confidence"] - before["confidence"] for before, after in steps)
    importance = known.importance - sum(after["importance"] - before["importance"] for before, after in steps)
    bare = believed(replace(known, importance=max(importance, 1)), confidence, ctx.profile.policy)
    for before, after in reversed(steps):
        earlier = without_confirmation(bare, before, after)
        if earlier is None:
            break
        bare = earlier
    if normal_form(bare.content) != normal_form(wording.content):
        return bare
    others = [
        version
        for version in tx.versions.of(known.id)
        if normal_form(version.content) != normal_form(wording.content)
    ]
    return bare.worded(others[-1].content, summary=others[-1].summary, now=now) if others else bare


def _keep_apart(one: Memory, other: Memory, tx: Transaction, ctx: SpaceContext, now: datetime) -> None:
    """Records that a person decided that they are distinct: upkeep won't propose to merge them."""
    name = f"{one.id} and {other.id} kept apart"
    pair = pair_id(one.id, other.id)
    tx.sessions.save(Session(id=pair, space=ctx.space, name=name, client=UPKEEP, started_at=now))


def keep_wording(known: Memory, draft: Draft, tx: Transaction, now: datetime) -> str | None:
    """Stores the wording of a duplicate; returns the journal's note for it.

    Each wording is stored once, with its first source. Returns None if the memory has had this text.
    """
    assert draft.category is not None
    said = normal_form(draft.content)
    if said == normal_form(known.content):
        return None
    for wording in tx.repetitions.of(known.id):
        if normal_form(wording.content) == said:
            return wording.note
    if any(normal_form(version.content) == said for version in tx.versions.of(known.id)):
        return None
    wording = Repetition(
        memory=known.id,
        number=_next_number(known.id, tx),
        content=draft.content,
        category=draft.category,
        subject=draft.subject,
        project=draft.project,
        source=draft.source,
        created_at=now,
    )
    tx.repetitions.add(wording)
    return wording.note


def split_note(number: int, memory_id: str) -> str:
    """The journal's note for a wording that became a memory of its own."""
    return f"wording {number} as {memory_id}"


def split_off(memory_id: str, tx: Transaction) -> set[str]:
    """The notes of wordings that are memories of their own now."""
    kept = {wording.note for wording in tx.repetitions.of(memory_id)}
    split = (entry.note or "" for entry in tx.journal.of(memory_id) if entry.action == "split")
    return {note.partition(" as ")[0] for note in split} - kept


def _next_number(memory_id: str, tx: Transaction) -> int:
    """A number that was never used: the journal refers to wordings by number."""
    noted = (entry.note for entry in tx.journal.of(memory_id) if entry.note)
    split_off = [int(note.split()[1]) for note in noted if _names_wording(note)]
    return max([tx.repetitions.last_number(memory_id), *split_off]) + 1


def _names_wording(note: str) -> bool:
    word, _, rest = note.partition(" ")
    return word == "wording" and rest.split(" ")[0].isdecimal()
