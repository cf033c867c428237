"""undo: reverts a person's last action if nobody built on it; undo-session: reverts all changes of a session.

An approval is reverted with its effects on other memories if those are given, too. So is the undo of a
session, except for the links that it removed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, get_args

from holdfast.domain.confidence import believed
from holdfast.domain.history import Entry, recollected
from holdfast.domain.memory import Memory, Source
from holdfast.engine import changes
from holdfast.engine.consolidate import keep_apart, proposal_of, put_up
from holdfast.engine.forget import bury, unbury
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext, existing_session
from holdfast.engine.split import split_from, split_off, unsplit
from holdfast.engine.supersession import end_leading
from holdfast.errors import Conflict, NotFound
from holdfast.language.consolidation import Proposal

_LABELS_ONLY = ("linked", "unlinked")
TAKEN_BACK = ", taken back"  # suffix of the session whose undo was reverted


#: Actions of others that show that they rely on a memory.
_VOUCHING = ("reinforced", "merged", "revised", "approved", "restored")


Fate = Literal["removed", "changed", "kept"]


@dataclass(frozen=True, slots=True)
class Undone:
    """What was reverted, and what stays because others relied on it."""

    removed: tuple[Memory, ...]
    changed: tuple[Memory, ...]
    kept: tuple[Memory, ...]
    links: int
    proposal: Memory | None = None  # of an undone merge: back in the inbox

    @classmethod
    def of(cls, fates: Sequence[tuple[Fate, Memory]], links: int, proposal: Memory | None = None) -> "Undone":
        removed, changed, kept = (
            tuple(memory for fate, memory in fates if fate == each) for each in get_args(Fate)
        )
        return cls(removed, changed, kept, links, proposal)


def taken_back(note: str | None) -> bool:
    """Whether a journal's note says that the undo of a session was itself reverted."""
    return note is not None and note.endswith(TAKEN_BACK)


def undo(memory_ids: Sequence[str], *, since: int, ctx: SpaceContext, source: Source) -> list[Memory]:
    """Restores the memories as they were at `since`, a number of the journal; newer ones are deleted.

    Raises: NotFound, for an erased memory; Conflict, if others changed one since, or there is nothing to
    revert. Then none was changed.
    """
    with ctx.write() as tx:
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
    """The changes of a memory after `since`, all by the person who reverts them.

    Changes that `followed`, by their notes, were made in another's name.
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
        action = "deleted" if others[-1].action == "forgotten" else others[-1].action
        raise Conflict(
            f"memory {memory_id} has since been {action} by {others[-1].origin}: change it by hand"
        )
    return steps


def _taken_back(memory: Memory, first: Entry, tx: Transaction, source: Source, now: datetime) -> Memory:
    note = f"{first.note}{TAKEN_BACK}" if first.action == "undone" else None
    if (original := split_from(first)) is not None:
        return unsplit(memory, original, tx, source, now)
    if first.before is None and proposal_of(memory, tx) is not None:
        return keep_apart(memory, tx, source, now)
    if first.before is None:
        # Nobody said that it is wrong: no tombstone.
        gone = replace(memory, state="forgotten")
        return changes.change(tx, memory, gone, "undone", source=source, now=now, note=note)
    back = _as_before(memory, first.before, tx, source, now)
    return changes.change(tx, memory, back, "undone", source=source, now=now, note=note)


def _as_before(
    memory: Memory, before: dict[str, Any], tx: Transaction, source: Source, now: datetime
) -> Memory:
    """The memory as it was before, according to the journal."""
    if memory.state == "forgotten":
        unbury(tx, memory)
    values = recollected(before)
    wording = tx.versions.get(memory.id, values.pop("version"))
    back = replace(memory, **values)
    if wording is not None and (wording.content, wording.summary) != (memory.content, memory.summary):
        # Versions are only added: the old wording becomes the newest version.
        back = replace(back, content=wording.content, summary=wording.summary, version=memory.version + 1)
    if back.state == "waiting":
        end_leading(memory, tx, source=source, now=now)
    return back


def undo_session(session_id: str, *, ctx: SpaceContext, source: Source) -> Undone:
    """Reverts all changes of a session.

    Raises: NotFound.
    """
    done = []
    with ctx.write() as tx:
        now = ctx.now()
        for fate, memory, entries in _fates(session_id, tx):
            if fate == "removed":
                _remove(memory, tx, source, now)
            elif fate == "changed":
                after = _session_taken_back(memory, entries, session_id, tx, ctx, source)
                memory = changes.change(tx, memory, after, "undone", source=source, now=now, note=session_id)
            done.append((fate, memory))
        wordings = tx.repetitions.remove_session(session_id)
        links = [
            link
            for link in tx.links.of_session(session_id)
            if tx.links.remove(link.from_id, link.to_id, link.kind)
        ]
        if links or wordings:  # no entry of a memory says so
            tx.journal.write("undone", source=source, now=now, note=session_id)
        proposal = _propose_again(session_id, tx, ctx, now) if done else None
    return Undone.of(done, len(links), proposal)


def _propose_again(session_id: str, tx: Transaction, ctx: SpaceContext, now: datetime) -> Memory | None:
    """Puts the proposal of a merge, whose session was just undone, back into the inbox."""
    done = {entry.action: entry for entry in tx.journal.of_session(session_id)}
    if not {"approved", "revised", "forgotten"} <= done.keys() or done["approved"].before is None:
        return None
    reason, revised = done["approved"].before["waiting_for"], done["revised"]
    kept, dropped = (tx.memories.get(str(entry.memory)) for entry in (revised, done["forgotten"]))
    if revised.after is None or not (kept and dropped and kept.active and dropped.active):
        return None
    wording = tx.versions.get(kept.id, revised.after["version"])
    merged = replace(kept, content=wording.content, summary=wording.summary) if wording else kept
    proposal = Proposal(kept, dropped, merged, reason)
    return put_up(proposal, proposal.draft(), tx, ctx, now) if proposal.id == session_id else None


def undoing(session_id: str, *, ctx: SpaceContext) -> Undone:
    """What `undo_session` would do; the memories are as they are now.

    Raises: NotFound.
    """
    with ctx.read() as tx:
        fates = [(fate, memory) for fate, memory, _ in _fates(session_id, tx)]
        return Undone.of(fates, len(tx.links.of_session(session_id)))


def _fates(session_id: str, tx: Transaction) -> list[tuple[Fate, Memory, Sequence[Entry]]]:
    """What the undo does to each memory that the session changed, with the session's changes."""
    existing_session(tx, session_id)
    found: list[tuple[Fate, Memory, Sequence[Entry]]] = []
    for memory, entries in _touched(session_id, tx):
        if entries[0].action in ("added", "waiting"):
            vouched = _vouched_for(memory, entries, session_id, tx)
            found.append(("kept" if vouched else "removed", memory, entries))
        elif entries[0].before is not None and entries[-1].after is not None:
            found.append(("changed", memory, entries))
    return found


def _vouched_for(memory: Memory, entries: Sequence[Entry], session_id: str, tx: Transaction) -> bool:
    """Whether others relied on a memory since the session added it."""
    since = (entry for entry in tx.journal.of(memory.id) if _by_others(entry, entries[0], session_id))
    return any(entry.action in _VOUCHING for entry in since)


def _touched(session_id: str, tx: Transaction) -> list[tuple[Memory, list[Entry]]]:
    """The existing memories that a session changed, each with the changes in order."""
    done: dict[str, list[Entry]] = {}
    for entry in tx.journal.of_session(session_id):
        if entry.memory is not None and entry.action not in ("linked", "unlinked"):
            done.setdefault(entry.memory, []).append(entry)
    found = []
    for memory_id, entries in done.items():
        memory = tx.memories.get(memory_id)
        if memory is not None and not _undone(session_id, memory_id, tx) and not _gone(memory, entries):
            found.append((memory, entries))
    return found


def _undone(session_id: str, memory_id: str, tx: Transaction) -> bool:
    """Whether the session's change of a memory was reverted, and that not reverted again."""
    notes = [entry.note for entry in tx.journal.of(memory_id) if entry.action == "undone"]
    about = [note for note in notes if note in _notes(session_id)]
    return bool(about) and about[-1] == session_id


def _notes(session_id: str) -> tuple[str, str]:
    """The journal's notes for the undo of a session, and for reverting that undo."""
    return session_id, f"{session_id}{TAKEN_BACK}"


def _gone(memory: Memory, entries: Sequence[Entry]) -> bool:
    """Whether a deleted memory stays deleted: unless the session deleted a memory that existed before it."""
    forgot_it = entries[-1].action == "forgotten" and entries[0].before is not None
    return memory.state == "forgotten" and not forgot_it


def _by_others(entry: Entry, first: Entry, session_id: str) -> bool:
    # Neither a link nor decay concerns the wording; an undo and its undo cancel out.
    back_and_forth = entry.action == "undone" and entry.note in _notes(session_id)
    changed = entry.action not in ("linked", "unlinked", "decayed") and not back_and_forth
    return changed and entry.seq > first.seq and entry.session != session_id


def _remove(memory: Memory, tx: Transaction, source: Source, now: datetime) -> None:
    bury(tx, memory, "undone", now)
    gone = replace(memory, state="forgotten")
    changes.change(tx, memory, gone, "undone", source=source, now=now, note=memory.source.session)


def _session_taken_back(
    memory: Memory,
    entries: Sequence[Entry],
    session_id: str,
    tx: Transaction,
    ctx: SpaceContext,
    source: Source,
) -> Memory:
    """The memory without the session's changes; if others changed it, only the confidence is reverted."""
    before = entries[0].before
    assert before is not None
    if any(_by_others(entry, entries[0], session_id) for entry in tx.journal.of(memory.id)):
        gone = split_off(memory.id, tx)  # its effect on the confidence went with it
        steps = [(e.before, e.after) for e in entries if e.before and e.after and e.note not in gone]
        share = sum(after["confidence"] - before["confidence"] for before, after in steps)
        return believed(memory, memory.confidence - share, ctx.profile.policy)
    return _as_before(memory, before, tx, source, ctx.now())
