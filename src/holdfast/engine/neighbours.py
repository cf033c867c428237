"""Judges a draft against known, deleted, archived and waiting memories, and what a tool just saved.

Candidates are read in a read transaction and judged outside of it. The judge caches verdicts by text, so the
write transaction, which searches again if the space has changed, doesn't wait for a model. At most FEW pairs
per draft are judged, the nearest of all roles.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.history import LEFT_OPEN
from holdfast.domain.jobs import Embedded
from holdfast.domain.memory import Draft, Memory, State, Tombstone
from holdfast.domain.outcomes import Added, Contradicting, Outcome, Waiting, settled
from holdfast.domain.subjects import same_subject
from holdfast.domain.terms import shared, shared_before
from holdfast.domain.text import normal_form
from holdfast.engine.candidates import (
    LEAST,
    Candidate,
    Role,
    candidates,
    deleted,
    labelled_alike,
    looks_across,
    meanings_of,
    near_by,
    nearest,
    on_one_subject,
    out_of_sight,
    statement_of,
)
from holdfast.engine.draft_vectors import TextVector, with_nearest
from holdfast.engine.embedding import text_of
from holdfast.engine.intake import text_hash
from holdfast.engine.ports import Judge, Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.comparison import NEARLY_CONTRADICTS, NEARLY_SAME, Statement, Verdict
from holdfast.language.judge import NO_MODEL

_ACROSS = 0.8  # the least similarity of duplicates with different labels
_AS_SURE = 0.05  # a smaller difference of probabilities means nothing: nearness decides


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its verdict."""

    candidate: Candidate
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class JudgedCandidates:
    """The judged candidates of a draft, and the space's last change when they were read."""

    seq: int
    judged: tuple[Judged, ...]
    meaning: TextVector | None = None

    def of(self, role: Role) -> Iterator[Judged]:
        """The candidates of one role, nearest first."""
        return (each for each in self.judged if each.candidate.role == role)

    @property
    def note(self) -> str | None:
        """The journal's note: which model judged what, and what was left open; None if there is neither."""
        said = [each for each in self.of("known") if each.verdict.judge]
        parts = [f"{said[0].verdict.judge}: {', '.join(map(_told, said))}"] if said else []
        if missing := [_id_of(each) for each in self.of("known") if NO_MODEL in each.verdict.reasons]:
            parts.append(f"{LEFT_OPEN}{', '.join(missing)}")
        return "; ".join(parts) or None


@dataclass(frozen=True, slots=True)
class DraftRelations:
    """How a draft relates to active memories."""

    same: Memory | None
    contradicted: tuple[Memory, ...]
    related: tuple[Memory, ...]  # near calls: kept separate, linked
    note: str | None = None  # who judged, and the probabilities


def look(draft: Draft, ctx: SpaceContext, *, extra: Sequence[Candidate] = ()) -> JudgedCandidates:
    """The judged candidates of a checked draft; embedder and judge are called outside of transactions."""
    [meaning] = meanings_of([draft], ctx)
    with ctx.read() as tx:
        seq = tx.journal.last()
        [found] = candidates([draft], [meaning], tx, ctx)
    found = [*found, *extra]
    return JudgedCandidates(seq, _judged(nearest(found, meaning), ctx.judge), meaning)


class Batch:
    """Drafts that are stored in one transaction: each is also compared with those before it."""

    def __init__(
        self, drafts: Sequence[Draft], meanings: Sequence[TextVector | None], ctx: SpaceContext
    ) -> None:
        self._drafts, self._ctx = drafts, ctx
        self._now: dict[str, Memory] = {}  # memories that the drafts added or changed
        self._ids: dict[int, str] = {}  # of the drafts that are memories now
        vectors = {place: each.parts[0] for place, each in enumerate(meanings) if each is not None}
        cosines: list[list[float]] = []
        with ctx.read() as tx:
            self.seq = tx.journal.last()
            try:
                cosines = tx.memory_vectors.cosines(list(vectors.values())) if vectors else []
                meanings = list(with_nearest(meanings, tx, near_by(ctx)))
            except Unavailable:  # the embedder returns invalid vectors
                meanings = [None] * len(drafts)
            found = candidates(drafts, meanings, tx, ctx)
        self._meanings = meanings
        self._seen = [nearest(each, meaning) for each, meaning in zip(found, meanings, strict=True)]
        near = dict(zip(vectors, cosines, strict=False))
        self._near = [
            _nearer(zip(vectors, near.get(place, ()), strict=False), words, place)
            for place, words in enumerate(shared_before(draft.content for draft in drafts))
        ]

    def ahead(self, now: datetime) -> list[tuple[Statement, Statement]]:
        """The pairs to judge before anything is stored, assuming that each draft becomes a memory."""
        pairs = []
        for place, draft in enumerate(self._drafts):
            chosen = self._chosen(place)
            pairs += [(each.known, each.draft) for each in chosen]
            if not any(each.role == "known" and each.known.text == draft.content for each in chosen):
                state: State = "waiting" if draft.doubtful else "active"
                memory = Memory.of(draft, now, memory_id=f"{place}", space=self._ctx.space, state=state)
                self._now[memory.id], self._ids[place] = memory, memory.id
        self.restart()
        return pairs

    def restart(self) -> None:
        """Starts again after a rollback."""
        self._now.clear()
        self._ids.clear()

    def around(self, place: int, judge: Judge) -> JudgedCandidates:
        """The judged candidates of one draft, including what became of earlier drafts."""
        return JudgedCandidates(self.seq, _judged(self._chosen(place), judge), self._meanings[place])

    def note(self, place: int, outcome: Outcome) -> None:
        """Records the outcome of a draft."""
        memory = settled(outcome)
        if memory is None:
            return
        changed = (memory, *outcome.weakened) if isinstance(outcome, Contradicting) else (memory,)
        self._now.update((each.id, replace(each, superseded_by=None)) for each in changed)
        if isinstance(outcome, Added | Contradicting | Waiting):
            self._ids[place] = memory.id

    def keep_vectors(self, tx: Transaction) -> None:
        """Stores the vectors of the drafts that are now memories with the same text."""
        texts = [
            Embedded(one, memory.version, meaning.parts)
            for place, one in self._ids.items()
            if (meaning := self._meanings[place]) is not None
            and (memory := self._now[one]).active
            and text_of(memory) == text_of(self._drafts[place])
        ]
        if texts:
            model = next(each for each in self._meanings if each is not None).embedder.name
            tx.memory_vectors.put_all(texts, model, self._ctx.now())
            missing = tx.memory_vectors.missing(model, 1)
            if not missing.owners:
                tx.memory_vectors.embedded(model, missing.upto)

    def _chosen(self, place: int) -> list[Candidate]:
        draft, seen = self._drafts[place], self._seen[place]
        known = {each.found.id: each.nearness for each in seen if isinstance(each.found, Memory)}
        near = {self._ids[other]: much for other, much in self._near[place].items() if other in self._ids}
        found = [each for each in seen if isinstance(each.found, Tombstone) or each.found.id not in self._now]
        for one in [one for one in self._now if one in known or one in near]:
            memory, nearness = self._now[one], max(known.get(one, 0.0), near.get(one, 0.0))
            if nearness and (role := self._role(memory, draft)) is not None:
                found.append(Candidate(role, memory, statement_of(memory), statement_of(draft), nearness))
        return nearest(found, self._meanings[place], placed=True)

    def _role(self, memory: Memory, draft: Draft) -> Role | None:
        """The role in which a memory is a candidate; None if it is none."""
        if memory.project not in (None, draft.project):
            return None
        if memory.active:
            admitted = looks_across(self._ctx) or labelled_alike(memory, draft)
            return "known" if admitted and on_one_subject(memory, draft) else None
        return "waiting" if memory.state == "waiting" and labelled_alike(memory, draft) else None


def _nearer(cosines: Iterable[tuple[int, float]], words: Mapping[int, float], place: int) -> dict[int, float]:
    """The drafts before one that are near to it, by meaning or by words."""
    near = {other: much for other, much in cosines if other < place and much >= LEAST}
    return near | {at: max(much, near.get(at, 0.0)) for at, much in words.items() if much >= LEAST}


def still(seen: JudgedCandidates, draft: Draft, tx: Transaction, ctx: SpaceContext) -> JudgedCandidates:
    """The candidates inside a write transaction: read again if the space has changed since."""
    seq = tx.journal.last()
    if seq == seen.seq:
        return seen
    extra = [each.candidate for each in seen.of("saved")]
    [found] = candidates([draft], [seen.meaning], tx, ctx)
    found = [*found, *extra]
    return JudgedCandidates(seq, _judged(nearest(found, seen.meaning), ctx.judge), seen.meaning)


def findings(around: JudgedCandidates, draft: Draft) -> DraftRelations:
    """How the draft relates to the active memories among its candidates."""
    same: list[tuple[Judged, Memory]] = []
    contradicted, related = [], []
    for each in around.of("known"):
        known, verdict = each.candidate.found, each.verdict
        assert isinstance(known, Memory)
        match verdict.relation:
            case "same" if verdict.similarity >= _ACROSS or labelled_alike(known, draft):
                same.append((each, known))
            case "contradicts" if known.project == draft.project and _may_contradict(known, draft):
                # A project may differ from the general rule without contradicting it.
                contradicted.append(known)
            case _ if not verdict.certain:
                related.append(known)
    return DraftRelations(_repeated(same, draft), tuple(contradicted), tuple(related), around.note)


def _repeated(same: Sequence[tuple[Judged, Memory]], draft: Draft) -> Memory | None:
    """The memory that a draft repeats: one with the same text, else the nearest of the likeliest.

    Among equals it is the oldest.
    """
    said = normal_form(draft.content)
    surest = max((each.verdict.similarity for each, _ in same), default=0.0)
    likely = [pair for pair in same if pair[0].verdict.similarity >= surest - _AS_SURE]
    likely.sort(
        key=lambda pair: (
            normal_form(pair[1].content) != said,
            -pair[0].candidate.nearness,
            pair[1].created_at,
            pair[1].id,
        )
    )
    return likely[0][1] if likely else None


def find_tombstone(draft: Draft, tx: Transaction, around: JudgedCandidates) -> Tombstone | None:
    """The tombstone that forbids the draft: of the same text, or of a rewording whose text is kept."""
    exact = tx.tombstones.get(text_hash(draft.content, tx.space.key, draft.private_to))
    if exact is not None:
        return exact
    for each in around.of("deleted"):
        tombstone = each.candidate.found
        assert isinstance(tombstone, Tombstone)
        if each.verdict.relation == "same" and tx.tombstones.get(tombstone.hash) is not None:
            return tombstone
    return None


def look_beside(draft: Draft, tx: Transaction, ctx: SpaceContext) -> JudgedCandidates:
    """Waiting or archived memories that may say the same as a checked draft."""
    new = statement_of(draft)
    found = list(out_of_sight(draft, new, tx, ctx))
    return JudgedCandidates(tx.journal.last(), _judged(nearest(found, None), ctx.judge))


def look_at_deleted(draft: Draft, tx: Transaction, judge: Judge, *, across: bool) -> JudgedCandidates:
    """Deleted texts that may say the same as a checked draft; `across`: of any subject and category."""
    found = list(deleted(draft, tx, across))
    return JudgedCandidates(tx.journal.last(), _judged(nearest(found, None), judge))


def maybe_same(one: str, other: str) -> bool:
    """Whether two texts share enough words for a judge to compare them."""
    return shared(one, other) >= LEAST


def _judged(chosen: Sequence[Candidate], judge: Judge) -> tuple[Judged, ...]:
    verdicts = judge.compare([(each.known, each.draft) for each in chosen])
    return tuple(Judged(each, verdict) for each, verdict in zip(chosen, verdicts, strict=True))


def _id_of(each: Judged) -> str:
    assert isinstance(each.candidate.found, Memory)
    return each.candidate.found.id


def _told(each: Judged) -> str:
    """A verdict for the journal: relation, memory and probability."""
    sure = {"same": "the same as", "contradicts": "contradicts", "distinct": "distinct from"}
    near = {NEARLY_SAME: "nearly the same as", NEARLY_CONTRADICTS: "nearly contradicts"}
    words = next((near[one] for one in each.verdict.reasons if one in near), sure[each.verdict.relation])
    return f"{words} {_id_of(each)} ({each.verdict.probability:.2f})"


def _may_contradict(known: Memory, draft: Draft) -> bool:
    missing = known.subject is None or draft.subject is None
    return missing or same_subject(known.subject, draft.subject)
