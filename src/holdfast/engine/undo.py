"""undo: what a person just did to memories, taken back as long as nobody went on from there.

An approval is taken back with all that it did to others, if those are named too; and so is the undoing of a
session, but for the links that it took away.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from holdfast.domain.history import Entry, recollected
from holdfast.domain.memory import Memory, Source
from holdfast.engine import changes
from holdfast.engine.forget import unbury
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.split import split_from, unsplit
from holdfast.engine.supersession import end_leading
from holdfast.errors import Conflict, NotFound

_LABELS_ONLY = ("linked", "unlinked")
TAKEN_BACK = ", taken back"  # behind the session whose undoing was undone


def taken_back(note: str | None) -> bool:
    """Whether a journal's note says that the undoing of a session was itself taken back."""
    return note is not None and note.endswith(TAKEN_BACK)


def undo(memory_ids: Sequence[str], *, since: int, ctx: SpaceContext, source: Source) -> list[Memory]:
    """The memories as they were when the journal stood at `since`; one that was new then is forgotten.

    Raises: NotFound, for a memory that was removed for good; Conflict, when others changed one since, or
    nothing is there to take back. Then none was changed.
    """
    with ctx.store.write(ctx.space) as tx:
        now = ctx.now()
        followed = {
            note for one in memory_ids for note in (f"approved {one}", f"by {one}", f"split from {one}")
        }
        done = [
            (_known(memory_id, tx), _steps(memory_id, since, source, followed, tx))
            for memory_id in memory_ids
        ]
        return [_taken_back(memory, steps[0], tx, source, now) for memory, steps in done if steps]


def _known(memory_id: str, tx: Transaction) -> Memory:
    memory = tx.memories.get(memory_id)
    if memory is None:
        raise NotFound(f"memory {memory_id} was deleted permanently: this can't be undone")
    return memory


def _steps(
    memory_id: str, since: int, source: Source, followed: Collection[str], tx: Transaction
) -> list[Entry]:
    """What was done to a memory after `since`, all of it by the one who takes it back.

    What `followed` from it, by its note, was done in another's name.
    """
    entries = [entry for entry in tx.journal.of(memory_id) if entry.seq > since]
    steps = [entry for entry in entries if entry.action not in _LABELS_ONLY]
    if any(entry.action == "undone" and (entry.note is None or taken_back(entry.note)) for entry in steps):
        raise Conflict(f"this was already undone: memory {memory_id} is as it was before")
    others = [
        entry
        for entry in steps
        if (entry.origin, entry.session) != (source.origin, source.session) and entry.note not in followed
    ]
    if others:
        raise Conflict(
            f"memory {memory_id} has since been {others[-1].action} by {others[-1].origin}: change it by hand"
        )
    return steps


def _taken_back(memory: Memory, first: Entry, tx: Transaction, source: Source, now: datetime) -> Memory:
    note = f"{first.note}{TAKEN_BACK}" if first.action == "undone" else None
    if (original := split_from(first)) is not None:
        return unsplit(memory, original, tx, source, now)
    if first.before is None:
        # Nobody said that it is wrong, so it may be said again.
        gone = replace(memory, state="forgotten")
        return changes.change(tx, memory, gone, "undone", source=source, now=now, note=note)
    if memory.state == "forgotten":
        unbury(tx, memory)
    values = recollected(first.before)
    wording = tx.versions.get(memory.id, values.pop("version"))
    back = replace(memory, **values)
    if wording is not None and (wording.content, wording.summary) != (memory.content, memory.summary):
        # The history only grows: the old wording comes back as the newest version.
        back = replace(back, content=wording.content, summary=wording.summary, version=memory.version + 1)
    if back.state == "waiting":
        end_leading(memory.id, tx)
    return changes.change(tx, memory, back, "undone", source=source, now=now, note=note)
