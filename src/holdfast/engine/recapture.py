"""recapture: reads stored messages again with a newer model.

Runs as one session, which `undo-session` reverts. Changes only captured memories that nobody has changed,
confirmed or pinned since; what a person deleted is not added again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from holdfast.domain.memory import Draft, Memory, Session, Source
from holdfast.domain.outcomes import Added, Contradicting
from holdfast.domain.query import Filter
from holdfast.engine import changes
from holdfast.engine.capture import AT_A_TIME, BEFORE, MOST_OF_A_SESSION
from holdfast.engine.ports import Quiet, Transaction, never_quiet
from holdfast.engine.reading_queue import CAPTURE, job_id, read_up_to, skipped
from holdfast.engine.remember import remember
from holdfast.engine.sessions import known_session
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, Invalid
from holdfast.language.chunks import sources
from holdfast.language.extract import FoundDraft, findings, key


@dataclass(frozen=True, slots=True, kw_only=True)
class Recaptured:
    """What recapture changed, or would change."""

    session: str | None  # the session of the changes; None: nothing was changed
    added: tuple[str, ...]
    gone: tuple[Memory, ...]


def recapture(*, ctx: SpaceContext, quiet: Quiet = never_quiet, dry_run: bool = False) -> Recaptured:
    """Reads all captured messages again.

    Raises: Unavailable.
    """
    name = f"recapture-{ctx.new_id()}"
    added: list[Draft] = []
    gone: list[Memory] = []
    with ctx.read() as tx:
        read = [str(payload["session"]) for payload in tx.jobs.payloads(CAPTURE)]
        sessions = sorted(tx.sessions.many(read), key=lambda session: (session.started_at, session.id))
    for session in sessions:
        if quiet(session.project, session.id) is None:
            new, old = _changes(session, ctx)
            # Old ones first: new ones may say the same in other words.
            gone += [memory for memory in old if dry_run or _left_out(memory, name, ctx)]
            added += [each.draft for each in new if dry_run or _added(each, name, ctx)]
    changed = not dry_run and bool(added or gone)
    texts = tuple(draft.content for draft in added)
    return Recaptured(session=name if changed else None, added=texts, gone=tuple(gone))


def _changes(session: Session, ctx: SpaceContext) -> tuple[list[FoundDraft], list[Memory]]:
    """The drafts that are found now and were not before, and the memories that are not found any more."""
    found = list(_read_again(session, ctx))
    now = {(draft.source.message, draft.content) for draft in (each.draft for each in found)}
    with ctx.read() as tx:
        mine = tx.memories.find(Filter(session=session.id), order="created", limit=MOST_OF_A_SESSION)
        old = [one for one in mine if (one.source.message, one.content) not in now and _is_captured(one, tx)]
        return [each for each in found if tx.calls.get(key(each.draft)) is None], old


def _read_again(session: Session, ctx: SpaceContext) -> Iterator[FoundDraft]:
    with ctx.read() as tx:
        job = tx.jobs.get(job_id(session.id))
    upto, off = (read_up_to(job), skipped(job)) if job else (0, [])
    for first in range(1, upto + 1, AT_A_TIME):
        numbers = range(max(first - BEFORE, 1), min(first + AT_A_TIME - 1, upto) + 1)
        with ctx.read() as tx:
            messages = tx.sessions.around([(session.id, number) for number in numbers])
        spoken = [one for one in sources(messages) if not any(a <= one.number <= b for a, b in off)]
        for place, message in enumerate(spoken):
            if message.number >= first:
                yield from findings(place, spoken, session, ctx.profile, ctx.builtin_model)


def _is_captured(memory: Memory, tx: Transaction) -> bool:
    """Whether a memory was captured, and nobody has changed it or relied on it since."""
    call = tx.calls.get(key(memory)) if memory.version == 1 and not memory.pinned else None
    if call is None or call[1].get("memory") != memory.id:
        return False
    since = {entry.action for entry in tx.journal.of(memory.id)}
    return since <= {"added", "linked", "unlinked", "decayed"}


def _left_out(memory: Memory, name: str, ctx: SpaceContext) -> bool:
    """Deletes a memory without a tombstone: it may be stored again."""
    with ctx.write() as tx:
        now = ctx.now()
        known = tx.memories.get(memory.id)
        if known is None or known.version != 1 or known.state == "forgotten":
            return False
        source = known_session(tx, Source(origin=memory.source.origin, session=name), now)
        changes.change(tx, known, replace(known, state="forgotten"), "forgotten", source=source, now=now)
    return True


def _added(finding: FoundDraft, name: str, ctx: SpaceContext) -> bool:
    draft = finding.draft
    moved = replace(draft, source=replace(draft.source, session=name))
    try:
        outcome = remember(moved, ctx=ctx, key=key(draft), captured=True, news=finding.news)
    except (Conflict, Invalid):
        return False
    return isinstance(outcome, Added | Contradicting)
