"""Tokens: what a caller shows to be let into spaces. Shown once, kept as a hash."""

import hashlib
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from holdfast.domain.access import Grant
from holdfast.domain.space import Token
from holdfast.engine.events import one_line
from holdfast.engine.ports import Clock, NewId, Store
from holdfast.errors import Invalid, Unavailable, no_space

_PREFIX = "hf_"  # so that scanners for leaked secrets, and people, know one when they see it
_LENGTH = len(_PREFIX) + 43
_MOST_NAME = 200
_NOTED_EVERY = timedelta(hours=1)  # a token that is shown all day writes this often


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token just made, with the secret that nobody is shown again."""

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
) -> IssuedToken:
    """Makes a token for some spaces, or for all.

    Raises: Invalid, for an unknown scope, a proxy's token that is not for one space, or one for metrics that
    is not for all; NotFound, for an unknown space.
    """
    grant = Grant.of(*scopes, spaces=tuple(dict.fromkeys(spaces)) if spaces is not None else None)
    if not scopes:
        raise Invalid("a token needs at least one scope", field="scope")
    if "proxy" in scopes and (grant.spaces is None or len(grant.spaces) != 1):
        raise Invalid("a proxy token is for one space: name the space", field="space")
    if "metrics" in scopes and grant.spaces is not None:
        raise Invalid("metrics cover all spaces: a metrics token must be for all spaces", field="space")
    for space in grant.spaces or ():
        if store.space(space) is None:
            raise no_space(space)
    secret = _PREFIX + secrets.token_urlsafe(32)
    token = Token(
        id=ids(),
        name=one_line(name, "name", _MOST_NAME),
        hash=hashed(secret),
        scopes=tuple(dict.fromkeys(scopes)),
        spaces=grant.spaces,
        created_at=clock(),
    )
    store.tokens.add(token)
    return IssuedToken(token, secret)


def grant_of(secret: str, *, store: Store, now: datetime) -> Grant | None:
    """What the holder of `secret` may do; none for one that is unknown or was revoked.

    Raises: Unavailable.
    """
    if len(secret) != _LENGTH or not secret.startswith(_PREFIX) or not secret.isascii():
        return None
    return grant_by_hash(hashed(secret), store=store, now=now)


def grant_by_hash(token_hash: str, *, store: Store, now: datetime) -> Grant | None:
    """The same for a secret that was shown before and of which only the hash was kept."""
    token = store.tokens.by_hash(token_hash)
    if token is None or token.revoked_at is not None:
        return None
    if token.used_at is None or now - token.used_at >= _NOTED_EVERY:
        with suppress(Unavailable):  # a note, which must not keep out a reader of a full disk
            store.tokens.used(token.id, now)
    return Grant.of(*token.scopes, spaces=token.spaces, token=token.id)


def hashed(secret: str) -> str:
    """What is kept of a secret. It is 256 bits of chance, so a plain hash can't be guessed back."""
    return hashlib.sha256(secret.encode()).hexdigest()
