"""Consolidation: memories that say the same, or that a newer one outdates, proposed for the inbox.

Looks only at what changed since it looked last. Each pair is proposed once, whatever comes of it; killed
anywhere, it is done again, and nothing doubles.

A person decides about a proposal: the two become one, or stay two for good. An approved one is a revision of
what stays and a forgetting of what goes, in a session of their own: the history tells both, and
`undo-session` takes them back together and puts the proposal back into the inbox.
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
from holdfast.domain.query import Filter
from holdfast.domain.terms import shared
from holdfast.engine import changes
from holdfast.engine.candidates import FEW, sharing_rare_words, statement_of
from holdfast.engine.find import memory_pages
from holdfast.engine.forget import bury
from holdfast.engine.intake import sanitize
from holdfast.engine.ports import Judge, Transaction
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, Invalid
from holdfast.language.comparison import Statement, Verdict
from holdfast.language.consolidation import Proposal, duplicate, may_be_one, outdated, pair_id, united
from holdfast.language.judge import NO_MODEL

KIND = "consolidate"
#: Proposals that may wait at once: an inbox that nobody can read through is none.
MOST_WAITING = 50
_CLOSE = 20  # memories with the same rare words that one is compared with


def consolidate(*, ctx: SpaceContext) -> Iterator[list[Memory]]:
    """Proposes what could be one, in small steps; each tells the proposals, which wait in the inbox.

    Where no model answers it ends, and nothing counts as looked at.
    """
    began = ctx.now()
    judge = _Answering(ctx.judge)
    for proposal in pending(replace(ctx, judge=judge), began):
        if judge.failed:
            return
        if proposal is None:
            yield []
            continue
        with ctx.write() as tx:
            if is_full(tx):
                return  # the rest is found again next time: the mark stays where it was
            made = propose(proposal, tx, ctx, began)
        yield made
    with ctx.write() as tx:
        mark(KIND, began.isoformat(), tx, began)


class _Answering:
    """A judge that notes whether it left a pair open."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.failed = False

    def compare(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        verdicts = self._judge.compare(pairs)
        self.failed |= any(NO_MODEL in verdict.reasons for verdict in verdicts)
        return verdicts


def pending(ctx: SpaceContext, now: datetime) -> Iterator[Proposal | None]:
    """The pairs to propose, of what changed since the last time, each memory in one of them at most.

    None stands for a small step that found nothing.
    """
    if ctx.profile.policy.subject_is_key:  # one name, one memory: two names are two
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
    """Every pair that says the same, decided on or not; `seen` hears how many memories were looked at."""
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
    """What one memory could be one with; the judge is asked outside of any transaction, pair by pair.

    `told` has what memories that come later in this round were judged with already: of these pairs, and of
    those that were judged when the newer one was stored, none is judged again.
    """
    with ctx.read() as tx:
        # A word that it alone has leads nowhere.
        alike = tx.memories.many(sharing_rare_words(memory.content, tx, _CLOSE + 1, least=2))
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
    """Whether two were found to be two when the newer was stored, and read as they did then."""
    if newer.version > 1 or older.updated_at > newer.created_at:
        return False
    pairs = ((older.id, newer.id), (newer.id, older.id))  # of one moment either may be the newer
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
    """Puts a proposal into the inbox, unless it was made before or no longer fits."""
    kept, dropped = proposal.kept, proposal.dropped
    as_found = [kept, dropped] == tx.memories.many([kept.id, dropped.id])
    if not as_found or tx.sessions.get(proposal.id) is not None:
        return []
    try:
        draft = sanitize(proposal.draft(), ctx.profile)
    except Invalid:  # stored under other rules: too long, or of a category that is gone
        return []
    name = f"{kept.id} and {dropped.id} as one"
    tx.sessions.save(Session(id=proposal.id, space=ctx.space, name=name, client="tend", started_at=now))
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
    """Whether the inbox holds as many as a person can read through."""
    return tx.memories.count(Filter(states=("waiting",))) >= MOST_WAITING


def looked_at(kind: str, ctx: SpaceContext) -> str | None:
    """Up to where something was looked at the last time."""
    with ctx.read() as tx:
        job = tx.jobs.get(kind)
    return job.payload["upto"] if job is not None else None


def mark(kind: str, upto: str, tx: Transaction, now: datetime) -> None:
    """Notes up to where something was looked at."""
    payload = {"upto": upto}
    known = tx.jobs.get(kind)
    if known is not None:
        tx.jobs.save(replace(known, payload=payload))
    else:
        tx.jobs.add(Job(id=kind, kind=kind, payload=payload, state="done", due_at=now, created_at=now))


def proposal_of(waiting: Memory, tx: Transaction) -> Proposal | None:
    """What a waiting memory proposes to make one; none, when it is an ordinary one."""
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
    """Makes two memories one, as was proposed.

    Raises: Conflict, when one of them is not what it was.
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
    """Turns a proposal down: both stay as they are, and the pair is not proposed again."""
    return _settle(waiting, "rejected", tx, source, now)


def proposals_about(memory_id: str, tx: Transaction) -> list[Memory]:
    """The waiting proposals that would make a memory one with another: they hold its text."""
    found = []
    for link in tx.links.of(memory_id):
        other = tx.memories.get(link.from_id) if link.to_id == memory_id else None
        if other is not None and other.state == "waiting" and proposal_of(other, tx) is not None:
            found.append(other)
    return found


def merged_into(memory_id: str, tx: Transaction) -> list[Memory]:
    """The memories that went into one: forgotten now, and saying the same."""
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
    """A proposal that was decided has done its work: its text is in the memories that it was about."""
    tx.journal.write(action, source=source, now=now, before=waiting)
    tx.memories.remove(waiting.id)
    return replace(waiting, state="forgotten", waiting_for=None)
