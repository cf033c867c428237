"""Takes messages off the record: shown only on their session's page, never searched, read or quoted."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from holdfast.domain.memory import Message, Source
from holdfast.engine.forget import forgotten
from holdfast.engine.ports import Transaction
from holdfast.engine.reading_queue import forget_answers
from holdfast.engine.space_context import SpaceContext
from holdfast.language.chunks import AGENT, PERSON
from holdfast.language.off_record import Wish, wish

_LOOKED_BACK = 10  # messages


def heeded(new: Sequence[Message], tx: Transaction, ctx: SpaceContext) -> list[Message]:
    """The new messages of a session, marked if they or later ones ask for it; stored ones are taken off.

    An agent's answer to such a message may repeat it, so it is taken off, too.
    """
    if not new:
        return []
    first = new[0].number
    known = tx.sessions.around([(new[0].session, first - back) for back in range(1, _LOOKED_BACK + 1)])
    spoken = [one for one in (*known, *new) if one.role in (PERSON, AGENT)]
    off: set[str] = set()
    for place, message in enumerate(spoken):
        if message.number >= first and message.role == PERSON:
            off |= _meant(spoken, place)
    answered = {one.id for one in spoken if one.off_record} | off
    for before, message in pairwise(spoken):
        if message.number >= first and message.role == AGENT and before.id in answered:
            answered.add(message.id)
            off.add(message.id)
    take_off(off & {one.id for one in known if not one.off_record}, tx, ctx, ctx.now())
    return [replace(one, off_record=True) if one.id in off else one for one in new]


def take_off(message_ids: Collection[str], tx: Transaction, ctx: SpaceContext, now: datetime) -> None:
    """Takes stored messages off the record, and deletes what was captured from them."""
    if not message_ids:
        return
    tx.sessions.take_off_record(message_ids)
    tx.message_words.drop(*message_ids)
    tx.message_vectors.drop(message_ids)
    forget_answers(tx, message_ids)
    cited = {each.memory for each in tx.citations.of_messages(message_ids)}
    for memory in tx.all_memories.many(sorted(cited)):
        own = memory.source.message in message_ids and memory.source.origin in ("user", "assistant")
        if own and memory.state != "forgotten":
            source = Source(origin="user", session=memory.source.session)
            forgotten(memory, tx=tx, ctx=ctx, source=source, now=now, softly=True)


def _meant(spoken: Sequence[Message], place: int) -> set[str]:
    """The messages that a person's message takes off the record."""
    before = spoken[:place]
    answered = before[-1].content if before and before[-1].role == AGENT else None
    asked: Wish = wish(spoken[place].content or "", answered)
    meant = {spoken[place].id} if asked.this else set()
    if asked.before:
        people = [number for number, one in enumerate(before) if one.role == PERSON]
        meant |= {one.id for one in before[people[-1] if people else 0 :]}
    return meant
