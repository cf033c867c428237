"""Imports an archive: restores it into an empty space, or merges it into one with a history."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from holdfast.domain.access import ALL_MEMORIES
from holdfast.domain.memory import Draft, Source
from holdfast.engine.archive import Archive
from holdfast.engine.archive_rows import wrong_memory
from holdfast.engine.intake import text_hash
from holdfast.engine.merge import MergeResult, merge
from holdfast.engine.neighbours import find_tombstone, look_at_deleted
from holdfast.engine.ports import Judge, Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.spaces import profile_of
from holdfast.errors import Conflict, Invalid

#: Tables with rows that belong to a memory, and the columns with its id.
_BELONGING = {
    "versions": ("memory_id",),
    "repetitions": ("memory_id",),
    "links": ("from_id", "to_id"),
    "receipt_items": ("memory_id",),
    "journal": ("memory_id",),
    "files": ("memory_id",),
}


@dataclass(frozen=True, slots=True)
class Imported:
    """Counts of an import: memories that were added, known, different here, or deleted here.

    `updated` took over changes of the archive; `waiting` need a decision in the inbox, because both stores
    changed them.
    """

    added: int
    known: int
    different: tuple[str, ...]
    buried: tuple[str, ...]
    updated: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


class _DryRun(Exception):
    """Rolls back the transaction of a dry run."""


def restore_rows(archive: Archive, *, ctx: SpaceContext, dry_run: bool = False) -> Imported:
    """Imports an archive with all its fields; into a space with a history, it is merged with what is there.

    A dry run only returns the counts.
    Raises: Conflict, if the space has another profile.
    """
    merging: MergeResult | None = None
    _refuse_hidden(archive, ctx)
    ctx = replace(ctx, reader=ALL_MEMORIES)  # a merge of some of the memories would lose the others
    with suppress(_DryRun), ctx.write() as tx:
        if tx.journal.last() == tx.sessions.count() == 0:
            done = take_rows(archive, tx, ctx.judge)
        else:
            _check(archive, tx)
            merging = merge(archive, tx, ctx.now())
            done = _report(archive, merging, tx)
        if dry_run:
            raise _DryRun
    if merging is not None and merging.erased and not dry_run:
        ctx.store.scrub(merging.texts, merging.erased, ctx.space, merging.silenced)
    return done


def _refuse_hidden(archive: Archive, ctx: SpaceContext) -> None:
    """Raises: Conflict, if the archive would change memories that the caller does not see."""
    if ctx.reader.everybody:
        return
    rows = [row.get("id") for row in archive.rows.get("memories", ())]
    rows += [row.get("memory_id") for row in archive.rows.get("journal", ())]
    named = {one for one in rows if isinstance(one, str)}
    with ctx.read() as tx:
        if len(tx.memories.many(list(named))) < len(tx.all_memories.many(list(named))):
            raise Conflict(
                "the archive names memories that this token can't change: nothing was imported",
                command="import it with the command line on the database",
            )


def _report(archive: Archive, merging: MergeResult, tx: Transaction) -> Imported:
    rows = archive.rows.get("memories", ())
    here = {memory.id: memory for memory in tx.memories.many([row["id"] for row in rows])}
    known = [row for row in rows if row["id"] in here and row["id"] not in merging.added]
    return Imported(
        added=len(merging.added),
        known=len(known),
        different=tuple(row["id"] for row in known if here[row["id"]].content != row["content"]),
        buried=tuple(row["id"] for row in rows if row["id"] not in here and row["state"] != "forgotten"),
        updated=merging.updated,
        waiting=merging.waiting,
    )


def take_rows(archive: Archive, tx: Transaction, judge: Judge) -> Imported:
    """Puts the rows of an archive into a space without a history, inside a transaction.

    Raises: Conflict, if the space has another profile.
    """
    _check(archive, tx)
    if not tx.tombstones.count():
        tx.dump.adopt_key(archive.header.key)
    forbidden = {
        row["id"]
        for row in archive.rows.get("memories", ())
        if row["state"] != "forgotten" and _forbidden(row, tx, judge)
    }
    return Imported(_insert(archive, tx, forbidden), 0, (), tuple(sorted(forbidden)))


def _check(archive: Archive, tx: Transaction) -> None:
    header = archive.header
    if header.profile != tx.space.profile:
        raise Conflict(
            f"the archive has profile {header.profile!r}, but space {tx.space.name!r} has "
            f"{tx.space.profile!r}: import it into a space with profile {header.profile!r}",
            command=f"`holdfast space create NAME --profile {header.profile}` creates one",
        )
    for row in archive.rows.get("memories", ()):
        if reason := wrong_memory(row, profile_of(tx.space)):
            raise Invalid(f"a memory of the file {reason}: nothing was changed")


def _insert(archive: Archive, tx: Transaction, forbidden: set[str]) -> int:
    added: list[str] = []
    silenced = _silenced(archive, forbidden, tx)
    for table in tx.dump.tables():
        for row in archive.rows.get(table, ()):
            columns = ("id",) if table == "memories" else _BELONGING.get(table, ())
            if any(row.get(column) in forbidden for column in columns):
                continue
            if table == "repetitions" and tx.tombstones.get(text_hash(row["content"], tx.space.key)):
                continue
            if table == "messages" and silenced(row):
                row = {**row, "content": None}
            if tx.dump.insert(table, row) and table == "memories":
                added.append(row["id"])
    tx.dump.reindex(added)
    return len(added)


def _silenced(archive: Archive, forbidden: set[str], tx: Transaction) -> Callable[[dict[str, Any]], bool]:
    """Returns which messages of the archive contain a memory that was erased here."""
    wordings = [
        wording
        for table in ("versions", "repetitions")
        for wording in archive.rows.get(table, ())
        if (table == "repetitions" or wording["memory_id"] in forbidden) and _erased(wording["content"], tx)
    ]
    cited = {wording.get("message_id") for wording in wordings} - {None}
    texts = [wording["content"] for wording in wordings]

    def silenced(row: dict[str, Any]) -> bool:
        content = row.get("content") or ""
        return row["id"] in cited or any(text in content for text in texts)

    return silenced


def _erased(text: str, tx: Transaction) -> bool:
    tombstone = tx.tombstones.get(text_hash(text, tx.space.key))
    return tombstone is not None and tombstone.reason == "erased"


def _forbidden(row: dict[str, Any], tx: Transaction, judge: Judge) -> bool:
    """Whether a memory of the file was deleted here, in these or other words."""
    draft = _drafted(row)
    return find_tombstone(draft, tx, look_at_deleted(draft, tx, judge, across=False)) is not None


def _drafted(row: dict[str, Any]) -> Draft:
    source = Source(person=row.get("person"))
    return Draft(
        content=row["content"],
        category=row["category"],
        subject=row["subject"],
        source=source,
        private=row.get("private", False),
    )
