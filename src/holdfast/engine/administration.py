"""`Administration`: the spaces of one database and who may enter them, for whoever holds the right grant.

The counterpart of `Memories`, which knows one space from inside.
"""

from holdfast.app import wiring
from holdfast.domain.access import EVERYTHING, METRICS_EVERYWHERE, Grant, needs
from holdfast.domain.space import Space, Token
from holdfast.engine import spaces, stats, tokens
from holdfast.engine.ports import Clock, NewId, Store
from holdfast.engine.spaces import DEFAULT, Overview
from holdfast.engine.stats import Figures
from holdfast.engine.tokens import IssuedToken
from holdfast.errors import NotFound


class Administration:
    """Spaces and tokens; what the grant does not reach looks as if it were not there."""

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
        """The same for whoever holds `grant`."""
        return Administration(self._store, clock=self._clock, ids=self._ids, grant=grant)

    @needs("read")
    def spaces(self) -> list[Overview]:
        """The spaces within reach and how much is in them."""
        return [spaces.overview(name, store=self._store) for name in self.names()]

    @needs("read")
    def names(self) -> list[str]:
        """The names of the spaces within reach, without a look into them."""
        return [space.name for space in self._store.spaces() if self._grant.reaches(space.name)]

    @needs("read")
    def space(self, name: str) -> Overview:
        """One space.

        Raises: NotFound.
        """
        return spaces.overview(self._grant.require_space(name), store=self._store)

    @needs("admin", everywhere="this token is limited to its own spaces: use a token for all spaces")
    def create_space(
        self, name: str, *, profile: str = DEFAULT, text: str | None = None, keeps_messages: bool = True
    ) -> Space:
        """Makes a space; only for who administers all of them.

        Raises: Forbidden, Invalid, Conflict.
        """
        made = spaces.create_space(name, store=self._store, clock=self._clock, profile=profile, text=text)
        if keeps_messages:
            return made
        return spaces.set_keeps_messages(name, False, store=self._store)

    @needs("admin")
    def change_space(self, name: str, *, keeps_messages: bool) -> Space:
        """Says whether a space stores what is said in its sessions.

        Raises: NotFound.
        """
        return spaces.set_keeps_messages(self._grant.require_space(name), keeps_messages, store=self._store)

    @needs("admin")
    def delete_space(self, name: str) -> Overview:
        """Removes a space with everything in it, for good; answers what was there.

        Raises: NotFound.
        """
        gone = spaces.overview(self._grant.require_space(name), store=self._store)
        spaces.delete_space(name, store=self._store)
        return gone

    @needs("metrics", everywhere=METRICS_EVERYWHERE)
    def figures(self, *, embedder: str | None = None) -> Figures:
        """How much there is and how much waits, in all spaces together; `embedder` is the one in use.

        Raises: Forbidden, to who reaches some spaces only.
        """
        return stats.figures(store=self._store, now=self._clock(), embedder=embedder)

    @needs("admin")
    def tokens(self) -> list[Token]:
        """The tokens that open nothing but spaces within reach, ended ones too."""
        return [token for token in self._store.tokens.all() if self._covers(token.spaces)]

    @needs("admin")
    def create_token(
        self, *scopes: str, spaces: tuple[str, ...] | None = None, name: str | None = None
    ) -> IssuedToken:
        """Makes a token for spaces within reach, or for all of them.

        Raises: Forbidden, Invalid, NotFound.
        """
        if spaces is None:
            limited = "this token is limited to its own spaces: name one of them"
            self._grant.require("admin", everywhere=limited)
        for space in spaces or ():
            self._grant.require_space(space)
        return tokens.create_token(
            store=self._store, clock=self._clock, ids=self._ids, scopes=scopes, spaces=spaces, name=name
        )

    @needs("admin")
    def revoke_token(self, token_id: str) -> Token:
        """Ends a token at once.

        Raises: NotFound.
        """
        known = {token.id for token in self.tokens()}
        ended = self._store.tokens.revoke(token_id, self._clock()) if token_id in known else None
        if ended is None:
            raise NotFound(f"there is no token {token_id!r}", command="see `holdfast token list`")
        return ended

    def _covers(self, names: tuple[str, ...] | None) -> bool:
        if self._grant.spaces is None:
            return True
        return names is not None and all(self._grant.reaches(name) for name in names)
