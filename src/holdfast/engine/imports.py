"""import: an archive of ours, field by field, or drafts from anywhere else."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import Outcome, Refused
from holdfast.engine.archive import Archive
from holdfast.engine.comparing import buried
from holdfast.engine.desk import Desk
from holdfast.engine.intake import taken_in
from holdfast.engine.ports import Judge, Transaction
from holdfast.engine.remember import decide
from holdfast.errors import Conflict, Invalid

_BATCH = 50  # drafts in one transaction

#: Rows that belong to a memory, by the columns that name it.
_BELONGING = {
    "versions": ("memory_id",),
    "links": ("from_id", "to_id"),
    "receipt_items": ("memory_id",),
    "journal": ("memory_id",),
}


@dataclass(frozen=True, slots=True)
class Imported:
    """What came in: memories added, known already, different here, and buried here."""

    added: int
    known: int
    different: tuple[str, ...]
    buried: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """One draft of an import and what became of it."""

    line: int
    outcome: Outcome


def restore_rows(archive: Archive, *, desk: Desk) -> Imported:
    """Takes an archive into the space: memories that are not there yet, with all that belongs to them.

    Raises: Conflict, when the space has another profile.
    """
    with desk.store.write(desk.space) as tx:
        return take_rows(archive, tx, desk.judge)


def take_rows(archive: Archive, tx: Transaction, judge: Judge) -> Imported:
    """The same inside a transaction."""
    header = archive.header
    if header.profile != tx.space.profile:
        raise Conflict(
            f"the archive has profile {header.profile!r}, space {tx.space.name!r} has {tx.space.profile!r}: "
            f"create one with `holdfast space create NAME --profile {header.profile}` and import into it"
        )
    empty = tx.dump.last_seq() == 0
    if empty and not tx.tombstones.count():
        tx.dump.adopt_key(header.key)
    left_out, known, different, buried = set(), 0, [], []
    for row in archive.rows.get("memories", ()):
        here = tx.memories.get(row["id"])
        if here is not None:
            left_out.add(row["id"])
            known += 1
            if here.content != row["content"]:
                different.append(row["id"])
        elif row["state"] != "forgotten" and _forbidden(row, tx, judge):
            left_out.add(row["id"])
            buried.append(row["id"])
    added = _insert(archive, tx, left_out, renumber=not empty)
    return Imported(added, known, tuple(different), tuple(buried))


def import_drafts(drafts: Iterable[tuple[int, Draft]], *, desk: Desk, review: bool = False) -> list[Told]:
    """Remembers drafts, each with its line; a bad one is reported and the rest goes on."""
    told: list[Told] = []
    coming = iter(drafts)
    # In batches, so that other writers get their turn during a long import.
    while batch := list(islice(coming, _BATCH)):
        with desk.store.write(desk.space) as tx:
            told += [Told(line, _told(draft, tx, desk, review)) for line, draft in batch]
    return told


def _told(draft: Draft, tx: Transaction, desk: Desk, review: bool) -> Outcome:
    try:
        ready = taken_in(draft, desk.profile)
        if review:
            ready = replace(ready, doubtful="imported for review")
        return decide(ready, tx, desk)
    except Invalid as error:
        return Refused(str(error))


def _insert(archive: Archive, tx: Transaction, left_out: set[str], *, renumber: bool) -> int:
    added = 0
    for table in tx.dump.tables():
        for row in archive.rows.get(table, ()):
            columns = ("id",) if table == "memories" else _BELONGING.get(table, ())
            if any(row.get(column) in left_out for column in columns):
                continue
            if table == "journal" and renumber:
                if row.get("memory_id") is None:
                    continue
                row = {**row, "seq": tx.dump.next_seq()}
            fresh = tx.dump.insert(table, row)
            added += fresh and table == "memories"
    tx.dump.reindex([row["id"] for row in archive.rows.get("memories", ()) if row["id"] not in left_out])
    return added


def _forbidden(row: dict[str, Any], tx: Transaction, judge: Judge) -> bool:
    """Whether a memory of the archive may not come back here, in these words or others."""
    draft = Draft(content=row["content"], category=row["category"], subject=row["subject"])
    return buried(draft, tx, judge) is not None
