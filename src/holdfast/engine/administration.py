"""`Administration`: manages the spaces and tokens of one database, within a grant.

The counterpart of `Memories`, which works inside one space.
"""

from dataclasses import asdict
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, TypedDict, Unpack

from holdfast.app import wiring
from holdfast.domain.access import EVERYTHING, METRICS_EVERYWHERE, Grant, needs
from holdfast.domain.space import NO_QUOTA, Access, Quota, Space, Token
from holdfast.engine import spaces, stats, tokens
from holdfast.engine.doors import DOOR
from holdfast.engine.ports import Clock, NewId, Store
from holdfast.engine.security_log import tell
from holdfast.engine.spaces import DEFAULT, Overview
from holdfast.engine.stats import Figures
from holdfast.engine.tokens import LIFETIME, IssuedToken
from holdfast.errors import Forbidden, NotFound


class Same(Enum):
    """Stands for a value that stays as it is."""

    SAME = "same"


SAME: Final = Same.SAME


class SpaceLimits(TypedDict, total=False):
    """The limits of a space; None: no limit."""

    max_memories: int | None
    max_messages: int | None
    max_bytes: int | None


class SpaceOptions(SpaceLimits, total=False):
    """What can be changed of a space."""

    keeps_messages: bool | None
    access_log: bool | None
    access_log_days: int | None


class TokenLimits(SpaceLimits, total=False):
    """The limits of a token."""

    max_requests: int | None  # a minute


def changed(quota: Quota, limits: SpaceLimits) -> Quota:
    """A quota with some of its limits changed."""
    now: dict[str, Any] = {name: limits.get(name, most) for name, most in asdict(quota).items()}
    return Quota(**now)


def _limits(max_requests: int | None, quota: Quota) -> dict[str, int | None]:
    return {"max_requests": max_requests, **asdict(quota)}


def _no_token(token_id: str) -> NotFound:
    return NotFound(f"there is no token {token_id!r}", command="see `holdfast token list`")


class Administration:
    """Manages spaces and tokens; what the grant does not cover looks as if it did not exist."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock = wiring.utc_now,
        ids: NewId = wiring.new_id,
        grant: Grant = EVERYTHING,
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._grant = grant

    def granted(self, grant: Grant) -> "Administration":
        """The same object, limited to `grant`."""
        return Administration(self._store, clock=self._clock, ids=self._ids, grant=grant)

    @needs("read")
    def spaces(self) -> list[Overview]:
        """The spaces that the grant covers, with counts of their contents."""
        return [spaces.overview(name, store=self._store) for name in self.names()]

    @needs("read")
    def names(self) -> list[str]:
        """The names of the spaces that the grant covers; cheaper than `spaces`."""
        return [space.name for space in self._store.spaces() if self._grant.reaches(space.name)]

    @needs("read")
    def space(self, name: str) -> Overview:
        """One space with its counts.

        Raises: NotFound.
        """
        return spaces.overview(self._grant.require_space(name), store=self._store)

    @needs("admin", everywhere="this token is limited to its own spaces: use a token for all spaces")
    def create_space(
        self, name: str, *, profile: str = DEFAULT, text: str | None = None, keeps_messages: bool = True
    ) -> Space:
        """Creates a space; this needs a grant for all spaces.

        Raises: Forbidden, Invalid, Conflict.
        """
        made = spaces.create_space(name, store=self._store, clock=self._clock, profile=profile, text=text)
        tell(self._grant, f"created space {name}")
        if keeps_messages:
            return made
        return spaces.set_keeps_messages(name, False, store=self._store)

    @needs("admin")
    def change_space(self, name: str, **settings: Unpack[SpaceOptions]) -> Space:
        """Changes settings of a space: what it stores, its quota, its access log. What is not named stays.

        Raises: NotFound, Invalid.
        """
        known = self._store.space(self._grant.require_space(name))
        quota = changed(known.quota, settings) if known is not None else NO_QUOTA
        named = {key: value for key, value in settings.items() if value is not None}
        plain: Any = {key: value for key, value in named.items() if key not in SpaceLimits.__annotations__}
        was_on = known is not None and known.access_log
        is_on = plain.get("access_log", was_on)
        if was_on and not is_on:
            self._record_switch(name, "off")  # first, or somebody could turn it off without a trace
        after = spaces.change_space(name, store=self._store, quota=quota, **plain)
        if is_on and not was_on:
            self._record_switch(name, "on")
        tell(self._grant, f"changed the settings of space {name}")
        return after

    def _record_switch(self, name: str, state: str) -> None:
        """The access log itself says by whom it was turned on and off."""
        told = Access(
            id=self._ids(),
            at=self._clock(),
            token=self._grant.token,
            door=DOOR.get(),
            verb=f"access_log_{state}",
        )
        with self._store.write(name) as tx:
            tx.accesses.add(told)

    @needs("admin")
    def delete_space(self, name: str) -> Overview:
        """Deletes a space and its contents permanently, and returns what it contained.

        Raises: NotFound.
        """
        gone = spaces.overview(self._grant.require_space(name), store=self._store)
        spaces.delete_space(name, store=self._store)
        tell(self._grant, f"deleted space {name}")
        return gone

    @needs("metrics", everywhere=METRICS_EVERYWHERE)
    def figures(self, *, embedder: str | None = None) -> Figures:
        """Totals over all spaces; `embedder` is the name of the configured one.

        Raises: Forbidden, if the grant covers only some spaces.
        """
        return stats.figures(store=self._store, now=self._clock(), embedder=embedder)

    @needs("admin")
    def tokens(self) -> list[Token]:
        """The tokens for spaces that the grant covers, including revoked ones."""
        return [token for token in self._store.tokens.all() if self._covers(token.spaces)]

    @needs("admin")
    def create_token(
        self,
        *scopes: str,
        spaces: tuple[str, ...] | None = None,
        name: str | None = None,
        lifetime: timedelta | Same | None = SAME,
        max_requests: int | None = None,
        quota: Quota = NO_QUOTA,
        person: str | None = None,
    ) -> IssuedToken:
        """Creates a token for spaces that the grant covers; with None for `lifetime` it never expires.

        It may do no more, works no longer and is of the same `person` as the token that creates it, whose
        limits it gets where none are named. Raises: Forbidden, Invalid, NotFound.
        """
        if spaces is None:
            limited = "this token is limited to its own spaces: name one of them"
            self._grant.require("admin", everywhere=limited)
        for space in spaces or ():
            self._grant.require_space(space)
        self._grant.require_person(person)
        named = {key: most for key, most in _limits(max_requests, quota).items() if most is not None}
        self._check_limits(**named)
        limits = {**_limits(self._grant.max_requests, self._grant.quota), **named}
        now = self._clock()
        made = tokens.create_token(
            store=self._store,
            clock=lambda: now,
            ids=self._ids,
            scopes=scopes,
            spaces=spaces,
            name=name,
            lifetime=self._lifetime(lifetime, LIFETIME, now),
            max_requests=limits.pop("max_requests"),
            quota=Quota(**limits),
            person=person,
        )
        within = ", ".join(spaces or ("all spaces",))
        tell(self._grant, f"created token {made.token.id}: {', '.join(scopes)} in {within}")
        return made

    @needs("admin")
    def rotate_token(
        self, token_id: str, *, grace: timedelta = timedelta(), lifetime: timedelta | Same | None = SAME
    ) -> IssuedToken:
        """Gives a token a new secret, and the lifetime that it had; the old secret works for `grace`.

        Raises: NotFound; Conflict, for a revoked one; Forbidden, for one of another person, or that may do
        more than the caller's.
        """
        known, now = self._token(token_id), self._clock()
        self._grant.require_person(known.person)
        self._check_limits(**_limits(known.max_requests, known.quota))
        given = self._lifetime(lifetime, tokens.lifetime_of(known), now)
        rotated = tokens.rotate_token(known, store=self._store, now=now, grace=grace, lifetime=given)
        tell(self._grant, f"rotated token {known.id}")
        return rotated

    @needs("admin")
    def change_token(self, token_id: str, **limits: Unpack[TokenLimits]) -> Token:
        """Changes limits of a token; None removes one, what is not named stays.

        Raises: NotFound, Invalid; Forbidden, for more than the caller's token may do.
        """
        known = self._token(token_id)
        self._check_limits(**limits)
        after = tokens.limited(
            known,
            store=self._store,
            max_requests=limits.get("max_requests", known.max_requests),
            quota=changed(known.quota, limits),
        )
        tell(self._grant, f"changed the limits of token {known.id}")
        return after

    @needs("admin")
    def revoke_token(self, token_id: str) -> Token:
        """Revokes a token with immediate effect.

        Raises: NotFound.
        """
        ended = self._store.tokens.revoke(self._token(token_id).id, self._clock())
        if ended is None:
            raise _no_token(token_id)
        tell(self._grant, f"revoked token {ended.id}")
        return ended

    def _check_limits(self, **limits: int | None) -> None:
        """Raises: Forbidden, for a limit above that of the caller's token."""
        for name, own in _limits(self._grant.max_requests, self._grant.quota).items():
            most = limits.get(name, own)
            if own is not None and (most is None or most > own):
                found = "none" if most is None else f"{most:,}"
                raise Forbidden(f"{name} can't be {found}: your own token is limited to {own:,}")

    def _lifetime(
        self, asked: timedelta | Same | None, usual: timedelta | None, now: datetime
    ) -> timedelta | None:
        """How long a token is to work: not longer than the caller's.

        Raises: Forbidden, if more was asked for.
        """
        given = usual if isinstance(asked, Same) else asked
        until = self._grant.until
        if until is None or (given is not None and now + given <= until):
            return given
        if isinstance(asked, Same):
            return until - now
        raise Forbidden(
            f"your own token expires on {until:%Y-%m-%d}: use an earlier day, or leave expires out"
        )

    def _token(self, token_id: str) -> Token:
        found = next((token for token in self.tokens() if token.id == token_id), None)
        if found is None:
            raise _no_token(token_id)
        return found

    def _covers(self, names: tuple[str, ...] | None) -> bool:
        if self._grant.spaces is None:
            return True
        return names is not None and all(self._grant.reaches(name) for name in names)
