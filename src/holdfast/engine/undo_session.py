"""undo-session: everything that one session wrote, taken back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.belief import believed
from holdfast.domain.history import Entry, recollected
from holdfast.domain.memory import Memory, Source
from holdfast.engine import changes
from holdfast.engine.forget import bury, unbury
from holdfast.engine.ports import Transaction
from holdfast.engine.repetitions import split_off
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.supersession import end_leading
from holdfast.engine.undo import TAKEN_BACK
from holdfast.errors import NotFound

#: What others do to a memory that shows they rely on it.
_VOUCHING = ("reinforced", "merged", "revised", "approved", "restored")


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back, and what stays because others relied on it since."""

    removed: tuple[Memory, ...]
    changed: tuple[Memory, ...]
    kept: tuple[Memory, ...]
    links: int


def undo_session(session_id: str, *, ctx: SpaceContext, source: Source) -> Undone:
    """Takes back what a session wrote and leaves the rest as it was.

    Raises: NotFound.
    """
    with ctx.store.write(ctx.space) as tx:
        now = ctx.now()
        if tx.sessions.get(session_id) is None:
            raise NotFound(f"there is no session {session_id!r} in space {ctx.space!r}")
        removed: list[Memory] = []
        changed: list[Memory] = []
        kept: list[Memory] = []
        for memory, entries in _touched(session_id, tx):
            if entries[0].action in ("added", "waiting"):
                vouched = _vouched_for(memory, entries, session_id, tx)
                (kept if vouched else removed).append(memory)
                if not vouched:
                    _remove(memory, tx, source, now)
            elif after := _taken_back(memory, entries, session_id, tx, ctx, now):
                changed.append(
                    changes.change(tx, memory, after, "undone", source=source, now=now, note=session_id)
                )
        tx.repetitions.remove_session(session_id)
        links = [
            link
            for link in tx.links.of_session(session_id)
            if tx.links.remove(link.from_id, link.to_id, link.kind)
        ]
    return Undone(tuple(removed), tuple(changed), tuple(kept), len(links))


def undoing(session_id: str, *, ctx: SpaceContext) -> Undone:
    """What `undo_session` would do, the memories as they are now.

    Raises: NotFound.
    """
    with ctx.store.read(ctx.space) as tx:
        if tx.sessions.get(session_id) is None:
            raise NotFound(f"there is no session {session_id!r} in space {ctx.space!r}")
        removed: list[Memory] = []
        changed: list[Memory] = []
        kept: list[Memory] = []
        for memory, entries in _touched(session_id, tx):
            if entries[0].action in ("added", "waiting"):
                (kept if _vouched_for(memory, entries, session_id, tx) else removed).append(memory)
            elif entries[0].before is not None and entries[-1].after is not None:
                changed.append(memory)
        links = len(tx.links.of_session(session_id))
    return Undone(tuple(removed), tuple(changed), tuple(kept), links)


def _vouched_for(memory: Memory, entries: Sequence[Entry], session_id: str, tx: Transaction) -> bool:
    """Whether others relied on a memory since the session made it."""
    since = (entry for entry in tx.journal.of(memory.id) if _by_others(entry, entries[0], session_id))
    return any(entry.action in _VOUCHING for entry in since)


def _touched(session_id: str, tx: Transaction) -> list[tuple[Memory, list[Entry]]]:
    """The memories that a session changed and that are still there, each with what it did, in order."""
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
    """Whether what the session did to a memory was taken back, and that not taken back again."""
    notes = [entry.note for entry in tx.journal.of(memory_id) if entry.action == "undone"]
    about = [note for note in notes if note == session_id or note == f"{session_id}{TAKEN_BACK}"]
    return bool(about) and about[-1] == session_id


def _gone(memory: Memory, entries: Sequence[Entry]) -> bool:
    """Whether a forgotten memory stays so: unless it is the session that forgot what was there before it."""
    forgot_it = entries[-1].action == "forgotten" and entries[0].before is not None
    return memory.state == "forgotten" and not forgot_it


def _by_others(entry: Entry, first: Entry, session_id: str) -> bool:
    # Neither a link nor the passing of time says anything about the wording.
    changed = entry.action not in ("linked", "unlinked", "decayed")
    return changed and entry.seq > first.seq and entry.session != session_id


def _remove(memory: Memory, tx: Transaction, source: Source, now: datetime) -> None:
    bury(tx, memory, "undone", now)
    gone = replace(memory, state="forgotten")
    changes.change(tx, memory, gone, "undone", source=source, now=now, note=memory.source.session)


def _taken_back(
    memory: Memory,
    entries: Sequence[Entry],
    session_id: str,
    tx: Transaction,
    ctx: SpaceContext,
    now: datetime,
) -> Memory | None:
    """The memory without the session's changes; where others went on since, only its share of belief goes."""
    before, last = entries[0].before, entries[-1].after
    if before is None or last is None:
        return None
    if any(_by_others(entry, entries[0], session_id) for entry in tx.journal.of(memory.id)):
        gone = split_off(memory.id, tx)  # it took its share of belief with it
        steps = [(e.before, e.after) for e in entries if e.before and e.after and e.note not in gone]
        share = sum(after["confidence"] - before["confidence"] for before, after in steps)
        return believed(memory, memory.confidence - share, ctx.profile.policy)
    if memory.state == "forgotten":
        unbury(tx, memory)
    values = recollected(before)
    wording = tx.versions.get(memory.id, values.pop("version"))
    back = replace(memory, **values)
    if wording is not None and (wording.content, wording.summary) != (memory.content, memory.summary):
        # The history only grows: the old wording comes back as the newest version.
        back = replace(back, content=wording.content, summary=wording.summary, version=memory.version + 1)
    if back.state == "waiting":
        end_leading(memory.id, tx)
    return back
