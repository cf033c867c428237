"""Cooldowns: keep which actions were taken on a service, and tell whether another one is allowed."""

from holdfast.domain.memory import Source
from holdfast.domain.operations import Attempt, Standing, standings, window
from holdfast.engine.events import one_line
from holdfast.engine.sessions import known_session
from holdfast.engine.space_context import SpaceContext
from holdfast.errors import Invalid, TooShort


def record_attempt(
    action: str,
    service: str,
    succeeded: bool,
    *,
    ctx: SpaceContext,
    content: str | None = None,
    session: str | None = None,
) -> Attempt:
    """Keeps that `action` was taken on `service`. It is kept whether or not it was allowed.

    Raises: Invalid, when the profile has no such action or no service is named.
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
    with ctx.store.write(ctx.space) as tx:
        known_session(tx, Source(session=session), attempt.created_at)
        tx.cooldowns.add(attempt)
    return attempt


def cooldowns(*, ctx: SpaceContext, service: str | None = None) -> list[Standing]:
    """Each service and action of which something lies inside its window, and whether another is allowed."""
    known, now = ctx.profile.cooldowns, ctx.now()
    if not known:
        return []
    since = now - max(window(cooldown) for cooldown in known)
    with ctx.store.read(ctx.space) as tx:
        return standings(tx.cooldowns.since(since, service=service), known, now)
