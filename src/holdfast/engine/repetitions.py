"""Keeps the wordings that were taken for repetitions, so that a wrong merge loses nothing."""

from datetime import datetime

from holdfast.domain.memory import Draft, Memory, Repetition
from holdfast.domain.text import normal_form
from holdfast.engine.ports import Transaction


def keep_wording(known: Memory, draft: Draft, tx: Transaction, now: datetime) -> str | None:
    """Keeps what a repetition says in other words than its memory; answers the journal's note for it.

    Each wording is kept once, with its first source. None, when the memory has had these very words.
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
    """How the journal of the original tells that a wording became a memory of its own."""
    return f"wording {number} as {memory_id}"


def split_off(memory_id: str, tx: Transaction) -> set[str]:
    """The notes of the wordings that became memories of their own, and are so still."""
    kept = {wording.note for wording in tx.repetitions.of(memory_id)}
    split = (entry.note or "" for entry in tx.journal.of(memory_id) if entry.action == "split")
    return {note.partition(" as ")[0] for note in split} - kept


def _next_number(memory_id: str, tx: Transaction) -> int:
    """Never one that was given before: the journal names wordings by their numbers."""
    noted = (entry.note for entry in tx.journal.of(memory_id) if entry.note)
    split_off = [int(note.split()[1]) for note in noted if _names_wording(note)]
    return max([tx.repetitions.last_number(memory_id), *split_off]) + 1


def _names_wording(note: str) -> bool:
    word, _, rest = note.partition(" ")
    return word == "wording" and rest.split(" ")[0].isdecimal()
