"""Access tokens: the secret is shown once, and stored as a hash."""

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

_PREFIX = "hf_"  # so that scanners for leaked secrets, and people, recognise a token
_LENGTH = len(_PREFIX) + 43
_MOST_NAME = 200
_NOTED_EVERY = timedelta(hours=1)  # a token in constant use is recorded this often


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
) -> IssuedToken:
    """Creates a token for some spaces or all.

    Raises: Invalid, for an unknown scope, a proxy token that is not for one space, or a metrics token that is
    not for all; NotFound, for an unknown space.
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
    """The grant of a secret; None if it is unknown or revoked.

    Raises: Unavailable.
    """
    if len(secret) != _LENGTH or not secret.startswith(_PREFIX) or not secret.isascii():
        return None
    return grant_by_hash(hashed(secret), store=store, now=now)


def grant_by_hash(token_hash: str, *, store: Store, now: datetime) -> Grant | None:
    """As `grant_of`, by the hash of the secret."""
    token = store.tokens.by_hash(token_hash)
    if token is None or token.revoked_at is not None:
        return None
    if token.used_at is None or now - token.used_at >= _NOTED_EVERY:
        with suppress(Unavailable):  # only a record: a full disk must not prevent reading
            store.tokens.used(token.id, now)
    return Grant.of(*token.scopes, spaces=token.spaces, token=token.id)


def hashed(secret: str) -> str:
    """The hash of a secret. It has 256 random bits, so a plain hash is safe."""
    return hashlib.sha256(secret.encode()).hexdigest()
