"""recapture: reads kept messages again, for what a better reader finds in them.

Done as one session, which `undo-session` takes back. Only memories that capture made and nobody has changed,
confirmed or pinned since are touched; what a person deleted does not come back.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from holdfast.domain.memory import Draft, Memory, Revision, Session, Source
from holdfast.domain.outcomes import Added, Contradicting
from holdfast.domain.query import Filter
from holdfast.domain.terms import shared
from holdfast.engine import changes
from holdfast.engine.capture_drafts import drafts, key
from holdfast.engine.capture_queue import KIND, job_id, read_up_to, skipped
from holdfast.engine.ports import Quiet, Transaction, never_quiet
from holdfast.engine.remember import remember
from holdfast.engine.revise import revise
from holdfast.engine.sessions import known_session
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, Invalid
from holdfast.language.chunks import sources

_AT_A_TIME = 100  # messages that are fetched in one go
_BEFORE = 6  # messages that are fetched again as context
_MOST_OF_A_SESSION = 10_000  # memories
_SAME_FACT = 0.5  # the words that two wordings of one fact share


@dataclass(frozen=True, slots=True, kw_only=True)
class Reworded:
    """A memory as it was, and what it says now."""

    memory: Memory
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recaptured:
    """What reading again changed, or would change."""

    session: str | None  # what it was done as; none: nothing was changed
    messages: int
    added: tuple[str, ...] = ()
    reworded: tuple[Reworded, ...] = ()
    gone: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to become of the memories of one session."""

    messages: int
    added: tuple[Draft, ...]
    reworded: tuple[tuple[Memory, Draft], ...]
    gone: tuple[Memory, ...]


def recapture(*, ctx: SpaceContext, quiet: Quiet = never_quiet, dry_run: bool = False) -> Recaptured:
    """Reads again what capture has read of every session.

    Raises: Unavailable.
    """
    name = None if dry_run else f"recapture-{ctx.new_id()}"
    whole = Recaptured(session=None, messages=0)
    for session in _sessions(ctx):
        if quiet(session.project, session.id) is not None:
            continue
        plan = _plan(session, ctx)
        done = plan if name is None else _carried_out(plan, name, ctx)
        changed = bool(done.added or done.reworded or done.gone)
        whole = replace(
            whole,
            session=name if changed else whole.session,
            messages=whole.messages + plan.messages,
            added=whole.added + tuple(draft.content for draft in done.added),
            reworded=whole.reworded
            + tuple(Reworded(memory=memory, content=draft.content) for memory, draft in done.reworded),
            gone=whole.gone + done.gone,
        )
    return whole


def _sessions(ctx: SpaceContext) -> list[Session]:
    with ctx.store.read(ctx.space) as tx:
        read = [str(payload["session"]) for payload in tx.jobs.payloads(KIND)]
        return sorted(tx.sessions.many(read), key=lambda session: (session.started_at, session.id))


def _plan(session: Session, ctx: SpaceContext) -> _Plan:
    """What reading a session again would change."""
    with ctx.store.read(ctx.space) as tx:
        mine = tx.memories.find(Filter(session=session.id), order="created", limit=_MOST_OF_A_SESSION)
        known = [memory for memory in mine if _is_captured(memory, tx)]
    messages, found = 0, list[Draft]()
    for number, made in _read_again(session, ctx):
        messages += number
        found += made
    unchanged = {(one.source.message, one.content) for one in known}
    new = [draft for draft in found if (draft.source.message, draft.content) not in unchanged]
    said = {(draft.source.message, draft.content) for draft in found}
    reworded, gone = [], []
    for memory in known:
        if (memory.source.message, memory.content) in said:
            continue
        alike = [draft for draft in new if _same_fact(draft, memory)]
        if alike:
            reworded.append((memory, alike[0]))
            new.remove(alike[0])
        else:
            gone.append(memory)
    with ctx.store.read(ctx.space) as tx:
        added = [draft for draft in new if tx.calls.get(key(draft)) is None]
    return _Plan(messages, tuple(added), tuple(reworded), tuple(gone))


def _read_again(session: Session, ctx: SpaceContext) -> Iterator[tuple[int, list[Draft]]]:
    """Of some messages at a time how many there are, and the drafts that are made of them now."""
    with ctx.store.read(ctx.space) as tx:
        job = tx.jobs.get(job_id(session.id))
    upto, off = (read_up_to(job), skipped(job)) if job else (0, [])
    for first in range(1, upto + 1, _AT_A_TIME):
        last = min(first + _AT_A_TIME - 1, upto)
        numbers = range(max(first - _BEFORE, 1), last + 1)
        with ctx.store.read(ctx.space) as tx:
            messages = tx.sessions.around([(session.id, number) for number in numbers])
        spoken = [one for one in sources(messages) if not any(a <= one.number <= b for a, b in off)]
        new = [place for place, message in enumerate(spoken) if message.number >= first]
        yield len(new), [draft for place in new for draft in drafts(place, spoken, session, ctx)]


def _is_captured(memory: Memory, tx: Transaction) -> bool:
    """Whether capture made a memory and nobody has relied on it or changed it since."""
    if memory.pinned or memory.version != 1 or memory.source.message is None:
        return False
    call = tx.calls.get(key(memory))
    if call is None or call[1].get("memory") != memory.id:
        return False
    return all(
        entry.action in ("added", "linked", "unlinked", "decayed") for entry in tx.journal.of(memory.id)
    )


def _same_fact(draft: Draft, memory: Memory) -> bool:
    same_message = draft.source.message == memory.source.message
    return same_message and shared(draft.content, memory.content) >= _SAME_FACT


def _carried_out(plan: _Plan, name: str, ctx: SpaceContext) -> _Plan:
    """The plan, as far as it was carried out."""
    reworded = [pair for pair in plan.reworded if _revised(*pair, name, ctx)]
    gone = [memory for memory in plan.gone if _left_out(memory, name, ctx)]
    added = [draft for draft in plan.added if _added(draft, name, ctx)]
    return replace(plan, added=tuple(added), reworded=tuple(reworded), gone=tuple(gone))


def _revised(memory: Memory, draft: Draft, name: str, ctx: SpaceContext) -> bool:
    source = replace(draft.source, session=name)
    try:
        revise(memory.id, Revision(content=draft.content), ctx=ctx, source=source, expect_version=1)
    except (Conflict, Invalid):  # it was changed meanwhile, or may not be said
        return False
    return True


def _left_out(memory: Memory, name: str, ctx: SpaceContext) -> bool:
    """Takes a memory out of use; nobody said that it is wrong, so it may be said again."""
    with ctx.store.write(ctx.space) as tx:
        now = ctx.now()
        known = tx.memories.get(memory.id)
        if known is None or known.version != 1 or known.state == "forgotten":
            return False
        source = known_session(tx, Source(origin=memory.source.origin, session=name), now)
        changes.change(tx, known, replace(known, state="forgotten"), "forgotten", source=source, now=now)
    return True


def _added(draft: Draft, name: str, ctx: SpaceContext) -> bool:
    moved = replace(draft, source=replace(draft.source, session=name))
    try:
        outcome = remember(moved, ctx=ctx, key=key(draft), captured=True)
    except (Conflict, Invalid):
        return False
    return isinstance(outcome, Added | Contradicting)
