"""import: an archive of ours, field by field, or drafts from anywhere else."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import Outcome, Refused
from holdfast.engine.archive import Archive, wrong_memory
from holdfast.engine.intake import sanitize, text_hash
from holdfast.engine.neighbours import Judged, Surroundings, find_tombstone, look, look_at_deleted, still
from holdfast.engine.ports import Judge, Transaction
from holdfast.engine.remember import decide
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.spaces import profile_of
from holdfast.errors import Conflict, Invalid
from holdfast.language.comparison import Statement, Verdict

_BATCH = 50  # drafts in one transaction
_NOT_YET = Verdict(relation="distinct", certain=True, similarity=0.0)

#: Rows that belong to a memory, by the columns that name it.
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
    """What came in: memories added, known already, different here, and buried here."""

    added: int
    known: int
    different: tuple[str, ...]
    buried: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportResult:
    """One draft of an import and what became of it."""

    line: int
    outcome: Outcome


#: A draft with its line, and what stood around it before it was written.
_Seen = tuple[int, Draft, Surroundings | None]


class _TakenBack(Exception):
    """Ends a transaction that was only to show what would come of it."""


def restore_rows(archive: Archive, *, ctx: SpaceContext, dry_run: bool = False) -> Imported:
    """Takes an archive into the space: memories that are not there yet, with all that belongs to them.

    A dry run answers what would come in, and takes nothing.
    Raises: Conflict, when the space has another profile.
    """
    with ctx.read() as tx:  # judged before the space is locked: the verdicts are kept
        for row in archive.rows.get("memories", ()):
            look_at_deleted(_drafted(row), tx, ctx.judge, across=False)
    with suppress(_TakenBack), ctx.write() as tx:
        done = take_rows(archive, tx, ctx.judge)
        if dry_run:
            raise _TakenBack
    return done


def take_rows(archive: Archive, tx: Transaction, judge: Judge) -> Imported:
    """The same inside a transaction."""
    header = archive.header
    if header.profile != tx.space.profile:
        raise Conflict(
            f"the archive has profile {header.profile!r}, but space {tx.space.name!r} has "
            f"{tx.space.profile!r}: import it into a space with profile {header.profile!r}",
            command=f"`holdfast space create NAME --profile {header.profile}` creates one",
        )
    for row in archive.rows.get("memories", ()):
        if reason := wrong_memory(row, profile_of(tx.space)):
            raise Invalid(f"a memory of the archive {reason}: nothing was imported")
    empty = tx.journal.last() == 0
    if empty and not tx.tombstones.count():
        tx.dump.adopt_key(header.key)
    known: set[str] = set()
    forbidden: set[str] = set()
    different = []
    for row in archive.rows.get("memories", ()):
        here = tx.memories.get(row["id"])
        if here is not None:
            known.add(row["id"])
            if here.content != row["content"]:
                different.append(row["id"])
        elif row["state"] != "forgotten" and _forbidden(row, tx, judge):
            forbidden.add(row["id"])
    added = _insert(archive, tx, known, forbidden, renumber=not empty)
    return Imported(added, len(known), tuple(different), tuple(sorted(forbidden)))


def import_drafts(
    drafts: Iterable[tuple[int, Draft]],
    *,
    ctx: SpaceContext,
    review: bool = False,
    dry_run: bool = False,
    report: Callable[[int], None] = lambda done: None,
) -> list[ImportResult]:
    """Remembers drafts, each with its line; a bad one is reported and the rest goes on.

    `report` hears now and then how many are done. A dry run answers what would become of each, of those that
    say the same as an earlier one too, and changes nothing.
    """
    told: list[ImportResult] = []
    seen: list[_Seen] = []
    coming = iter(drafts)
    # In batches, so that other writers get their turn during a long import.
    while batch := list(islice(coming, _BATCH)):
        new = [(line, draft, _seen(draft, ctx)) for line, draft in batch]
        seen += new
        told += [] if dry_run else _decided(new, ctx, review)
        report(len(seen))
    return _decided(seen, ctx, review, dry_run=True) if dry_run else told


def _decided(
    seen: Sequence[_Seen], ctx: SpaceContext, review: bool, *, dry_run: bool = False
) -> list[ImportResult]:
    """What becomes of drafts, in one transaction that waits for no model; a dry run takes it back.

    What a draft is to an earlier one comes up only when that is written: it is judged afterwards, and all is
    tried again.
    """
    judge = _Prepared(ctx.judge, [each for *_, around in seen if around for each in around.judged])
    ready = replace(ctx, judge=judge)
    while True:
        with suppress(_TakenBack), ctx.write() as tx:
            told = [
                ImportResult(line, _told(draft, tx, ready, review, around)) for line, draft, around in seen
            ]
            if dry_run or judge.missing:
                raise _TakenBack
        if not judge.missing:
            return told
        judge.prepare()


class _Prepared:
    """A judge that answers what it was prepared for, and notes the rest."""

    def __init__(self, judge: Judge, known: Sequence[Judged]) -> None:
        self._judge = judge
        self._verdicts = {(each.candidate.known, each.candidate.draft): each.verdict for each in known}
        self.missing: set[tuple[Statement, Statement]] = set()

    def compare(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        self.missing.update(pair for pair in pairs if pair not in self._verdicts)
        return [self._verdicts.get(pair, _NOT_YET) for pair in pairs]

    def prepare(self) -> None:
        """Judges what was missing."""
        pairs = list(self.missing)
        self._verdicts |= zip(pairs, self._judge.compare(pairs), strict=True)
        self.missing.clear()


def _seen(draft: Draft, ctx: SpaceContext) -> Surroundings | None:
    """What stands around a draft before its batch is written."""
    try:
        return look(sanitize(draft, ctx.profile), ctx)
    except Invalid:
        return None


def _told(
    draft: Draft, tx: Transaction, ctx: SpaceContext, review: bool, seen: Surroundings | None
) -> Outcome:
    try:
        ready = sanitize(draft, ctx.profile)
        if review:
            ready = replace(ready, doubtful="imported for review")
        around = still(seen or Surroundings(-1, ()), ready, tx, ctx)
        return decide(ready, tx, ctx, around, unattended=True)
    except Invalid as error:
        return Refused(str(error))


def _insert(
    archive: Archive, tx: Transaction, known: set[str], forbidden: set[str], *, renumber: bool
) -> int:
    added: list[str] = []
    silenced = _silenced(archive, forbidden, tx)
    for table in tx.dump.tables():
        for row in archive.rows.get(table, ()):
            # A link may lead to what is known here; all else that belongs to it is here already.
            skipped = forbidden if table == "links" else forbidden | known
            columns = ("id",) if table == "memories" else _BELONGING.get(table, ())
            if any(row.get(column) in skipped for column in columns):
                continue
            if table == "repetitions" and tx.tombstones.get(text_hash(row["content"], tx.space.key)):
                continue
            if table == "messages" and silenced(row):
                row = {**row, "content": None}
            if table == "journal" and renumber:
                if row.get("memory_id") not in added:
                    continue
                row = {**row, "seq": tx.dump.next_seq()}
            if tx.dump.insert(table, row) and table == "memories":
                added.append(row["id"])
    tx.dump.reindex(added)
    return len(added)


def _silenced(archive: Archive, forbidden: set[str], tx: Transaction) -> Callable[[dict[str, Any]], bool]:
    """Which messages would bring back what was erased here: those it came from, those that said it again."""
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
    """Whether a memory of the archive may not come back here, in these words or others."""
    draft = _drafted(row)
    return find_tombstone(draft, tx, look_at_deleted(draft, tx, judge, across=False)) is not None


def _drafted(row: dict[str, Any]) -> Draft:
    return Draft(content=row["content"], category=row["category"], subject=row["subject"])
