"""Consolidation: proposes to merge duplicates, and to drop memories that a newer one makes outdated.

Only memories that changed since the last run are compared, and each pair is proposed once. After a kill it is
repeated without effect. A person decides in the inbox: the pair is merged, or kept apart for good. A merge is
a revision of one memory and a deletion of the other in a session of its own, so `undo-session` reverts it
and puts the proposal back into the inbox.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nlargest
from itertools import chain
from typing import Literal

from holdfast.domain.confidence import believed
from holdfast.domain.jobs import Job
from holdfast.domain.memory import Draft, Memory, Session, Source
from holdfast.domain.query import UPKEEP, Filter
from holdfast.domain.terms import shared
from holdfast.engine import changes
from holdfast.engine.candidates import FEW, sharing_rare_words, statement_of
from holdfast.engine.find import memory_pages
from holdfast.engine.forget import bury, conceal
from holdfast.engine.intake import sanitize
from holdfast.engine.ports import Judge, Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, Invalid, QuotaExceeded
from holdfast.language.comparison import Statement, Verdict
from holdfast.language.consolidation import Proposal, duplicate, may_be_one, outdated, pair_id, united
from holdfast.language.judge import NO_MODEL

KIND = "consolidate"
#: Proposals that may wait at once, so that a person can review them all.
MOST_WAITING = 50
_CLOSE = 20  # memories with the same rare words that are compared


def consolidate(*, ctx: SpaceContext) -> Iterator[list[Memory]]:
    """Proposes merges, in small steps; each step yields the proposals, which wait in the inbox.

    Stops if no model answers; the memories then stay unchecked.
    """
    began = ctx.now()
    judge = _Answering(ctx.judge)
    for proposal in pending(replace(ctx, judge=judge), began):
        if judge.failed:
            return
        if proposal is None:
            yield []
            continue
        try:
            with ctx.write() as tx:
                if is_full(tx):
                    return  # the mark is not moved, so the rest is found the next time
                made = propose(proposal, tx, ctx, began)
        except QuotaExceeded:
            return
        yield made
    with ctx.write() as tx:
        mark(KIND, began.isoformat(), tx, began)


class _Answering:
    """A judge that records whether it left a pair undecided."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.failed = False

    def compare(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        verdicts = self._judge.compare(pairs)
        self.failed |= any(NO_MODEL in verdict.reasons for verdict in verdicts)
        return verdicts


def pending(ctx: SpaceContext, now: datetime) -> Iterator[Proposal | None]:
    """The pairs to propose among memories that changed since the last run; each memory is in at most one.

    Yields None for a small step without a result.
    """
    if ctx.profile.policy.subject_is_key:  # one memory per name: other names are other memories
        return
    reached = looked_at(KIND, ctx)
    since = datetime.fromisoformat(reached) if reached else None
    with ctx.read() as tx:
        taken = {
            link.to_id for each in _waiting(tx) for link in tx.links.of(each.id) if link.from_id == each.id
        }
    changed = (one for page in memory_pages(ctx, Filter(changed_after=since)) for one in page)
    told: defaultdict[str, set[str]] = defaultdict(set)
    for proposal in chain(_stale(ctx, now), (found for one in changed for found in _alike(one, ctx, told))):
        if proposal is None or not taken.isdisjoint(proposal.ids) or _known(proposal, ctx):
            yield None
        else:
            taken |= set(proposal.ids)
            yield proposal


def _known(proposal: Proposal, ctx: SpaceContext) -> bool:
    with ctx.read() as tx:
        return tx.sessions.get(proposal.id) is not None


def duplicates(
    ctx: SpaceContext, seen: Callable[[int], None] = lambda done: None
) -> Iterator[tuple[str, str]]:
    """All pairs of duplicates, also decided ones; `seen` is called with the number of checked memories."""
    if ctx.profile.policy.subject_is_key:
        return
    told: set[str] = set()
    done = 0
    for page in memory_pages(ctx, Filter()):
        for pair in (found for one in page for found in _alike(one, ctx)):
            if pair is not None and pair.id not in told:
                told.add(pair.id)
                yield pair.kept.id, pair.dropped.id
        done += len(page)
        seen(done)


def _alike(
    memory: Memory, ctx: SpaceContext, told: defaultdict[str, set[str]] | None = None
) -> Iterator[Proposal | None]:
    """The proposals for one memory; the judge is called outside of transactions, pair by pair.

    `told` has the pairs that were judged earlier in this run. They are skipped, and so are pairs that were
    judged when the newer memory was stored.
    """
    with ctx.read() as tx:
        # A word that only this memory has finds nothing.
        [ids] = sharing_rare_words([memory.content], tx, _CLOSE + 1, least=2)
        alike = tx.memories.many(ids)
        close = [other for other in alike if may_be_one(memory, other)]
        near = nlargest(FEW, close, key=lambda other: shared(other.content, memory.content))
        if told is not None:
            done = told.pop(memory.id, set())
            near = [one for one in near if one.id not in done and not _compared(*_by_age(one, memory), tx)]
    yield None
    for other in near:
        older, newer = _by_age(memory, other)
        [verdict] = ctx.judge.compare([(statement_of(older), statement_of(newer))])
        if told is not None and newer is other:
            told[newer.id].add(older.id)
        yield duplicate(older, newer, verdict)


def _by_age(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    return (one, other) if (one.created_at, one.id) < (other.created_at, other.id) else (other, one)


def _compared(older: Memory, newer: Memory, tx: Transaction) -> bool:
    """Whether both were judged as distinct when the newer was stored, and have the same texts since."""
    if newer.version > 1 or older.updated_at > newer.created_at:
        return False
    pairs = ((older.id, newer.id), (newer.id, older.id))  # of one moment: either may be newer
    return any(one in entry.told_apart for one, other in pairs for entry in tx.journal.of(other))


def _stale(ctx: SpaceContext, now: datetime) -> Iterator[Proposal | None]:
    with ctx.read() as tx:
        links = tx.links.of_kind("contradicts")
    for link in links:
        with ctx.read() as tx:
            newer, older = tx.memories.get(link.from_id), tx.memories.get(link.to_id)
        if newer is None or older is None:
            continue
        if newer.created_at < older.created_at:
            newer, older = older, newer
        yield outdated(newer, older, now)


def propose(proposal: Proposal, tx: Transaction, ctx: SpaceContext, now: datetime) -> list[Memory]:
    """Puts a proposal into the inbox, unless it was made before or no longer applies."""
    kept, dropped = proposal.kept, proposal.dropped
    as_found = [kept, dropped] == tx.memories.many([kept.id, dropped.id])
    if not as_found or tx.sessions.get(proposal.id) is not None:
        return []
    try:
        draft = sanitize(proposal.draft(), ctx.profile)
    except Invalid:  # stored under other rules: too long, or with a removed category
        return []
    name = f"{kept.id} and {dropped.id} as one"
    tx.sessions.save(Session(id=proposal.id, space=ctx.space, name=name, client=UPKEEP, started_at=now))
    return [put_up(proposal, draft, tx, ctx, now)]


def put_up(proposal: Proposal, draft: Draft, tx: Transaction, ctx: SpaceContext, now: datetime) -> Memory:
    """A proposal in the inbox, linked to both memories."""
    memory = changes.add(tx, ctx, draft, now=now, waiting_for=proposal.reason)
    changes.connect(tx, memory.id, proposal.kept.id, "elaborates", source=draft.source, now=now)
    changes.connect(tx, memory.id, proposal.dropped.id, "supersedes", source=draft.source, now=now)
    return memory


def _waiting(tx: Transaction) -> Sequence[Memory]:
    return tx.memories.find(Filter(states=("waiting",)), order="created")


def is_full(tx: Transaction) -> bool:
    """Whether the inbox has as many proposals as a person can review."""
    return tx.memories.count(Filter(states=("waiting",))) >= MOST_WAITING


def looked_at(kind: str, ctx: SpaceContext) -> str | None:
    """The mark up to which something was checked the last time."""
    with ctx.read() as tx:
        job = tx.jobs.get(kind)
    return job.payload["upto"] if job is not None else None


def mark(kind: str, upto: str, tx: Transaction, now: datetime) -> None:
    """Records the mark up to which something was checked."""
    payload = {"upto": upto}
    known = tx.jobs.get(kind)
    if known is not None:
        tx.jobs.save(replace(known, payload=payload))
    else:
        tx.jobs.add(Job(id=kind, kind=kind, payload=payload, state="done", due_at=now, created_at=now))


def proposal_of(waiting: Memory, tx: Transaction) -> Proposal | None:
    """The merge that a waiting memory proposes; None for an ordinary one."""
    kept, dropped = None, None
    for link in tx.links.of(waiting.id):
        if link.from_id == waiting.id and link.kind == "elaborates":
            kept = tx.memories.get(link.to_id)
        elif link.from_id == waiting.id and link.kind == "supersedes":
            dropped = tx.memories.get(link.to_id)
    if kept is None or dropped is None or tx.sessions.get(pair_id(kept.id, dropped.id)) is None:
        return None
    return Proposal(kept, dropped, waiting, waiting.waiting_for or "")


def merge(
    proposal: Proposal, waiting: Memory, tx: Transaction, ctx: SpaceContext, source: Source, now: datetime
) -> Memory:
    """Merges two memories as proposed.

    Raises: Conflict, if one of them has changed.
    """
    kept, dropped = proposal.kept, proposal.dropped
    for memory in (kept, dropped):
        reworded = tx.versions.get(memory.id, memory.version)
        if not memory.active or (reworded is not None and reworded.created_at > waiting.created_at):
            raise Conflict(f"memory {memory.id} has changed since this was proposed: reject {waiting.id}")
    decided = replace(source, session=proposal.id)
    _settle(waiting, "approved", tx, decided, now)
    after = believed(united(proposal, waiting, now), waiting.confidence, ctx.profile.policy)
    note = f"with {dropped.id}"
    after = changes.change(tx, kept, after, "revised", source=decided, now=now, note=note)
    keeping = {version.content for version in tx.versions.of(kept.id)}
    bury(tx, dropped, "forgotten", now, but=keeping)
    gone = replace(dropped, state="forgotten")
    changes.change(tx, dropped, gone, "forgotten", source=decided, now=now, note=f"into {kept.id}")
    changes.connect(tx, kept.id, dropped.id, "supersedes", source=decided, now=now)
    return after


def keep_apart(waiting: Memory, tx: Transaction, source: Source, now: datetime) -> Memory:
    """Rejects a proposal: both memories stay, and the pair is not proposed again."""
    return _settle(waiting, "rejected", tx, source, now)


def proposals_about(memory_id: str, tx: Transaction) -> list[Memory]:
    """The waiting proposals that include a memory: they contain its text."""
    found = []
    for link in tx.links.of(memory_id):
        other = tx.memories.get(link.from_id) if link.to_id == memory_id else None
        if other is not None and other.state == "waiting" and proposal_of(other, tx) is not None:
            found.append(other)
    return found


def merged_into(memory_id: str, tx: Transaction) -> list[Memory]:
    """The deleted memories that were merged into this one, and say the same."""
    found = []
    for link in tx.links.of(memory_id):
        if link.from_id == memory_id and link.kind == "supersedes":
            other = tx.memories.get(link.to_id)
            is_pair = tx.sessions.get(pair_id(memory_id, link.to_id)) is not None
            if other is not None and other.state == "forgotten" and is_pair:
                found.append(other)
    return found


def _settle(
    waiting: Memory, action: Literal["approved", "rejected"], tx: Transaction, source: Source, now: datetime
) -> Memory:
    """Closes a decided proposal; its text lives on in the memories."""
    tx.journal.write(action, source=source, now=now, before=waiting)
    tx.memories.remove(waiting.id)
    if waiting.private:
        conceal(tx, waiting.id)
    return replace(waiting, state="forgotten", waiting_for=None)
