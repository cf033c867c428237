"""Sessions: their beginning, end and messages."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypedDict, Unpack

from holdfast.domain.memory import Message, Session, SessionFields, Source
from holdfast.domain.query import EVERY_SESSION, SessionFilter, TimeCursor
from holdfast.domain.secrets import marks_in
from holdfast.engine import rewordings
from holdfast.engine.intake import ReadText, checked_id, checked_role, checked_tier, read_text, safe_or_none
from holdfast.engine.off_record import heeded
from holdfast.engine.ports import Transaction
from holdfast.engine.reading_queue import EVERY, expect
from holdfast.engine.space_context import SpaceContext, existing_session
from holdfast.engine.tend import decay
from holdfast.errors import Conflict, Invalid, NotFound

_log = logging.getLogger(__name__)
MOST_MESSAGE = 1_000_000


class MessageFields(TypedDict, total=False):
    """The optional fields of a message."""

    speaker: str | None
    message_id: str | None
    said_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message before it is stored."""

    role: str
    content: str
    speaker: str | None = None
    message_id: str | None = None  # None: a new one is generated
    said_at: datetime | None = None  # None: now


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session with its messages, in order."""

    session: Session
    messages: tuple[Message, ...]


def listed(
    *,
    ctx: SpaceContext,
    limit: int | None = None,
    offset: int = 0,
    after: TimeCursor | None = None,
    where: SessionFilter = EVERY_SESSION,
) -> list[Session]:
    """The sessions, latest first.

    Raises: Invalid.
    """
    if (limit is not None and limit < 0) or offset < 0:
        raise Invalid("limit and offset must be 0 or more", field="limit")
    with ctx.read() as tx:
        return tx.sessions.latest(limit, offset, after=after, where=where)


def conversation(session_id: str, *, ctx: SpaceContext) -> Conversation:
    """Raises: NotFound."""
    with ctx.read() as tx:
        session = existing_session(tx, session_id)
        return Conversation(session, tuple(tx.sessions.messages(session_id)))


def message(message_id: str, *, ctx: SpaceContext) -> Message:
    """Raises: NotFound."""
    with ctx.read() as tx:
        found = tx.sessions.message(message_id)
    if found is None:
        raise NotFound(f"there is no message {message_id!r} in space {ctx.space!r}")
    return found


def around(message_id: str, *, ctx: SpaceContext, reach: int) -> list[Message]:
    """A message with up to `reach` messages before and after it.

    Raises: NotFound.
    """
    found = message(message_id, ctx=ctx)
    numbers = range(max(found.number - reach, 0), found.number + reach + 1)
    with ctx.read() as tx:
        return tx.sessions.around([(found.session, number) for number in numbers])


def open_session(
    session_id: str | None,
    *,
    ctx: SpaceContext,
    tier: int | None = None,
    **fields: Unpack[SessionFields],
) -> Session:
    """Opens a session, or continues a known one; applies decay first."""
    now = ctx.now()
    session = Session(
        id=checked_id(session_id if session_id is not None else ctx.new_id()),
        space=ctx.space,
        tier=checked_tier(tier),
        person=ctx.person,
        started_at=now,
        **safe_fields(fields),
    )
    with ctx.write() as tx:
        decay(tx, ctx, now)
        known = tx.sessions.get(session.id)
        if known is not None:
            session = replace(known, ended_at=None, exit_code=None)
        tx.sessions.save(session)
    return session


def safe_fields(fields: SessionFields) -> dict[str, Any]:
    """The fields without secrets."""
    return {name: safe_or_none(text) for name, text in fields.items()}  # type: ignore[arg-type]


def close_session(
    session_id: str,
    *,
    ctx: SpaceContext,
    exit_code: int | None = None,
    usage: Mapping[str, Any] | None = None,
    ended_at: datetime | None = None,
) -> Session:
    """Ends a session, now or at `ended_at`.

    Ending it again, as a hook and a runner may both do, keeps the fields of the first call.

    Raises: NotFound.
    """
    with ctx.write() as tx:
        session = existing_session(tx, session_id)
        session = replace(
            session,
            ended_at=ended_at or ctx.now(),
            exit_code=session.exit_code if exit_code is None else exit_code,
            usage=session.usage if usage is None else usage,
        )
        tx.sessions.save(session)
        expect(tx, session_id, ctx.now(), at_once=True)
    return session


def say(session_id: str, said: NewMessage, *, ctx: SpaceContext) -> Message:
    """Stores a message of a session; a repeated id is stored once.

    In a space that stores no messages, the result has no content.
    Raises: Invalid; Conflict, if the id belongs to another message.
    """
    message, words = _message(said, checked_id(session_id), ctx, read_text)
    with ctx.write() as tx:
        if not tx.space.keeps_messages:
            return replace(message, content=None)
        known = tx.sessions.message(message.id)
        if known is None:
            return _kept(tx, session_id, [message], {message.id: words}, ctx)[0]
        _refuse_taken([message], {known.id: known})
        return known


def say_all(
    session_id: str,
    said: Sequence[NewMessage],
    *,
    ctx: SpaceContext,
    own_ids: bool = False,
    read: ReadText = read_text,
) -> list[Message]:
    """Stores messages of a session in one transaction, and returns the new ones.

    Known ids are skipped; a space that stores no messages stores none. `own_ids`: the caller generated the
    ids, so a known one is an error, not a repetition.
    Raises: Invalid or Conflict; then none was stored.
    """
    both = [_message(one, checked_id(session_id), ctx, read) for one in said]
    messages = [message for message, _ in both]
    with ctx.write() as tx:
        if not tx.space.keeps_messages:
            return []
        if own_ids:
            known = tx.sessions.messages_by_id([message.id for message in messages])
            _refuse_taken(messages, {message.id: message for message in known})
        words = {message.id: words for message, words in reversed(both)}
        return _kept(tx, session_id, messages, words, ctx)


def _refuse_taken(messages: Sequence[Message], known: Mapping[str, Message]) -> None:
    """Refuses known ids: a host that numbers the messages of each conversation from 1 would lose messages."""
    seen = dict(known)
    for message in messages:
        taken = seen.setdefault(message.id, message)
        same_role = taken.role == message.role or taken.session != message.session
        if taken.content in (None, message.content) and same_role:
            continue
        if taken.session == message.session:
            other = "text" if same_role else "role"
            raise Conflict(
                f"message id {message.id!r} already exists in this session with another {other}: "
                "messages can't be changed, use a new id"
            )
        raise Conflict(
            f"message id {message.id!r} already exists in session {taken.session!r}: "
            f"use ids that are unique across sessions, such as '{message.session}:{message.id}'"
        )


def _kept(
    tx: Transaction,
    session_id: str,
    messages: Sequence[Message],
    words: Mapping[str, Sequence[str]],
    ctx: SpaceContext,
) -> list[Message]:
    known_session(tx, Source(session=session_id, person=ctx.person), ctx.now())
    known = {message.id for message in tx.sessions.messages_by_id([message.id for message in messages])}
    new: dict[str, Message] = {}
    for message in messages:
        if message.id not in known:
            new.setdefault(message.id, message)
    first = tx.sessions.last_number(session_id) + 1
    kept = [replace(message, number=number) for number, message in enumerate(new.values(), start=first)]
    kept = heeded(kept, tx, ctx)
    tx.sessions.say(kept)
    tx.message_words.put(*kept, words=words)
    if kept:
        past = ctx.now() - max(message.said_at for message in kept) > EVERY  # an import: nobody goes on
        expect(tx, session_id, ctx.now(), at_once=past)
        rewordings.expect(tx, session_id, ctx.now())
    return kept


def _message(
    said: NewMessage, session_id: str, ctx: SpaceContext, read: ReadText
) -> tuple[Message, Sequence[str]]:
    """The message, and its words for the index."""
    if len(said.content) > MOST_MESSAGE:
        raise Invalid(
            f"the message has {len(said.content):,} characters: the limit is {MOST_MESSAGE:,}",
            field="content",
        )
    kept = read(said.content)
    if kept.text != said.content and (kinds := marks_in(kept.text)):  # hooks have no other way to say it
        _log.info("session %s: redacted from a message: %s", session_id, ", ".join(kinds))
    message = Message(
        id=checked_id(said.message_id if said.message_id is not None else ctx.new_id()),
        session=session_id,
        number=0,
        role=checked_role(said.role),
        speaker=safe_or_none(said.speaker),
        content=kept.text,
        said_at=said.said_at or ctx.now(),
        off_record=kept.private,
    )
    return message, kept.words


def known_session(tx: Transaction, source: Source, now: datetime) -> Source:
    """The source with the tier of its session, which is opened if it is unknown.

    Raises: Invalid, for invalid ids.
    """
    if source.message is not None:
        checked_id(source.message)
    if source.session is None:
        return source
    session = tx.sessions.get(checked_id(source.session))
    if session is None:
        session = Session(
            id=source.session,
            space=tx.space.name,
            tier=checked_tier(source.tier),
            person=source.person,
            started_at=now,
        )
        tx.sessions.save(session)
    return replace(source, tier=source.tier if source.tier is not None else session.tier)
