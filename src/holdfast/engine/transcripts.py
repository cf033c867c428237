"""Imports a past session from its transcript.

A transcript never removes what is known of a session; importing it again changes nothing.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from typing import Unpack

from holdfast.domain.memory import Message, Session, SessionFields
from holdfast.domain.secrets import marks_in
from holdfast.engine.intake import ReadText, checked_id, forget_steps, in_steps, read_text, text_hash
from holdfast.engine.ports import TimeIsUp, TimeUp, Transaction
from holdfast.engine.sessions import NewMessage, safe_fields, say_all
from holdfast.engine.space_context import SpaceContext

_log = logging.getLogger(__name__)
_BATCH = 500  # messages in one transaction
_SHORT_BATCH = (25, 16_000)  # messages and characters between two checks of the time
OTHER_TEXT = "session %s: message %s arrived again with another text: both are kept"
_MOST_STEM = 180  # characters of an id that a new one is made of


@dataclass(slots=True)
class SessionNotes:
    """Remarks on an imported session."""

    changed: list[str] = field(default_factory=list)  # ids with another text than before
    redacted: list[str] = field(default_factory=list)  # kinds of redactions in new messages
    unfinished: bool = False  # the time was up: importing again continues


def take_session(
    session_id: str,
    said: Sequence[NewMessage],
    *,
    ctx: SpaceContext,
    started_at: datetime | None = None,
    ended_at: datetime | None = None,
    notes: SessionNotes | None = None,
    time_up: TimeUp | None = None,
    dry_run: bool = False,
    **fields: Unpack[SessionFields],
) -> int:
    """Stores a session with its messages; returns how many messages were new.

    An id with another text belongs to another message: both are stored, and `notes` or the log say so. If the
    `time_up`, `notes` say so. A dry run stores nothing.

    Raises: Invalid, for invalid ids.
    """
    told = Session(
        id=checked_id(session_id),
        space=ctx.space,
        person=ctx.person,
        started_at=started_at or ctx.now(),
        ended_at=ended_at,
        **safe_fields(fields),
    )
    found = notes or SessionNotes()
    if dry_run:
        return len(_unknown(said, ctx, found, read_text))
    _note(told, ctx)
    kept = _kept(told.id, said, ctx, found, time_up)
    for message_id in found.changed if notes is None else ():
        _log.warning(OTHER_TEXT, told.id, message_id)
    return kept


def _kept(
    session_id: str,
    said: Sequence[NewMessage],
    ctx: SpaceContext,
    notes: SessionNotes,
    time_up: TimeUp | None,
) -> int:
    """The number of new messages; stored in batches, so that other writers get their turn."""
    start, kept = 0, 0
    read = read_text if time_up is None else in_steps(ctx.space, session_id, time_up)
    while batch := said[start : start + _BATCH] if time_up is None else _few(said[start:]):
        start += len(batch)
        try:
            new = _unknown(batch, ctx, notes, read)
            notes.unfinished = bool(new and kept and time_up is not None and time_up())
            messages = say_all(session_id, new, ctx=ctx, read=read) if new and not notes.unfinished else []
        except TimeIsUp:
            notes.unfinished = True
        if notes.unfinished:
            return kept
        if not messages:
            continue
        notes.redacted = list(dict.fromkeys([*notes.redacted, *_redacted(new, messages)]))
        kept += len(messages)
    forget_steps(ctx.space, session_id)
    return kept


def _few(said: Sequence[NewMessage]) -> Sequence[NewMessage]:
    """The next batch: at least one message."""
    most, characters = _SHORT_BATCH
    sums = accumulate(len(one.content) for one in said[:most])
    return said[: max(sum(size <= characters for size in sums), 1)]


def _redacted(said: Sequence[NewMessage], kept: Sequence[Message]) -> list[str]:
    """The kinds of redactions in stored messages."""
    before = {one.message_id: one.content for one in said}
    return [
        kind
        for message in kept
        for kind in marks_in(message.content)
        if kind not in marks_in(before.get(message.id))
    ]


def _note(told: Session, ctx: SpaceContext) -> None:
    """Stores what is new about a session; mostly there is nothing, and no need for the lock."""
    with ctx.read() as tx:
        known = tx.sessions.get(told.id)
    if known is None or _both(known, told) != known:
        with ctx.write() as tx:
            known = tx.sessions.get(told.id)
            tx.sessions.save(told if known is None else _both(known, told))


def _unknown(
    said: Sequence[NewMessage], ctx: SpaceContext, notes: SessionNotes, read: ReadText
) -> list[NewMessage]:
    """The messages that are not stored yet. Transcripts are read repeatedly, and sanitizing is slow."""
    with ctx.read() as tx:
        known = _texts([one.message_id for one in said if one.message_id is not None], tx)
        new = []
        for one in said:
            if one.message_id is not None and one.message_id in known:
                if _is_same(one.content, known[one.message_id], read):
                    continue
                other = (
                    f"{one.message_id[:_MOST_STEM]}~{text_hash(read(one.content).text, tx.space.key)[:12]}"
                )
                if other in known or _texts([other], tx):
                    continue
                notes.changed.append(one.message_id)
                one = replace(one, message_id=other)
            if one.message_id is not None:
                known[one.message_id] = one.content
            new.append(one)
    return new


def _texts(message_ids: Sequence[str], tx: Transaction) -> dict[str, str | None]:
    return {message.id: message.content for message in tx.sessions.messages_by_id(message_ids)}


def _is_same(content: str, known: str | None, read: ReadText) -> bool:
    """Whether the stored message has this text; an erased one can't be compared."""
    return known in (None, content) or read(content).text == read(known or "").text


def _both(known: Session, told: Session) -> Session:
    """The known session, with empty fields and wider times from the transcript."""
    # A session that was opened here and has not ended is still running.
    ended = max(known.ended_at, told.ended_at or known.ended_at) if known.ended_at else None
    return replace(
        known,
        **{name: getattr(known, name) or getattr(told, name) for name in SessionFields.__annotations__},
        started_at=min(known.started_at, told.started_at),
        ended_at=ended,
    )
