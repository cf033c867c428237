"""A session of the past, read from its transcript: that it was, and what was said in it.

What the transcript says of a session never takes away what is known of it; reading it again changes nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from holdfast.domain.memory import Session
from holdfast.engine.desk import Desk
from holdfast.engine.intake import safe_or_none
from holdfast.engine.session_checks import checked_id
from holdfast.engine.sessions import Said, say_all

_BATCH = 500  # messages in one transaction


def take_session(
    session_id: str,
    said: Sequence[Said],
    *,
    desk: Desk,
    name: str | None = None,
    client: str | None = None,
    directory: str | None = None,
    project: str | None = None,
    started_at: datetime | None = None,
    ended_at: datetime | None = None,
    dry_run: bool = False,
) -> int:
    """Keeps a session and what was said in it; answers how many messages were new.

    A dry run answers how many would be, and keeps none.

    Raises: Invalid, for ids that can't be ids.
    """
    told = Session(
        id=checked_id(session_id),
        space=desk.space,
        name=safe_or_none(name),
        client=safe_or_none(client),
        directory=safe_or_none(directory),
        project=safe_or_none(project),
        started_at=started_at or desk.now(),
        ended_at=ended_at,
    )
    if dry_run:
        return len(_unknown(said, desk))
    _note(told, desk)
    coming = iter(said)
    kept = 0
    # In batches, so that other writers get their turn during a long import.
    while batch := list(islice(coming, _BATCH)):
        new = _unknown(batch, desk)
        kept += len(say_all(told.id, new, desk=desk)) if new else 0
    return kept


def _note(told: Session, desk: Desk) -> None:
    """Keeps what is new about a session; most of the time there is nothing, and no need for the lock."""
    with desk.store.read(desk.space) as tx:
        known = tx.sessions.get(told.id)
    if known is None or _both(known, told) != known:
        with desk.store.write(desk.space) as tx:
            known = tx.sessions.get(told.id)
            tx.sessions.save(told if known is None else _both(known, told))


def _unknown(said: Sequence[Said], desk: Desk) -> list[Said]:
    """Those that are not kept yet: a transcript is read again and again, and cleaning texts is work."""
    ids = [one.message_id for one in said if one.message_id is not None]
    with desk.store.read(desk.space) as tx:
        known = {message.id for message in tx.sessions.messages_by_id(ids)}
    return [one for one in said if one.message_id not in known]


def _both(known: Session, told: Session) -> Session:
    """What is known of a session and what its transcript adds: fields that were empty, and wider times."""
    # A session that was opened here and has not ended is still going on.
    ended = max(known.ended_at, told.ended_at or known.ended_at) if known.ended_at else None
    return replace(
        known,
        name=known.name or told.name,
        client=known.client or told.client,
        directory=known.directory or told.directory,
        project=known.project or told.project,
        started_at=min(known.started_at, told.started_at),
        ended_at=ended,
    )
