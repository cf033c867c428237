"""import: an archive with all its fields, or drafts from other sources."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import Outcome, Refused, Reinforced
from holdfast.domain.query import Filter
from holdfast.engine.candidates import known_word_by_word, meanings_of
from holdfast.engine.draft_vectors import TextVector
from holdfast.engine.intake import sanitize
from holdfast.engine.neighbours import Batch, JudgedCandidates, still
from holdfast.engine.ports import Judge, Transaction
from holdfast.engine.remember import decide
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid
from holdfast.language.comparison import Statement, Verdict

_BATCH = 200  # drafts per transaction
_NOT_YET = Verdict(relation="distinct", certain=True, similarity=0.0)


@dataclass(frozen=True, slots=True)
class ImportResult:
    """One draft of an import with its outcome."""

    line: int
    outcome: Outcome


#: A draft with its line, or its outcome if no comparison is needed, and its vectors.
_Ready = tuple[int, Draft | Outcome, TextVector | None]


class _TakenBack(Exception):
    """Rolls back the transaction of a dry run."""


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
    ctx = ctx.among(None)
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
    if draft.private:  # they are compared with each other, and with what is shared
        return Refused("an import is for all: remember what is private one by one")
    try:
        ready = sanitize(draft, ctx.profile)
    except Invalid as error:
        return Refused(str(error))
    if ctx.person is not None:
        ready = replace(ready, source=replace(ready.source, person=ctx.person))
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
