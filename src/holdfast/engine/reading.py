"""Reads conversations with a language model after the built-in finder: gate, extraction, then `remember`.

The finder's result is kept in any case. Each step is stored in the job before the next begins, so a killed
job continues there. Memories are worded by a model, so their origin is the assistant; they cite the message
that they were taken from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.domain.jobs import Job
from holdfast.domain.memory import Draft, Memory, Session, Source
from holdfast.domain.outcomes import Outcome
from holdfast.domain.profile import Profile
from holdfast.domain.query import Filter
from holdfast.engine import jobs, query_prepare
from holdfast.engine.intake import safe
from holdfast.engine.memory_search import search
from holdfast.engine.meter import CapReached, ask
from holdfast.engine.model_judge import Opinion
from holdfast.engine.ports import Quiet, never_quiet
from holdfast.engine.quote_rules import deleted_from
from holdfast.engine.reading_queue import READING, cited
from holdfast.engine.remember import remember
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Conflict, Invalid, QuotaExceeded, Unavailable
from holdfast.language.chunks import PERSON, Chunk, sources
from holdfast.language.extract import captured_project, key
from holdfast.language.model_answer import Fact, extract_prompt, facts_in, gate_answer, gate_prompt, states
from holdfast.language.model_call import Malformed, ModelAnswer, ModelTrouble
from holdfast.language.passages import statements
from holdfast.language.sentences import own_voice

MOST = 12
_OF_THE_CHUNK = 6
_OF_A_SESSION = 200  # memories among which those of the chunk are searched
_ASKED = 1_200  # characters of the chunk that are searched with


_NOT_SAID = "a fact that its message does not state"
_RELATION = {"same_as": "same", "updates": "updates", "contradicts": "contradicts"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkResult:
    """The result of reading one chunk."""

    session: str
    outcomes: tuple[Outcome, ...] = ()
    dropped: tuple[str, ...] = ()  # why facts of the model were dropped
    trouble: str | None = None  # why it could not be read
    quiet: str | None = None


class _TakenOver(Exception):
    """Another worker has the job."""


def read_due(
    *, ctx: SpaceContext, session_id: str | None = None, quiet: Quiet = never_quiet
) -> ChunkResult | None:
    """Reads the next chunk with a language model; None if there is no chunk or no model.

    Raises: Unavailable, if the store can't be used; a failure of the model is part of the result.
    """
    if ctx.language_models is None or ctx.language_models.extract is None:
        return None
    job = jobs.take(READING, ctx=ctx, session_id=session_id)
    if job is None:
        return None
    session_id = str(job.payload["session"])
    try:
        return _read(job, session_id, ctx, quiet)
    except _TakenOver:
        return ChunkResult(session=session_id)
    except CapReached as reached:
        if reached.until is None:
            jobs.clear(job, ctx=ctx)  # over the session's limit: the finder's result is used
        else:
            jobs.put_off(job, reached.until, str(reached), ctx=ctx)
        return ChunkResult(session=session_id, trouble=str(reached))
    except ModelTrouble as trouble:
        jobs.fail(job, str(trouble), ctx=ctx, wait=trouble.wait)
        return ChunkResult(session=session_id, trouble=str(trouble))
    except QuotaExceeded as full:
        jobs.wait_for_room(job, full, ctx=ctx)
        return ChunkResult(session=session_id, trouble=str(full))
    except Unavailable as trouble:
        jobs.fail(job, str(trouble), ctx=ctx)
        return ChunkResult(session=session_id, trouble=str(trouble))


def _read(job: Job, session_id: str, ctx: SpaceContext, quiet: Quiet) -> ChunkResult:
    session, chunk = _chunk(job, session_id, ctx)
    reason = quiet(session.project if session else None, session_id)
    if session is None or chunk is None or reason is not None or ctx.profile.policy.subject_is_key:
        jobs.clear(job, ctx=ctx)
        return ChunkResult(session=session_id, quiet=reason)
    job, kept = _gated(job, chunk, ctx)
    if not kept:
        jobs.clear(job, ctx=ctx)
        return ChunkResult(session=session_id)
    job = _extracted(job, chunk, session, ctx)
    outcomes, dropped = _remembered(job, chunk, session, ctx)
    jobs.clear(job, ctx=ctx)
    return ChunkResult(
        session=session_id, outcomes=tuple(outcomes), dropped=(*job.payload.get("dropped", ()), *dropped)
    )


def _chunk(job: Job, session_id: str, ctx: SpaceContext) -> tuple[Session | None, Chunk | None]:
    """The chunk without messages that were erased since."""
    with ctx.read() as tx:
        session = tx.sessions.get(session_id)
        found = {message.id: message for message in tx.sessions.messages_by_id(cited(job.payload))}
    before, new = (
        sources([found[one] for one in job.payload.get(part, ()) if one in found])
        for part in ("before", "new")
    )
    return session, Chunk(tuple(before), tuple(new)) if new else None


def _gated(job: Job, chunk: Chunk, ctx: SpaceContext) -> tuple[Job, bool]:
    """Whether the chunk is worth reading; the answer is stored in the job."""
    models = ctx.language_models
    assert models is not None
    if "keep" in job.payload:
        return job, bool(job.payload["keep"])
    if models.gate is None:
        return job, _holds_facts(chunk, ctx)
    question = gate_prompt(chunk, models.instructions.gate)
    answer = ask(question, "gate", models.gate, ctx=ctx, session=str(job.payload["session"]))
    keep = _formed(gate_answer, answer, models.gate.name)
    return _noted(job, {"keep": keep}, ctx), keep


def _holds_facts(chunk: Chunk, ctx: SpaceContext) -> bool:
    """Whether the built-in finder finds a fact in the new messages."""
    said = [(message.role, message.content or "") for message in chunk.messages]
    new = range(len(chunk.context), len(said))
    return any(statements(said[:place], *said[place], ctx.builtin_model) for place in new)


def _extracted(job: Job, chunk: Chunk, session: Session, ctx: SpaceContext) -> Job:
    """The job with the facts that a model found, checked; the answer is stored in the job."""
    if "facts" in job.payload:
        return job
    models = ctx.language_models
    assert models is not None
    assert models.extract is not None
    known = related(chunk, session, ctx=ctx)
    names = ctx.profile.category_names
    question = extract_prompt(chunk, known, models.instructions.extract, ctx.profile)
    answer = ask(question, "extract", models.extract, ctx=ctx, session=session.id)
    facts, dropped = _formed(lambda value: facts_in(value, chunk, names), answer, models.extract.name)
    said = [fact for fact in facts if states(fact, chunk, ctx.builtin_model)]
    dropped += [_NOT_SAID] * (len(facts) - len(said))
    stored = [_stored(fact, chunk, known) for fact in said]
    return _noted(job, {"keep": True, "facts": stored, "dropped": dropped}, ctx)


def _formed(read: Callable[[Mapping[str, Any]], Any], answer: ModelAnswer, name: str) -> Any:
    try:
        return read(answer.value)
    except ValueError as wrong:
        raise Malformed(f"{name}: {wrong}", usage=answer.usage) from None


def _noted(job: Job, more: Mapping[str, Any], ctx: SpaceContext) -> Job:
    noted = jobs.note(job, {**job.payload, **more}, ctx=ctx)
    if noted is None:
        raise _TakenOver
    return noted


def _stored(fact: Fact, chunk: Chunk, known: Sequence[Memory]) -> dict[str, Any]:
    """A fact in the form that is stored in the job; an unknown number makes it a new memory."""
    named = fact.said != "new" and 1 <= fact.of <= len(known)
    return {
        "text": safe(fact.text),
        "category": fact.category,
        "subject": safe(fact.subject) if fact.subject else None,
        "importance": fact.importance,
        "tags": [safe(tag) for tag in fact.tags],
        "message": chunk.messages[fact.message].id,
        "relation": _RELATION[fact.said] if named else None,
        "of": known[fact.of - 1].id if named else None,
    }


def _remembered(
    job: Job, chunk: Chunk, session: Session, ctx: SpaceContext
) -> tuple[list[Outcome], list[str]]:
    """Remembers every fact, each with its own idempotency key."""
    outcomes: list[Outcome] = []
    dropped: list[str] = []
    there = {message.id for message in chunk.messages}
    for fact in job.payload["facts"]:
        if fact["message"] not in there or _taken_back(fact["message"], ctx):
            dropped.append("a fact whose message was retracted")
            continue
        draft = _draft(fact, session, ctx.profile)
        told = Opinion(relation=fact["relation"], memory=fact["of"]) if fact["relation"] else None
        try:
            outcomes.append(remember(draft, ctx=ctx, key=key(draft, "extract"), told=told, captured=True))
        except Conflict:  # the same text was captured from this message with other labels
            continue
        except Invalid as wrong:
            dropped.append(str(wrong))
    return outcomes, dropped


def _taken_back(message_id: str, ctx: SpaceContext) -> bool:
    """Whether a memory that was captured from the message has been deleted; then no other is captured."""
    with ctx.read() as tx:
        return deleted_from(message_id, tx)


def _draft(fact: Mapping[str, Any], session: Session, profile: Profile) -> Draft:
    return Draft(
        content=fact["text"],
        category=fact["category"],
        subject=fact["subject"],
        project=captured_project(fact["text"], fact["category"], session.project, profile),
        importance=fact["importance"],
        tags=tuple(fact["tags"]),
        source=Source(origin="assistant", session=session.id, message=fact["message"], person=session.person),
    )


def related(chunk: Chunk, session: Session, *, ctx: SpaceContext) -> list[Memory]:
    """At most 12 active memories of the session's project, and global ones."""
    spoken = [own_voice(message.content or "") for message in chunk.new if message.role == PERSON]
    text = "\n".join(spoken)[-_ASKED:] or own_voice(chunk.new[-1].content or "")[-_ASKED:]
    where = Filter(project=session.project, other_projects=False)
    ctx = ctx.among(None)  # what is read becomes shared memories
    [asked] = query_prepare.ask([text], ctx=ctx, asked_at=ctx.now(), messages=False)
    with ctx.read() as tx:
        near = [found.memory for found in search(asked, where, tx, MOST)]
        said = {message.id for message in chunk.messages}
        mine = tx.memories.find(Filter(session=session.id), order="recent", limit=_OF_A_SESSION)
    own = [memory for memory in mine if memory.source.message in said][:_OF_THE_CHUNK]
    both = {memory.id: memory for memory in (*own, *near)}
    return list(both.values())[:MOST]
