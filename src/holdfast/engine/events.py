"""Events of services, and cooldowns: which actions were taken, and whether another one is allowed."""

from typing import Unpack

from holdfast.domain.memory import Source
from holdfast.domain.operations import Attempt, CooldownStatus, Event, cooldown_statuses, window
from holdfast.domain.query import EventFields
from holdfast.domain.text import clean
from holdfast.engine.intake import safe, safe_or_none
from holdfast.engine.sessions import known_session
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid, TooLong, TooShort


def record_event(
    level: str,
    content: str,
    *,
    ctx: SpaceContext,
    service: str | None = None,
    session: str | None = None,
) -> Event:
    """Stores an event.

    Raises: Invalid, if the profile does not have the level, or the text is empty or too long.
    """
    allowed = tuple(each.name for each in ctx.profile.levels)
    if level not in allowed:
        use = f"unknown level {level!r}: use one of {', '.join(allowed)}"
        none = f"the profile {ctx.profile.name!r} has no events: use a space with another profile"
        raise Invalid(use if allowed else none, field="level")
    event = Event(
        id=ctx.new_id(),
        level=level,
        service=one_line(service, "service", ctx.profile.limits.subject_max),
        content=_said(content, ctx),
        session=session,
        created_at=ctx.now(),
    )
    with ctx.write() as tx:
        known_session(tx, Source(session=session, person=ctx.person), event.created_at)
        tx.events.add(event)
    return event


def events(*, ctx: SpaceContext, **listing: Unpack[EventFields]) -> list[Event]:
    """The events, latest first.

    Raises: Invalid.
    """
    limit, offset = listing.get("limit"), listing.get("offset", 0)
    if limit is not None and limit < 0:
        raise Invalid(f"limit must be 0 or more, not {limit}", field="limit")
    if offset < 0:
        raise Invalid(f"offset must be 0 or more, not {offset}", field="offset")
    with ctx.read() as tx:
        return tx.events.find(**listing)


def one_line(text: str | None, field: str, most: int) -> str | None:
    """A name on one line, without secrets; None if nothing is left of it.

    Raises: TooLong.
    """
    line = clean(safe_or_none(text) or "", one_line=True).strip()
    if len(line) > most:
        raise TooLong(f"the {field} has {len(line):,} characters: the limit is {most:,}", field=field)
    return line or None


def _said(content: str, ctx: SpaceContext) -> str:
    text = clean(safe(content), one_line=True).strip()
    most = ctx.profile.limits.content_max
    if not text:
        raise TooShort("the text is empty: say what happened", field="content")
    if len(text) > most:
        raise TooLong(f"the text has {len(text):,} characters: the limit is {most:,}", field="content")
    return text


def record_attempt(
    action: str,
    service: str,
    succeeded: bool,
    *,
    ctx: SpaceContext,
    content: str | None = None,
    session: str | None = None,
) -> Attempt:
    """Records that `action` was taken on `service`, whether it was allowed or not.

    Raises: Invalid, if the profile does not have the action, or the service is missing.
    """
    allowed = tuple(each.name for each in ctx.profile.cooldowns)
    if action not in allowed:
        right = f"use one of {', '.join(allowed)}" if allowed else "this profile has no cooldowns"
        raise Invalid(f"unknown action {action!r}: {right}", field="action")
    limits = ctx.profile.limits
    name = one_line(service, "service", limits.subject_max)
    if name is None:
        raise TooShort("service is required: name the service that the action was taken on", field="service")
    attempt = Attempt(
        id=ctx.new_id(),
        action=action,
        service=name,
        succeeded=succeeded,
        content=one_line(content, "content", limits.content_max),
        session=session,
        created_at=ctx.now(),
    )
    with ctx.write() as tx:
        known_session(tx, Source(session=session, person=ctx.person), attempt.created_at)
        tx.cooldowns.add(attempt)
    return attempt


def cooldowns(*, ctx: SpaceContext, service: str | None = None) -> list[CooldownStatus]:
    """The status of each action and service with an attempt within its window."""
    known, now = ctx.profile.cooldowns, ctx.now()
    if not known:
        return []
    since = now - max(window(cooldown) for cooldown in known)
    with ctx.read() as tx:
        return cooldown_statuses(tx.cooldowns.since(since, service=service), known, now)
