"""Consolidation: memories that say the same, or that a newer one outdates, proposed for the inbox.

Looks only at what changed since it looked last. Each pair is proposed once, whatever comes of it; killed
anywhere, it is done again, and nothing doubles. What is decided about a proposal is `merging`'s.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from holdfast.domain.compare import Statement
from holdfast.domain.consolidation import Proposal, duplicate, may_be_one, outdated
from holdfast.domain.memory import Memory, Session
from holdfast.domain.query import Filter
from holdfast.domain.terms import stems
from holdfast.engine import changes
from holdfast.engine.desk import Desk
from holdfast.engine.intake import taken_in
from holdfast.engine.ports import Job, Transaction
from holdfast.errors import Invalid

KIND = "consolidate"
#: Proposals that may wait at once: an inbox that nobody can read through is none.
MOST_WAITING = 50
_AT_A_TIME = 200  # memories that are compared in one reading
_CLOSE = 20  # memories that one is compared with
_RARE_WORDS = 12


def consolidate(*, desk: Desk) -> list[Memory]:
    """Proposes what could be one; answers the proposals, which wait in the inbox."""
    began = desk.now()
    made: list[Memory] = []
    for batch in _batches(pending(desk, began)):
        with desk.store.write(desk.space) as tx:
            for proposal in batch:
                if tx.memories.count(Filter(states=("waiting",))) >= MOST_WAITING:
                    return made  # the rest is found again next time: the mark stays where it was
                made += _proposed(proposal, tx, desk, began)
    _mark(desk, began)
    return made


def pending(desk: Desk, now: datetime) -> Iterator[Proposal]:
    """The pairs to propose, of what changed since the last time; each memory is in one of them at most."""
    if desk.profile.policy.subject_is_key:  # one name, one memory: two names are two
        return
    since = _looked_at(desk)
    with desk.store.read(desk.space) as tx:
        taken = {
            link.to_id for each in _waiting(tx) for link in tx.links.of(each.id) if link.from_id == each.id
        }
        changed = [one.id for one in tx.memories.find(Filter(changed_after=since), order="created")]
        stale = list(_stale(tx, now))
    for place in range(0, max(len(changed), 1), _AT_A_TIME):
        with desk.store.read(desk.space) as tx:
            pairs = list(_alike(tx.memories.many(changed[place : place + _AT_A_TIME]), tx, desk))
            fresh = [each for each in (stale if place == 0 else []) + pairs if not tx.sessions.get(each.id)]
        for proposal in fresh:
            if taken.isdisjoint({proposal.kept.id, proposal.dropped.id}):
                taken |= {proposal.kept.id, proposal.dropped.id}
                yield proposal


def duplicates(desk: Desk, seen: Callable[[int], None] = lambda done: None) -> Iterator[tuple[str, str]]:
    """Every pair that says the same, decided on or not; `seen` hears how many memories were looked at."""
    if desk.profile.policy.subject_is_key:
        return
    with desk.store.read(desk.space) as tx:
        every = [one.id for one in tx.memories.find(Filter(), order="created")]
    told: set[str] = set()
    for place in range(0, len(every), _AT_A_TIME):
        with desk.store.read(desk.space) as tx:
            pairs = list(_alike(tx.memories.many(every[place : place + _AT_A_TIME]), tx, desk))
        for pair in pairs:
            if pair.id not in told:
                told.add(pair.id)
                yield pair.kept.id, pair.dropped.id
        seen(min(place + _AT_A_TIME, len(every)))


def _alike(memories: Iterable[Memory], tx: Transaction, desk: Desk) -> Iterator[Proposal]:
    for memory in memories:
        said = Statement(text=memory.content, subject=memory.subject, category=memory.category)
        for other in _close(memory, tx):
            if not may_be_one(memory, other):
                continue
            old = Statement(text=other.content, subject=other.subject, category=other.category)
            if proposal := duplicate(other, memory, desk.judge.compare(old, said)):
                yield proposal


def _close(memory: Memory, tx: Transaction) -> list[Memory]:
    """The memories that share the rarest words of one."""
    wanted = list(dict.fromkeys(stems(memory.content)))
    counts = tx.words.frequencies(wanted)
    # A word that it alone has leads nowhere.
    rare = sorted((word for word in wanted if counts[word] > 1), key=lambda word: counts[word])
    if not rare:
        return []
    return tx.memories.many(tx.words.matching(rare[:_RARE_WORDS], _CLOSE + 1))


def _stale(tx: Transaction, now: datetime) -> Iterator[Proposal]:
    for link in tx.links.of_kind("contradicts"):
        newer, older = tx.memories.get(link.from_id), tx.memories.get(link.to_id)
        if newer is None or older is None:
            continue
        if newer.created_at < older.created_at:
            newer, older = older, newer
        if proposal := outdated(newer, older, now):
            yield proposal


def _proposed(proposal: Proposal, tx: Transaction, desk: Desk, now: datetime) -> list[Memory]:
    """Puts a proposal into the inbox, unless it was made before or no longer fits."""
    kept, dropped = proposal.kept, proposal.dropped
    as_found = [kept, dropped] == tx.memories.many([kept.id, dropped.id])
    if not as_found or tx.sessions.get(proposal.id) is not None:
        return []
    try:
        draft = taken_in(proposal.draft(), desk.profile)
    except Invalid:  # stored under other rules: too long, or of a category that is gone
        return []
    name = f"{kept.id} and {dropped.id} as one"
    tx.sessions.save(Session(id=proposal.id, space=desk.space, name=name, client="tend", started_at=now))
    memory = changes.add(tx, desk, draft, now=now, waiting_for=proposal.reason)
    changes.connect(tx, memory.id, kept.id, "elaborates", source=draft.source, now=now)
    changes.connect(tx, memory.id, dropped.id, "supersedes", source=draft.source, now=now)
    return [memory]


def _waiting(tx: Transaction) -> Sequence[Memory]:
    return tx.memories.find(Filter(states=("waiting",)), order="created")


def _batches(proposals: Iterator[Proposal]) -> Iterator[list[Proposal]]:
    batch: list[Proposal] = []
    for proposal in proposals:
        batch.append(proposal)
        if len(batch) == MOST_WAITING:
            yield batch
            batch = []
    yield batch


def _looked_at(desk: Desk) -> datetime | None:
    with desk.store.read(desk.space) as tx:
        job = tx.jobs.get(KIND)
    return datetime.fromisoformat(job.payload["upto"]) if job is not None else None


def _mark(desk: Desk, upto: datetime) -> None:
    with desk.store.write(desk.space) as tx:
        payload = {"upto": upto.isoformat()}
        known = tx.jobs.get(KIND)
        if known is not None:
            tx.jobs.save(replace(known, payload=payload))
        else:
            tx.jobs.add(Job(id=KIND, kind=KIND, payload=payload, state="done", due_at=upto, created_at=upto))
