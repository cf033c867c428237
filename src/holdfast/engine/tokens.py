"""Access tokens: the secret is shown once, and stored as a hash."""

import hashlib
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from holdfast.domain.access import Grant, checked_person
from holdfast.domain.space import NO_QUOTA, Quota, Token
from holdfast.engine.events import one_line
from holdfast.engine.ports import Clock, NewId, Store
from holdfast.engine.quota import checked
from holdfast.errors import Conflict, Invalid, TokenExpired, Unavailable, no_space

_PREFIX = "hf_"  # so that scanners for leaked secrets, and people, recognise a token
_LENGTH = len(_PREFIX) + 43
_MOST_NAME = 200
_NOTED_EVERY = timedelta(hours=1)  # a token in constant use is recorded this often
LIFETIME: Final = timedelta(days=365)  # unless said otherwise
NEVER: Final = "never"
_LONGEST = timedelta(days=3_650)
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_MOST_REQUESTS = 1_000_000  # a minute


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token with its secret, which is not shown again."""

    token: Token
    secret: str


def create_token(
    *,
    store: Store,
    clock: Clock,
    ids: NewId,
    scopes: tuple[str, ...],
    spaces: tuple[str, ...] | None,
    name: str | None = None,
    lifetime: timedelta | None = LIFETIME,
    max_requests: int | None = None,
    quota: Quota = NO_QUOTA,
    person: str | None = None,
) -> IssuedToken:
    """Creates a token for some spaces or all; without a `lifetime` it never expires.

    Raises: Invalid, for a scope that is unknown or does not fit the spaces; NotFound, for an unknown space.
    """
    grant = Grant.of(*scopes, spaces=tuple(dict.fromkeys(spaces)) if spaces else spaces)
    if not scopes:
        raise Invalid("a token needs at least one scope", field="scope")
    if "proxy" in scopes and (grant.spaces is None or len(grant.spaces) != 1):
        raise Invalid("a proxy token is for one space: name the space", field="space")
    if "metrics" in scopes and grant.spaces is not None:
        raise Invalid("metrics cover all spaces: a metrics token must be for all spaces", field="space")
    _check_spaces(grant, store)
    secret, now = _new_secret(), clock()
    token = Token(
        id=ids(),
        name=one_line(name, "name", _MOST_NAME),
        hash=hashed(secret),
        scopes=tuple(dict.fromkeys(scopes)),
        spaces=grant.spaces,
        created_at=now,
        expires_at=now + lifetime if lifetime is not None else None,
        max_requests=_checked_rate(max_requests),
        quota=checked(quota),
        person=checked_person(person),
    )
    store.tokens.add(token)
    return IssuedToken(token, secret)


def _check_spaces(grant: Grant, store: Store) -> None:
    for space in grant.spaces or ():
        if store.space(space) is None:
            raise no_space(space)


def rotate_token(
    token: Token, *, store: Store, now: datetime, grace: timedelta, lifetime: timedelta | None
) -> IssuedToken:
    """Gives a token a new secret; the old one works for the time of `grace`.

    Raises: Conflict, if it was revoked.
    """
    if token.revoked_at is not None:
        raise Conflict(f"token {token.id} was revoked: create a new one")
    secret = _new_secret()
    rotated = replace(
        token,
        hash=hashed(secret),
        old_hash=token.hash,
        old_until=now + grace,
        rotated_at=now,
        expires_at=now + lifetime if lifetime is not None else None,
    )
    store.tokens.save(rotated)
    return IssuedToken(rotated, secret)


def limited(token: Token, *, store: Store, max_requests: int | None, quota: Quota) -> Token:
    """Gives a token other limits.

    Raises: Invalid.
    """
    changed = replace(token, max_requests=_checked_rate(max_requests), quota=checked(quota))
    store.tokens.save(changed)
    return changed


def lifetime_of(token: Token) -> timedelta | None:
    """For how long a token was made, or last rotated; None: for ever."""
    return token.expires_at - (token.rotated_at or token.created_at) if token.expires_at else None


def duration(text: str, field: str) -> timedelta:
    """The time that a text names: 24h, 90d, 8w.

    Raises: Invalid.
    """
    found = re.fullmatch(r"(\d{1,6})([hdw])", text.strip(), re.ASCII)
    given = int(found[1]) * _UNITS[found[2]] if found else None
    if given is None or given > _LONGEST:
        raise Invalid(
            f"{field}: {text[:40]!r} is not a time: use hours, days or weeks, at most {_LONGEST.days} days, "
            "such as 24h, 90d or 8w",
            field=field,
        )
    return given


def lifetime(text: str) -> timedelta | None:
    """The same for how long a token works; None for `never`. Raises: Invalid."""
    found = duration(text, "expires") if text.strip() != NEVER else None
    if found == timedelta():
        raise Invalid("expires: a token has to work for at least 1h: use for example 90d", field="expires")
    return found


def _new_secret() -> str:
    return _PREFIX + secrets.token_urlsafe(32)


def _checked_rate(most: int | None) -> int | None:
    if most is not None and not 1 <= most <= _MOST_REQUESTS:
        says = f"max_requests must be 1 to {_MOST_REQUESTS:,} a minute, not {most:,}"
        raise Invalid(says, field="max_requests")
    return most


def grant_of(secret: str, *, store: Store, now: datetime) -> Grant | None:
    """The grant of a secret; None if it is unknown or revoked.

    Raises: TokenExpired, Unavailable.
    """
    if len(secret) != _LENGTH or not secret.startswith(_PREFIX) or not secret.isascii():
        return None
    return grant_by_hash(hashed(secret), store=store, now=now)


def grant_by_hash(token_hash: str, *, store: Store, now: datetime) -> Grant | None:
    """As `grant_of`, by the hash of the secret."""
    token = store.tokens.by_hash(token_hash)
    if token is None or token.revoked_at is not None:
        return None
    until = token.expires_at
    if token.hash != token_hash:
        if token.old_until is None or now >= token.old_until:
            raise TokenExpired(f"this token was rotated on {_day(token.rotated_at)}: use its new secret")
        until = min(filter(None, (until, token.old_until)))
    if token.expires_at is not None and now >= token.expires_at:
        raise TokenExpired(
            f"this token ({token.id}) expired on {_day(token.expires_at)}: rotate it, or create a new one"
        )
    if token.used_at is None or now - token.used_at >= _NOTED_EVERY:
        with suppress(Unavailable):  # only a record: a full disk must not prevent reading
            store.tokens.used(token.id, now)
    grant = Grant.of(*token.scopes, spaces=token.spaces, token=token.id)
    return replace(
        grant, until=until, max_requests=token.max_requests, quota=token.quota, person=token.person
    )


def _day(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d") if moment is not None else "some day"


def hashed(secret: str) -> str:
    """The hash of a secret. It has 256 random bits, so a plain hash is safe."""
    return hashlib.sha256(secret.encode()).hexdigest()
