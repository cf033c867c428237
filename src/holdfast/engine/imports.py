"""import: an archive with all its fields, or drafts from other sources."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import Outcome, Refused, Reinforced
from holdfast.domain.query import Filter
from holdfast.engine.archive import Archive, wrong_memory
from holdfast.engine.candidates import known_word_by_word, meanings_of
from holdfast.engine.draft_vectors import TextVector
from holdfast.engine.intake import sanitize, text_hash
from holdfast.engine.neighbours import Batch, JudgedCandidates, find_tombstone, look_at_deleted, still
from holdfast.engine.ports import Judge, Transaction
from holdfast.engine.remember import decide
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.spaces import profile_of
from holdfast.errors import Conflict, Invalid
from holdfast.language.comparison import Statement, Verdict

_BATCH = 200  # drafts per transaction
_NOT_YET = Verdict(relation="distinct", certain=True, similarity=0.0)

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
    """Counts of an import: memories that were added, known, different here, or deleted here."""

    added: int
    known: int
    different: tuple[str, ...]
    buried: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportResult:
    """One draft of an import with its outcome."""

    line: int
    outcome: Outcome


#: A draft with its line, or its outcome if no comparison is needed, and its vectors.
_Ready = tuple[int, Draft | Outcome, TextVector | None]


class _TakenBack(Exception):
    """Rolls back the transaction of a dry run."""


def restore_rows(archive: Archive, *, ctx: SpaceContext, dry_run: bool = False) -> Imported:
    """Imports an archive: memories that do not exist yet, with everything that belongs to them.

    A dry run only returns the counts.
    Raises: Conflict, if the space has another profile.
    """
    with ctx.read() as tx:  # judged before the space is locked; the judge caches the verdicts
        for row in archive.rows.get("memories", ()):
            look_at_deleted(_drafted(row), tx, ctx.judge, across=False)
    with suppress(_TakenBack), ctx.write() as tx:
        done = take_rows(archive, tx, ctx.judge)
        if dry_run:
            raise _TakenBack
    return done


def take_rows(archive: Archive, tx: Transaction, judge: Judge) -> Imported:
    """As `restore_rows`, inside a transaction."""
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
) -> Iterator[list[ImportResult]]:
    """Remembers drafts, each with its line number, and yields results by batch; an invalid draft is reported
    and the rest continues.

    Only two batches are in memory. A dry run yields all results at the end and changes nothing.
    """
    tried: list[_Ready] = []
    for ready in _batches(iter(drafts), ctx, review):
        if dry_run:
            tried += ready
        else:
            yield _decided(ready, ctx)
    if dry_run:
        yield _decided(tried, ctx, dry_run=True)


def _batches(coming: Iterator[tuple[int, Draft]], ctx: SpaceContext, review: bool) -> Iterator[list[_Ready]]:
    """The drafts in batches, so that others can write in between; one is embedded while another is stored."""
    with ThreadPoolExecutor(1) as beside:
        ahead: Future[list[_Ready]] | None = None
        while batch := list(islice(coming, _BATCH)):
            last, ahead = ahead, beside.submit(_ready, batch, ctx, review)
            if last is not None:
                yield last.result()
        if ahead is not None:
            yield ahead.result()


def _ready(batch: Sequence[tuple[int, Draft]], ctx: SpaceContext, review: bool) -> list[_Ready]:
    """The drafts, sanitized and embedded, without those that an earlier run has stored."""
    checked = [(line, _checked(draft, ctx, review)) for line, draft in batch]
    new = [one for _, one in checked if isinstance(one, Draft)]
    with ctx.read() as tx:
        sessions = {one.source.session for one in new} - {None}
        begun = [one for one in sessions if tx.memories.matching(Filter(session=one), 1)]
        known = {id(one): _stored(one, tx, ctx) for one in new if one.source.session in begun}
    unknown = [one for one in new if known.get(id(one)) is None]
    vectors = meanings_of(unknown, ctx, stored=True)
    meanings = {id(one): meaning for one, meaning in zip(unknown, vectors, strict=True)}
    return [(line, known.get(id(one)) or one, meanings.get(id(one))) for line, one in checked]


def _stored(draft: Draft, tx: Transaction, ctx: SpaceContext) -> Outcome | None:
    """The outcome of a draft that an earlier run has stored: unchanged, as it is from the same session."""
    if ctx.profile.policy.on_same not in ("reinforce", "merge"):
        return None
    memory, session = known_word_by_word(draft, tx), draft.source.session
    if memory is None or session is None or not tx.journal.said_by(session, memory.id, ("added",)):
        return None
    return Reinforced(memory, memory, counted=False)


def _checked(draft: Draft, ctx: SpaceContext, review: bool) -> Draft | Refused:
    try:
        ready = sanitize(draft, ctx.profile)
    except Invalid as error:
        return Refused(str(error))
    return replace(ready, doubtful="imported for review") if review else ready


def _decided(ready: Sequence[_Ready], ctx: SpaceContext, *, dry_run: bool = False) -> list[ImportResult]:
    """The outcomes of drafts, in one transaction that waits for no model; a dry run rolls it back.

    Drafts are judged as if each earlier one became a memory. If one did not, the missing pairs are judged and
    the transaction is repeated.
    """
    judge = _Prepared(ctx.judge)
    prepared = replace(ctx, judge=judge)
    kept = [] if dry_run else [(one, meaning) for _, one, meaning in ready if isinstance(one, Draft)]
    batch = Batch([one for one, _ in kept], [meaning for _, meaning in kept], ctx)
    judge.missing.update(batch.ahead(ctx.now()))
    while True:
        judge.prepare()
        batch.restart()
        with suppress(_TakenBack), ctx.write() as tx:
            alone = not dry_run and tx.journal.last() == batch.seq
            told = list(_outcomes(ready, batch if alone else None, tx, prepared))
            if dry_run or judge.missing:
                raise _TakenBack
            batch.keep_vectors(tx)
        if not judge.missing:
            return told


def _outcomes(
    ready: Sequence[_Ready], batch: Batch | None, tx: Transaction, ctx: SpaceContext
) -> Iterator[ImportResult]:
    """Stores the drafts. Without a batch, which other writers make obsolete, candidates are read again."""
    place = 0
    for line, draft, meaning in ready:
        if not isinstance(draft, Draft):
            yield ImportResult(line, draft)
            continue
        try:
            if batch is None:
                around = still(JudgedCandidates(-1, (), meaning), draft, tx, ctx)
            else:
                around = batch.around(place, ctx.judge)
            outcome = decide(draft, tx, ctx, around, unattended=True)
        except Invalid as error:
            outcome = Refused(str(error))
        if batch is not None:
            batch.note(place, outcome)
        place += 1
        yield ImportResult(line, outcome)


class _Prepared:
    """A judge with prepared verdicts, which records missing pairs."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._verdicts: dict[tuple[Statement, Statement], Verdict] = {}
        self.missing: set[tuple[Statement, Statement]] = set()

    def compare(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        self.missing.update(pair for pair in pairs if pair not in self._verdicts)
        return [self._verdicts.get(pair, _NOT_YET) for pair in pairs]

    def prepare(self) -> None:
        """Judges the missing pairs."""
        pairs = list(self.missing)
        self._verdicts |= zip(pairs, self._judge.compare(pairs), strict=True)
        self.missing.clear()


def _insert(
    archive: Archive, tx: Transaction, known: set[str], forbidden: set[str], *, renumber: bool
) -> int:
    added: list[str] = []
    silenced = _silenced(archive, forbidden, tx)
    for table in tx.dump.tables():
        for row in archive.rows.get(table, ()):
            # A link may lead to a known memory; everything else of a known memory exists already.
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
    """Whether a memory of the archive was deleted here, in these or other words."""
    draft = _drafted(row)
    return find_tombstone(draft, tx, look_at_deleted(draft, tx, judge, across=False)) is not None


def _drafted(row: dict[str, Any]) -> Draft:
    return Draft(content=row["content"], category=row["category"], subject=row["subject"])
