"""capture: extracts memories from the messages of sessions with the built-in finder.

The job of a session records how far it was read. After a kill it continues from there; drafts that were
already remembered are known by their idempotency key, so nothing is lost or stored twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from holdfast.domain.jobs import Job
from holdfast.domain.memory import Memory, Message, Session, Source
from holdfast.domain.outcomes import Outcome
from holdfast.domain.query import Filter
from holdfast.engine import jobs, rewordings
from holdfast.engine.corrections import retracted
from holdfast.engine.forget import forget
from holdfast.engine.models_in_steps import ModelsInSteps
from holdfast.engine.ports import Quiet, TimeIsUp, TimeUp, never_quiet
from holdfast.engine.reading_queue import (
    CAPTURE,
    EVERY,
    EVERY_MESSAGES,
    expect,
    expect_chunks,
    read_up_to,
    skipped,
)
from holdfast.engine.remember import remember
from holdfast.engine.space_context import SpaceContext, existing_session
from holdfast.errors import Conflict, Invalid, QuotaExceeded, Unavailable
from holdfast.language.chunks import PERSON, Chunk, chunks, sources
from holdfast.language.extract import FoundDraft, findings, key, news_of, takes_back

AT_A_TIME = 100  # messages per batch
MOST_OF_A_SESSION = 10_000  # memories that are searched
BEFORE = 6  # messages that are read again as context, of any role
_SAID = ("user", "assistant")  # origins of what is captured


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """The result of reading one session."""

    session: str
    messages: int
    outcomes: tuple[Outcome, ...] = ()
    spoken: int = 0  # messages of people and agents among them
    without: int = 0  # of those, how many had no fact
    withdrawn: tuple[Memory, ...] = ()  # captured before, and retracted now
    refused: tuple[str, ...] = ()  # drafts that could not be stored, with the reason
    quiet: str | None = None  # why nothing was read


def capture(
    *, ctx: SpaceContext, session_id: str | None = None, quiet: Quiet = never_quiet
) -> list[Captured]:
    """Reads all unread messages now, of one session or of all.

    Raises: NotFound, if there is no such session; Unavailable.
    """
    with ctx.write() as tx:
        now = ctx.now()
        if session_id is not None:
            existing_session(tx, session_id)
            expect(tx, session_id, now, at_once=True)
        else:
            for job in tx.jobs.in_state("queued", 1_000):
                if job.kind == CAPTURE and job.due_at > now:
                    tx.jobs.save(replace(job, due_at=now))
    while rewordings.look_due(ctx=ctx, session_id=session_id):
        pass
    return list(_all_due(ctx, quiet, session_id))


def capture_due(
    *, ctx: SpaceContext, quiet: Quiet = never_quiet, time_up: TimeUp = lambda: False
) -> Captured | None:
    """Reads the next due session; None if none is due.

    The latest session first: today's does not wait for an import of years. Before that, some messages are
    checked for rewordings of deleted memories. If `time_up`, the rest of the session is left to the next
    call.
    """
    looked_at = rewordings.look_due(ctx=ctx, time_up=time_up)
    if looked_at is not None and time_up():
        return Captured(session=looked_at, messages=0)
    job = jobs.take(CAPTURE, ctx=ctx, latest=True)
    return _done(job, ctx, quiet, time_up) if job is not None else None


def _all_due(ctx: SpaceContext, quiet: Quiet, session_id: str | None) -> Iterator[Captured]:
    while (job := jobs.take(CAPTURE, ctx=ctx, latest=True, session_id=session_id)) is not None:
        yield _done(job, ctx, quiet)


def _done(job: Job, ctx: SpaceContext, quiet: Quiet, time_up: TimeUp = lambda: False) -> Captured:
    """Reads a session to its end in batches; each batch is marked as read at once."""
    session_id = str(job.payload["session"])
    whole = Captured(session=session_id, messages=0)
    try:
        while True:
            part, job, more = _piece(job, session_id, ctx, quiet, time_up)
            whole = _added(whole, part)
            if more and time_up():
                jobs.put_off(job, job.due_at, None, ctx=ctx)  # other messages came since
                return whole
            if not more:
                return whole
    except QuotaExceeded as full:
        jobs.wait_for_room(job, full, ctx=ctx)
        return whole
    except Unavailable as trouble:
        jobs.fail(job, str(trouble), ctx=ctx)
        raise


def _piece(
    job: Job, session_id: str, ctx: SpaceContext, quiet: Quiet, time_up: TimeUp
) -> tuple[Captured, Job, bool]:
    read, queued = read_up_to(job), int(job.payload.get("queued", read_up_to(job)))
    with ctx.read() as tx:
        session = tx.sessions.get(session_id)
        places = range(max(queued - BEFORE + 1, 1), read + AT_A_TIME + 1)
        found = tx.sessions.around([(session_id, number) for number in places])
    new = [message for message in found if message.number > read]
    reason = quiet(session.project if session else None, session_id)
    upto = new[-1].number if new else read
    pieces: list[Chunk] = []
    cut, begun = False, 0
    if reason is not None or session is None:
        part = Captured(session=session_id, messages=len(new), quiet=reason)
    else:
        progress = _Progress(read, int(job.payload.get("drafts", 0)))
        part, progress, cut = _read(session, sources(found), progress, ctx, time_up)
        upto, begun = (progress.read, progress.drafts) if cut else (upto, 0)
        part = replace(part, messages=sum(message.number <= upto for message in new))
        if not cut and ctx.language_models is not None and ctx.language_models.extract is not None:
            parted = [[one for one in found if (one.number > queued) == late] for late in (False, True)]
            pieces = list(chunks(parted[0], parted[1], ctx.estimate))
    counts = _counts(job, part, read=upto, drafts=begun) | {"queued": queued if cut else upto}
    if reason is not None and new:
        job = replace(job, payload={**job.payload, "skipped": [*skipped(job), [read + 1, upto]]})
    job, more = _marked(job, counts, pieces, ctx, cut=cut)
    return part, job, more


@dataclass(frozen=True, slots=True)
class _Progress:
    """The number of the last message that was read, and the completed steps of the next one.

    The first step retracts memories, each of the others stores a draft.
    """

    read: int
    drafts: int = 0


def _read(
    session: Session, spoken: Sequence[Message], progress: _Progress, ctx: SpaceContext, time_up: TimeUp
) -> tuple[Captured, _Progress, bool]:
    """Reads new messages: returns the results, the progress, and whether the time was up.

    At least one model call or one stored draft is made.
    """
    part = Captured(session=session.id, messages=0)
    models = ModelsInSteps(ctx, session.id, time_up)
    for place, message in enumerate(spoken):
        if message.number <= progress.read:
            continue
        if part.spoken and time_up():
            return part, progress, True
        try:
            made = models.once(
                spoken[max(place - 2, 0) : place + 1],
                lambda: findings(place, spoken, session, ctx.profile, models),  # noqa: B023
            )
            if not progress.drafts:
                gone = _withdrawn(place, spoken, session, models.ctx)
                part = replace(part, withdrawn=(*part.withdrawn, *gone))
                progress = replace(progress, drafts=1)
            for finding in made[progress.drafts - 1 :]:
                models.check()
                part = _kept(finding, part, models.ctx)
                progress, models.begun = replace(progress, drafts=progress.drafts + 1), True
        except TimeIsUp:
            return part, progress, True
        models.forget()
        part = replace(part, spoken=part.spoken + 1, without=part.without + (not made))
        progress = _Progress(message.number)
    return part, progress, False


def _kept(finding: FoundDraft, part: Captured, ctx: SpaceContext) -> Captured:
    """Stores one draft, and adds its outcome to the results."""
    draft = finding.draft
    try:
        outcome = remember(draft, ctx=ctx, key=key(draft), captured=True, news=finding.news)
    except Conflict:  # an earlier release stored the same text
        return part
    except Invalid as wrong:
        return replace(part, refused=(*part.refused, str(wrong)))
    return replace(part, outcomes=(*part.outcomes, outcome))


def _withdrawn(place: int, spoken: Sequence[Message], session: Session, ctx: SpaceContext) -> list[Memory]:
    """Forgets what a person retracts: the memories that the message names, else those of the message before.

    Only captured memories, and only if that can be undone.
    """
    message = spoken[place]
    if message.role != PERSON or not takes_back(message.content or ""):
        return []
    if ctx.profile.policy.removal == "permanent":
        return []
    ctx = ctx.among(None)
    found = retracted(news_of(spoken, place), session.project, ctx) or _of_message_before(place, spoken, ctx)
    source = Source(origin="user", session=session.id, message=message.id, person=session.person)
    return [
        forget(memory.id, ctx=ctx, source=source).memory for memory in found if memory.source.origin in _SAID
    ]


def _of_message_before(place: int, spoken: Sequence[Message], ctx: SpaceContext) -> list[Memory]:
    back = next((one for one in reversed(spoken[:place]) if one.role == PERSON), None)
    if back is None:
        return []
    with ctx.read() as tx:
        mine = tx.memories.find(Filter(session=back.session), order="created", limit=MOST_OF_A_SESSION)
    return [memory for memory in mine if memory.source.message == back.id]


def _marked(
    job: Job, counts: Mapping[str, int], pieces: Sequence[Chunk], ctx: SpaceContext, *, cut: bool
) -> tuple[Job, bool]:
    """Marks messages as read, and queues them for the language model if there is one.

    Returns whether more should be read at once: many messages, or the rest of a `cut` reading.
    """
    now = ctx.now()
    with ctx.write() as tx:
        if not jobs.still_ours(tx, job):
            return job, False
        session_id = str(job.payload["session"])
        expect_chunks(tx, session_id, pieces, now)
        left = tx.sessions.last_number(session_id) - counts["read"]
        payload = {**job.payload, **counts}
        more = left > 0 and (cut or left >= EVERY_MESSAGES)
        if more:
            job = replace(job, payload=payload, leased_until=now + jobs.LEASE)
        elif left > 0:
            job = replace(job, payload=payload).queued(now + EVERY)
        else:
            job = replace(job, payload=payload, state="done", error=None, leased_until=None)
        tx.jobs.save(job)
        return job, more


def _counts(job: Job, part: Captured, *, read: int, drafts: int) -> dict[str, int]:
    """The job's payload: the progress, and totals of what was found."""
    found = {"kept": len(part.outcomes), "chunks": part.spoken, "chunks_without": part.without}
    sums = {name: int(job.payload.get(name, 0)) + count for name, count in found.items()}
    return {"read": read, "drafts": drafts, **sums}


def _added(one: Captured, other: Captured) -> Captured:
    names = [each.name for each in fields(one) if each.name not in ("session", "quiet")]
    sums = {name: getattr(one, name) + getattr(other, name) for name in names}
    return replace(one, **sums, quiet=other.quiet or one.quiet)
