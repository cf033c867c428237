"""Finds rewordings of memories that agents may not be given any more, in the sessions that they come from.

Queued in the transaction that takes a memory out of use, and again with each new message of the session; the
search runs in the background, never in a recall. One job per session records how far it was read for which
memory, and contains no text.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from itertools import islice

from holdfast.domain.jobs import Job
from holdfast.domain.memory import Citation, Message
from holdfast.domain.passage import pieces
from holdfast.engine import jobs
from holdfast.engine.models_in_steps import ModelsInSteps
from holdfast.engine.neighbours import maybe_same
from holdfast.engine.ports import Judge, TimeIsUp, TimeUp, Transaction
from holdfast.engine.quote_rules import quotable
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Unavailable
from holdfast.language.comparison import NEARLY_SAME, Statement

KIND = "rewordings"
_AT_A_TIME = 50  # messages per batch
_COMPARED = 200  # sentences and statements per batch whose words are compared, and
_JUDGED = 3  # pairs per batch that are judged; the last message is read to its end
_MOST_PIECES = 200  # sentences of one message
_WORDS = 10  # of a sentence, about

_Said = tuple[str, Message, int, int, Statement, Statement]  # memory, message, place, both statements


def seek(tx: Transaction, memory_id: str, now: datetime) -> None:
    """Queues a search in the sessions that a memory was taken from."""
    cited = {each.message for each in tx.citations.of_memory(memory_id) if not each.reworded}
    if not cited:
        return
    for session_id in {message.session for message in tx.sessions.messages_by_id(sorted(cited))}:
        known = tx.jobs.get(_job_id(session_id))
        read = {**(_read(known) if known else {}), memory_id: 0}
        payload = {"session": session_id, "read": read}
        if known is None:
            job = Job(id=_job_id(session_id), kind=KIND, payload=payload, due_at=now, created_at=now)
            tx.jobs.add(job)
        elif known.state == "running":
            tx.jobs.save(replace(known, payload=payload))  # its worker checks again before it ends
        else:
            tx.jobs.save(replace(known, payload=payload).queued(now))


def expect(tx: Transaction, session_id: str, now: datetime) -> None:
    """Queues a session with new messages."""
    known = tx.jobs.get(_job_id(session_id))
    if known is not None and known.state == "done" and _read(known):
        tx.jobs.save(known.queued(now))


def look_due(
    *, ctx: SpaceContext, session_id: str | None = None, time_up: TimeUp = lambda: False
) -> str | None:
    """Searches some messages of the next queued session, or of the given one; returns its id.

    If `time_up`, it continues there the next time.

    Raises: Unavailable.
    """
    job = jobs.take(KIND, ctx=ctx, session_id=session_id)
    if job is None:
        return None
    models = ModelsInSteps(ctx, job.id, time_up)
    try:
        _look(job, models.ctx)
    except TimeIsUp:
        jobs.put_off(job, job.due_at, None, ctx=ctx)
    except Unavailable as trouble:
        jobs.fail(job, str(trouble), ctx=ctx)
        raise
    return str(job.payload["session"])


def _look(job: Job, ctx: SpaceContext) -> None:
    session_id = str(job.payload["session"])
    said: list[_Said] = []
    read: dict[str, int] = {}
    compared = 0
    with ctx.read() as tx:
        last = tx.sessions.last_number(session_id)
        for memory_id, upto in _read(job).items():
            if compared >= _COMPARED or len(said) >= _JUDGED:
                read[memory_id] = upto
                continue
            known = [] if quotable(memory_id, tx) else _statements(memory_id, tx)
            end = min(upto + _AT_A_TIME, last)
            new = tx.sessions.around([(session_id, at) for at in range(upto + 1, end + 1)]) if known else []
            read[memory_id] = end if known else -1
            for message in new:
                if compared >= _COMPARED or len(said) >= _JUDGED:
                    read[memory_id] = message.number - 1
                    break
                compared += 1 + len(known) * (message.content or "").count(" ") // _WORDS
                said += [(memory_id, message, *piece) for piece in _pieces(known, message)]
    found = _reworded(said, ctx.judge)
    _mark(job, session_id, read, found, ctx)


def _mark(
    job: Job, session_id: str, read: Mapping[str, int], found: Sequence[Citation], ctx: SpaceContext
) -> None:
    now = ctx.now()
    with ctx.write() as tx:
        tx.citations.add(*found)
        stored = tx.jobs.get(job.id)
        if stored is None or not jobs.still_ours(tx, job):
            return
        meanwhile = {one: upto for one, upto in _read(stored).items() if upto != _read(job).get(one)}
        left = {one: upto for one, upto in {**read, **meanwhile}.items() if upto >= 0}
        last = tx.sessions.last_number(session_id)
        marked = replace(stored, payload={"session": session_id, "read": left}, leased_until=None)
        if any(upto < last for upto in left.values()):
            tx.jobs.save(marked.queued(now))
        else:
            tx.jobs.save(replace(marked, state="done", error=None))


def _statements(memory_id: str, tx: Transaction) -> list[Statement]:
    """All texts that a memory had, also a permanently deleted one; none of an erased one."""
    memory = tx.memories.get(memory_id)
    if memory is not None:
        texts = {memory.content, *(version.content for version in tx.versions.of(memory_id))}
        return [Statement(text=one, subject=memory.subject, category=memory.category) for one in texts]
    return [
        Statement(text=stone.content, subject=stone.subject, category=stone.category)
        for stone in tx.tombstones.of(memory_id)
        if stone.content
    ]


def _pieces(
    known: Collection[Statement], message: Message
) -> Iterator[tuple[int, int, Statement, Statement]]:
    """The sentences of a message that may reword a statement, each with that statement."""
    text = (message.content or "") if message.findable else ""
    for start, end in islice(pieces(text), _MOST_PIECES):
        said = text[start:end].strip()
        for old in known:
            if maybe_same(old.text, said):
                yield start, end, old, replace(old, text=said)


def _reworded(said: Sequence[_Said], judge: Judge) -> list[Citation]:
    """The sentences that say the same, near calls included: withholding one too many can be reverted."""
    verdicts = judge.compare([(old, new) for *_, old, new in said])
    found = {
        (message.id, memory_id, start): end
        for (memory_id, message, start, end, _, _), verdict in zip(said, verdicts, strict=True)
        if verdict.relation == "same" or NEARLY_SAME in verdict.reasons
    }
    return [
        Citation(message=message_id, memory=memory_id, begins=start, ends=end, reworded=True)
        for (message_id, memory_id, start), end in found.items()
    ]


def _job_id(session_id: str) -> str:
    return f"{KIND}-{sha256(session_id.encode()).hexdigest()[:32]}"


def _read(job: Job) -> dict[str, int]:
    """The number of the last message that was read, by memory."""
    return {str(memory_id): int(upto) for memory_id, upto in job.payload["read"].items()}
