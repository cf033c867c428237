"""Finds what a tool already saved during the turn of a message, so that capture does not store it twice.

A tool's memory has the category and subject that the model chose, which capture can't know, so the two are no
neighbours. They are compared by session and turn: from the answer before to the person's next message. A
client that names no session is matched by the turn alone. Only a message that a tool saved completely counts:
it may contain one fact more.
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

_MOST = 200  # memories that tools saved in a session, which are searched
_LONGEST_TURN = 50  # messages on either side within which a turn begins and ends


@dataclass(frozen=True, slots=True)
class _Saved:
    """A text that a tool saved, and its current memory or tombstone."""

    text: str
    subject: str | None
    result: Memory | Tombstone
    at: datetime
    in_turn: bool


def saved_by_tools(draft: Draft, ctx: SpaceContext) -> list[Candidate]:
    """The texts that tools saved during the turn of a draft's message, as candidates for its statements."""
    with ctx.read() as tx:
        saved = list(_saved(draft, tx))
    found = []
    for part in statements(draft.content) if saved else ():
        for one in saved:
            said = f"{one.subject or ''}. {one.text}"
            if maybe_same(said, part) and not Grounds([(said, one.at.date())]).strange(part):
                # Their labels were chosen independently, so they are not compared.
                pair = Statement(text=one.text), Statement(text=part)
                found.append(Candidate("saved", one.result, *pair, nearness=shared(said, part)))
    return found


def saved_already(draft: Draft, tx: Transaction, around: JudgedCandidates) -> Memory | Tombstone | None:
    """What a tool saved of the same text, as it is now; None if the draft says more."""
    judged = list(around.of("saved"))
    if not judged:
        return None
    saved = {(each.text, _result_id(each.result)): each for each in _saved(draft, tx)}
    said = parts(draft.content)
    found = [_saying(part, draft, saved, judged) for part in said]
    if len(said) == 1 and found[0] is None and answers(draft.content):
        found = [_saying(draft.content, draft, saved, judged)]  # it may be just "yes"
    return found[0] if found and found[0] is not None and None not in found else None


def _saying(
    part: str, draft: Draft, saved: Mapping[tuple[str, str], _Saved], judged: Sequence[Judged]
) -> Memory | Tombstone | None:
    """The saved memory or tombstone that says this part."""
    for each in judged:
        one = saved.get((each.candidate.known.text, _result_id(each.candidate.found)))
        if one is not None and each.candidate.draft.text == part and _says(part, draft, one, each.verdict):
            return one.result
    return None


def _result_id(result: Memory | Tombstone) -> str:
    return result.id if isinstance(result, Memory) else result.hash


def _saved(draft: Draft, tx: Transaction) -> Iterator[_Saved]:
    """What tools saved in the draft's session, and without a session during its turn."""
    session, message = draft.source.session, draft.source.message
    if session is None or message is None:
        return
    began, ended = _turn(session, message, tx)
    here = tx.journal.saved_by("assistant", session, limit=_MOST)
    nowhere = tx.journal.saved_by("assistant", None, limit=_MOST, since=began, until=ended) if began else {}
    known = {memory.id: memory for memory in tx.all_memories.many([*here, *nowhere])}
    project = project_of(session, tx)
    for memory_id, at in (nowhere | here).items():
        in_turn = began is not None and began <= at and (ended is None or at <= ended)
        memory = known.get(memory_id)
        if memory is None or (memory.state == "forgotten" and not memory.private):
            for tombstone in tx.tombstones.of(memory_id):
                if tombstone.content:
                    yield _Saved(tombstone.content, tombstone.subject, tombstone, at, in_turn)
        elif (memory_id in here or memory.project in (None, project)) and not _captured(memory, tx):
            yield _Saved(memory.content, memory.subject, memory, at, in_turn)


def _captured(memory: Memory, tx: Transaction) -> bool:
    """Whether the memory's text was itself captured from a message."""
    if memory.version == 1:
        return memory.source.message is not None
    wording = tx.versions.get(memory.id, memory.version)
    return wording is not None and wording.source.message is not None


def _turn(session: str, message_id: str, tx: Transaction) -> tuple[datetime | None, datetime | None]:
    """The time from the answer before a message's turn to the next message; no end if it is the last turn.

    Hosts that store a turn when it is over give all its messages that moment, so it begins with the message
    before, not with its own first one.
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
    """Whether a saved text says this part, without a missing name, number or day."""
    if verdict.relation != "distinct" or not saved.in_turn:
        return verdict.relation == "same"
    near = not verdict.certain and NEARLY_CONTRADICTS not in verdict.reasons
    return near or within(words(part), words(f"{saved.subject or ''}. {saved.text} {draft.subject or ''}"))
