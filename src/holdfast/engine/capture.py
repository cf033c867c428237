"""capture: reads what was said in sessions and remembers what is worth keeping, by rules, without a model.

A session's job says how far it was read. Killed anywhere, it is done again from there: what was remembered
before is known by its key, so nothing is lost and nothing doubles.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from holdfast.domain.memory import Draft, Memory, Session, Source
from holdfast.domain.outcomes import Outcome
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter
from holdfast.engine import jobs, rewordings
from holdfast.engine.capture_queue import (
    EVERY,
    EVERY_MESSAGES,
    KIND,
    captured_project,
    category_for,
    expect,
    read_up_to,
)
from holdfast.engine.forget import forget
from holdfast.engine.ports import Job, Quiet, TimeUp, never_quiet
from holdfast.engine.reading_queue import expect_chunks
from holdfast.engine.remember import remember
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, Invalid, NotFound, Unavailable
from holdfast.language.chunks import Chunk, chunks
from holdfast.language.extract import Extracted, extract
from holdfast.language.gate import AGENT, TAKEN_BACK, GateVerdict, gate

#: Why nothing may be captured of a project's session, if so.

_AT_A_TIME = 100  # messages that are read and marked as read in one go
_MOST_OF_A_SESSION = 10_000  # memories among which one that was taken back is looked for
_BEFORE = 6  # messages that may serve as context


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What came of reading one session."""

    session: str
    messages: int
    outcomes: tuple[Outcome, ...] = ()
    passed_over: tuple[str, ...] = ()  # why chunks held nothing, one reason each
    withdrawn: tuple[Memory, ...] = ()  # captured before, and taken back since
    refused: tuple[str, ...] = ()  # what could not be stored, and why
    quiet: str | None = None  # why nothing was read


def capture(
    *, ctx: SpaceContext, session_id: str | None = None, quiet: Quiet = never_quiet
) -> list[Captured]:
    """Reads now what waits to be read, of one session or of all.

    Raises: NotFound, when there is no such session; Unavailable.
    """
    with ctx.store.write(ctx.space) as tx:
        now = ctx.now()
        if session_id is not None:
            if tx.sessions.get(session_id) is None:
                raise NotFound(f"there is no session {session_id!r} in space {ctx.space!r}")
            expect(tx, session_id, now, at_once=True)
        else:
            for job in tx.jobs.in_state("queued", 1_000):
                if job.kind == KIND and job.due_at > now:
                    tx.jobs.save(replace(job, due_at=now))
    while rewordings.look_due(ctx=ctx, session_id=session_id):
        pass
    return list(_all_due(ctx, quiet, session_id))


def capture_due(
    *, ctx: SpaceContext, quiet: Quiet = never_quiet, time_up: TimeUp = lambda: False
) -> Captured | None:
    """Reads the next session whose time has come; none when there is none.

    The latest first: a session of today must not wait for an import of years. Before that some messages in
    which what was deleted may stand in other words. Ended by `time_up`, it leaves the rest of the session to
    the next call.
    """
    rewordings.look_due(ctx=ctx)
    job = jobs.take((KIND,), ctx=ctx, latest=True)
    return _done(job, ctx, quiet, time_up) if job is not None else None


def _all_due(ctx: SpaceContext, quiet: Quiet, session_id: str | None) -> Iterator[Captured]:
    while (job := jobs.take((KIND,), ctx=ctx, latest=True, session_id=session_id)) is not None:
        yield _done(job, ctx, quiet)


def _done(job: Job, ctx: SpaceContext, quiet: Quiet, time_up: TimeUp = lambda: False) -> Captured:
    """Reads a session to its end, piece by piece; a piece that was read is marked at once."""
    session_id = str(job.payload["session"])
    whole = Captured(session=session_id, messages=0)
    try:
        while True:
            part, job, more = _piece(job, session_id, ctx, quiet, time_up)
            whole = _added(whole, part)
            if more and time_up():
                jobs.put_off(job, job.due_at, None, ctx=ctx)  # not later than it was: others came since
                return whole
            if not more:
                return whole
    except Unavailable as trouble:
        jobs.fail(job, str(trouble), ctx=ctx)
        raise


def _piece(
    job: Job, session_id: str, ctx: SpaceContext, quiet: Quiet, time_up: TimeUp
) -> tuple[Captured, Job, bool]:
    read = read_up_to(job)
    with ctx.store.read(ctx.space) as tx:
        session = tx.sessions.get(session_id)
        first = max(read - _BEFORE + 1, 1)
        places = [(session_id, number) for number in range(first, read + _AT_A_TIME + 1)]
        found = tx.sessions.around(places)
    new = [message for message in found if message.number > read]
    reason = quiet(session.project if session else None, session_id)
    pieces: list[Chunk] = []
    upto, cut, begun = new[-1].number if new else read, False, 0
    if reason is not None or session is None:
        part = Captured(session=session_id, messages=len(new), quiet=reason)
    else:
        before = [message for message in found if message.number <= read]
        pieces = list(chunks(before, new, ctx.estimate))
        part, done, begun = _read(session, pieces, int(job.payload.get("drafts", 0)), ctx, time_up)
        if cut := done < len(pieces):
            pieces = pieces[:done]
            upto = pieces[-1].new[-1].number if pieces else read
        part = replace(part, messages=sum(message.number <= upto for message in new))
    counts = _counts(job, part, len(pieces), read=upto, drafts=begun)
    job, more = _marked(job, counts, pieces, ctx, cut=cut)
    return part, job, more


def _read(
    session: Session, pieces: Sequence[Chunk], begun: int, ctx: SpaceContext, time_up: TimeUp
) -> tuple[Captured, int, int]:
    """What came of the pieces, how many were read before the time was up, and how far the next one was.

    At least one draft is kept. Of the first piece `begun` drafts were kept by the call before.
    """
    part, done = Captured(session=session.id, messages=0), 0
    for chunk in pieces:
        if done and time_up():
            break
        verdict = gate(chunk.spoken)
        part = replace(
            part,
            withdrawn=(*part.withdrawn, *_withdrawn(chunk, verdict, session, ctx)),
            passed_over=part.passed_over if verdict.keep else (*part.passed_over, verdict.reason),
        )
        for number, draft in enumerate(_drafts(chunk, verdict, session, ctx.profile)):
            if number > begun and time_up():
                return part, done, number
            if number >= begun:
                part = _kept(draft, part, ctx)
        begun = 0
        done += 1
    return part, done, 0


def _kept(draft: Draft, part: Captured, ctx: SpaceContext) -> Captured:
    """The part, with what came of a draft."""
    try:
        outcome = remember(draft, ctx=ctx, key=_key(draft), captured=True)
    except Conflict:  # the same words were kept by another release's rules
        return part
    except Invalid as wrong:
        return replace(part, refused=(*part.refused, str(wrong)))
    return replace(part, outcomes=(*part.outcomes, outcome))


def _drafts(chunk: Chunk, verdict: GateVerdict, session: Session, profile: Profile) -> list[Draft]:
    """What the rules find worth keeping in a piece."""
    if not verdict.keep:
        return []
    made = (_draft(each, chunk, session, profile) for each in extract(chunk.spoken, verdict))
    return [draft for draft in made if draft is not None]


def _withdrawn(chunk: Chunk, verdict: GateVerdict, session: Session, ctx: SpaceContext) -> list[Memory]:
    """Forgets what was captured of a message that the next one takes back; only where that can be undone."""
    back = {
        chunk.messages[each.message].id
        for each in verdict.weighed
        if each.dropped == TAKEN_BACK and each.message < len(chunk.context)
    }
    if not back or ctx.profile.policy.removal == "permanent":
        return []
    with ctx.store.read(ctx.space) as tx:
        mine = tx.memories.find(Filter(session=session.id), order="created", limit=_MOST_OF_A_SESSION)
    source = Source(origin="user", session=session.id, message=chunk.new[0].id)
    found = [
        memory
        for memory in mine
        if memory.source.message in back and memory.source.origin in ("user", "assistant")
    ]
    return [forget(memory.id, ctx=ctx, source=source).memory for memory in found]


def _draft(made: Extracted, chunk: Chunk, session: Session, profile: Profile) -> Draft | None:
    """What is to be remembered; of the context, which had its turn, only what is answered just now."""
    message = chunk.messages[made.message]
    category = category_for(made.kind, profile)
    answered = made.said_by == AGENT and made.message == len(chunk.context) - 1
    if (made.message < len(chunk.context) and not answered) or category is None:
        return None
    return Draft(
        content=made.content,
        category=category,
        subject=made.subject,
        project=captured_project(made.content, category, session.project, profile),
        importance=made.importance,
        tags=made.tags,
        source=Source(
            origin="assistant" if made.said_by == AGENT else "user",
            session=session.id,
            message=message.id,
            taken_from=tuple((chunk.messages[number].id, words) for number, words in made.passages),
        ),
    )


def _key(draft: Draft) -> str:
    named = f"{draft.source.session}\n{draft.source.message}\n{draft.content}"
    return f"capture-{sha256(named.encode()).hexdigest()}"


def _marked(
    job: Job, counts: Mapping[str, int], pieces: Sequence[Chunk], ctx: SpaceContext, *, cut: bool
) -> tuple[Job, bool]:
    """Marks messages as read by rules, and leaves them to a model where there is one.

    Says whether more waits that should be read at once: many, or what a reading that was `cut` left.
    """
    now = ctx.now()
    with ctx.store.write(ctx.space) as tx:
        stored = tx.jobs.get(job.id)
        if stored is None or stored.state != "running" or stored.attempts != job.attempts:
            return job, False  # another worker has it
        session_id = str(job.payload["session"])
        if ctx.readers is not None and ctx.readers.extract is not None:
            expect_chunks(tx, session_id, pieces, now)
        left = tx.sessions.last_number(session_id) - counts["read"]
        payload = {**job.payload, **counts}
        more = left > 0 and (cut or left >= EVERY_MESSAGES)
        if more:
            job = replace(job, payload=payload, leased_until=now + jobs.LEASE)
        elif left > 0:
            job = replace(
                job, payload=payload, state="queued", attempts=0, due_at=now + EVERY, leased_until=None
            )
        else:
            job = replace(job, payload=payload, state="done", error=None, leased_until=None)
        tx.jobs.save(job)
        return job, more


def _counts(job: Job, part: Captured, pieces: int, *, read: int, drafts: int) -> dict[str, int]:
    """How far a session is read, how many drafts of the next piece were kept already, and what was found."""
    found = {"kept": len(part.outcomes), "chunks": pieces, "chunks_without": len(part.passed_over)}
    sums = {name: int(job.payload.get(name, 0)) + count for name, count in found.items()}
    return {"read": read, "drafts": drafts, **sums}


def _added(one: Captured, other: Captured) -> Captured:
    return replace(
        one,
        messages=one.messages + other.messages,
        outcomes=one.outcomes + other.outcomes,
        passed_over=one.passed_over + other.passed_over,
        withdrawn=one.withdrawn + other.withdrawn,
        refused=one.refused + other.refused,
        quiet=other.quiet or one.quiet,
    )
