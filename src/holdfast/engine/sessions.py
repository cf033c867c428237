"""Sessions: when a run of an agent begins and ends, and what was said in it."""

from dataclasses import replace
from datetime import datetime

from holdfast.domain.memory import Message, Session, Source
from holdfast.domain.text import clean
from holdfast.engine.desk import Desk
from holdfast.engine.intake import safe, safe_or_none
from holdfast.engine.ports import Transaction
from holdfast.engine.tend import decay
from holdfast.errors import Invalid, NotFound

_MOST_ID = 200
_MOST_MESSAGE = 1_000_000
TIERS = (1, 2, 3)


def open_session(
    session_id: str | None,
    *,
    desk: Desk,
    name: str | None = None,
    client: str | None = None,
    directory: str | None = None,
    project: str | None = None,
    tier: int | None = None,
) -> Session:
    """Begins a session, or goes on with a known one. What has grown stale decays first."""
    now = desk.now()
    session = Session(
        id=checked_id(session_id if session_id is not None else desk.new_id()),
        space=desk.space,
        name=safe_or_none(name),
        client=safe_or_none(client),
        directory=safe_or_none(directory),
        project=safe_or_none(project),
        tier=checked_tier(tier),
        started_at=now,
    )
    with desk.store.write(desk.space) as tx:
        decay(tx, desk, now)
        known = tx.sessions.get(session.id)
        if known is not None:
            session = replace(known, ended_at=None, exit_code=None)
        tx.sessions.save(session)
    return session


def close_session(session_id: str, *, desk: Desk, exit_code: int | None = None) -> Session:
    """Ends a session.

    Raises: NotFound.
    """
    with desk.store.write(desk.space) as tx:
        session = tx.sessions.get(session_id)
        if session is None:
            raise NotFound(f"there is no session {session_id!r} in space {desk.space!r}")
        session = replace(session, ended_at=desk.now(), exit_code=exit_code)
        tx.sessions.save(session)
    return session


def say(
    session_id: str,
    role: str,
    content: str,
    *,
    desk: Desk,
    speaker: str | None = None,
    message_id: str | None = None,
    said_at: datetime | None = None,
) -> Message:
    """Keeps a message of a session; the same id twice is kept once."""
    if len(content) > _MOST_MESSAGE:
        raise Invalid(
            f"the message has {len(content):,} characters: at most {_MOST_MESSAGE:,} fit", field="content"
        )
    with desk.store.write(desk.space) as tx:
        now = desk.now()
        known_session(tx, Source(session=checked_id(session_id)), now)
        told = tx.sessions.messages(session_id)
        message = Message(
            id=checked_id(message_id if message_id is not None else desk.new_id()),
            session=session_id,
            number=told[-1].number + 1 if told else 1,
            role=clean(role, one_line=True),
            speaker=safe_or_none(speaker),
            content=safe(content),
            said_at=said_at or now,
        )
        tx.sessions.say(message)
    return message


def known_session(tx: Transaction, source: Source, now: datetime) -> Source:
    """`source` with its session's tier; a session that nobody opened is opened here.

    Raises: Invalid, for ids that can't be ids.
    """
    if source.message is not None:
        checked_id(source.message)
    if source.session is None:
        return source
    session = tx.sessions.get(checked_id(source.session))
    if session is None:
        session = Session(
            id=source.session, space=tx.space.name, tier=checked_tier(source.tier), started_at=now
        )
        tx.sessions.save(session)
    return replace(source, tier=source.tier if source.tier is not None else session.tier)


def project_of(session_id: str | None, tx: Transaction) -> str | None:
    """The project that a session works on, as far as is known."""
    session = tx.sessions.get(session_id) if session_id is not None else None
    return session.project if session else None


def checked_id(text: str) -> str:
    """An id of a host's own making, if it can be one.

    Raises: Invalid.
    """
    if (
        not text
        or len(text) > _MOST_ID
        or not text.isprintable()
        or text != text.strip()
        or safe(text) != text
    ):
        raise Invalid(f"{text[:40]!r} is no id: use 1 to {_MOST_ID} printable characters", field="session")
    return text


def checked_tier(tier: int | None) -> int | None:
    """Raises: Invalid."""
    if tier is not None and tier not in TIERS:
        raise Invalid(f"tier {tier} is unknown: use 1, 2 or 3", field="tier")
    return tier
