"""What a model saved by a tool while something was said: it is not captured again from the words themselves.

A tool's memory has the category and subject that the model chose, which capture can't guess, so the
two are not neighbours. They are held together by the session, and by the turn: what was saved between the
answer before and the next thing that the person said. A client that names no session is known by the turn
alone. Only what is wholly said there counts: a message may hold one fact more than its model saved.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.memory import Draft, Memory, Tombstone
from holdfast.domain.terms import shared, words
from holdfast.engine.candidates import Candidate
from holdfast.engine.neighbours import Judged, JudgedCandidates, maybe_same
from holdfast.engine.ports import Transaction
from holdfast.engine.space_context import SpaceContext, project_of
from holdfast.language.chunks import PERSON
from holdfast.language.comparison import NEARLY_CONTRADICTS, Statement, Verdict
from holdfast.language.grounding import Grounds, answers, parts, statements, within

_MOST = 200  # memories that a session saved by tools among which one is looked for
_LONGEST_TURN = 50  # messages on either side in which a turn begins and ends


@dataclass(frozen=True, slots=True)
class _Saved:
    """A wording that a tool saved, and what became of it."""

    text: str
    subject: str | None
    result: Memory | Tombstone
    at: datetime
    in_turn: bool


def saved_by_tools(draft: Draft, ctx: SpaceContext) -> list[Candidate]:
    """What tools saved while a draft's message was said, to be judged against each of its statements."""
    with ctx.read() as tx:
        saved = list(_saved(draft, tx))
    found = []
    for part in statements(draft.content) if saved else ():
        for one in saved:
            said = f"{one.subject or ''}. {one.text}"
            if maybe_same(said, part) and not Grounds([(said, one.at.date())]).strange(part):
                # The labels of the two were chosen by different minds: they neither join nor part them.
                pair = Statement(text=one.text), Statement(text=part)
                found.append(Candidate("saved", one.result, *pair, nearness=shared(said, part)))
    return found


def saved_already(draft: Draft, tx: Transaction, around: JudgedCandidates) -> Memory | Tombstone | None:
    """What a tool made of the same words, in its state of now; none, if the draft says something more."""
    judged = list(around.of("saved"))
    if not judged:
        return None
    saved = {(each.text, _result_id(each.result)): each for each in _saved(draft, tx)}
    said = parts(draft.content)
    found = [_saying(part, draft, saved, judged) for part in said]
    if len(said) == 1 and found[0] is None and answers(draft.content):
        found = [_saying(draft.content, draft, saved, judged)]  # it may be no more than a yes
    return found[0] if found and found[0] is not None and None not in found else None


def _saying(
    part: str, draft: Draft, saved: Mapping[tuple[str, str], _Saved], judged: Sequence[Judged]
) -> Memory | Tombstone | None:
    """What of the saved says the part, as it is now."""
    for each in judged:
        one = saved.get((each.candidate.known.text, _result_id(each.candidate.found)))
        if one is not None and each.candidate.draft.text == part and _says(part, draft, one, each.verdict):
            return one.result
    return None


def _result_id(result: Memory | Tombstone) -> str:
    return result.id if isinstance(result, Memory) else result.hash


def _saved(draft: Draft, tx: Transaction) -> Iterator[_Saved]:
    """What was saved by tools in the draft's session, and in no session during its turn."""
    session, message = draft.source.session, draft.source.message
    if session is None or message is None:
        return
    began, ended = _turn(session, message, tx)
    here = tx.journal.saved_by("assistant", session, limit=_MOST)
    nowhere = tx.journal.saved_by("assistant", None, limit=_MOST, since=began, until=ended) if began else {}
    known = {memory.id: memory for memory in tx.memories.many([*here, *nowhere])}
    project = project_of(session, tx)
    for memory_id, at in (nowhere | here).items():
        in_turn = began is not None and began <= at and (ended is None or at <= ended)
        memory = known.get(memory_id)
        if memory is None or memory.state == "forgotten":
            for tombstone in tx.tombstones.of(memory_id):
                if tombstone.content:
                    yield _Saved(tombstone.content, tombstone.subject, tombstone, at, in_turn)
        elif (memory_id in here or memory.project in (None, project)) and not _captured(memory, tx):
            yield _Saved(memory.content, memory.subject, memory, at, in_turn)


def _captured(memory: Memory, tx: Transaction) -> bool:
    """Whether its wording was itself read out of a message."""
    if memory.version == 1:
        return memory.source.message is not None
    wording = tx.versions.get(memory.id, memory.version)
    return wording is not None and wording.source.message is not None


def _turn(session: str, message_id: str, tx: Transaction) -> tuple[datetime | None, datetime | None]:
    """From the answer before a message's turn to the next thing said; no end while it is the last turn.

    Hosts that keep a turn when it is over give all of it the moment of its end: so it begins with what was
    said before, not with its own first message.
    """
    message = tx.sessions.message(message_id)
    if message is None:
        return None, None
    reach = range(max(message.number - _LONGEST_TURN, 1), message.number + _LONGEST_TURN + 1)
    around = tx.sessions.around([(session, number) for number in reach])
    opening = max(
        (one.number for one in around if one.role == PERSON and one.number <= message.number),
        default=message.number,
    )
    before = [one.said_at for one in around if one.number < opening]
    after = [one.said_at for one in around if one.role == PERSON and one.number > message.number]
    opened = tx.sessions.get(session)
    began = before[-1] if before else min(opened.started_at if opened else message.said_at, message.said_at)
    return began, after[0] if after else None


def _says(part: str, draft: Draft, saved: _Saved, verdict: Verdict) -> bool:
    """Whether a tool saved what the part says, and no name, number or day is left out."""
    if verdict.relation != "distinct" or not saved.in_turn:
        return verdict.relation == "same"
    near = not verdict.certain and NEARLY_CONTRADICTS not in verdict.reasons
    return near or within(words(part), words(f"{saved.subject or ''}. {saved.text} {draft.subject or ''}"))
