"""Queries over spaces and tokens, the tables that are not inside a space."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, or_, select, update

from holdfast.domain.space import Space, Token
from holdfast.profiles import profile_named
from holdfast.store.mapping import row_of, value_of, values_of
from holdfast.store.queries import queries_of
from holdfast.store.rows import plain_row, stored_row
from holdfast.store.schema import heads, spaces, tokens
from holdfast.store.types import DamagedValue

Connected = Callable[[], AbstractContextManager[Connection]]

# Made once: every transaction begins with it.
_NAMED = select(spaces).where(spaces.c.name == bindparam("wanted"))
_LOCKED = select(heads.c.seq).where(heads.c.space == bindparam("wanted")).with_for_update()
_COUNTED = update(heads).where(heads.c.space == bindparam("wanted")).values(writes=heads.c.writes + 1)


class SpaceTable:
    """Which spaces there are."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> list[Space]:
        rows = self._connection.execute(select(spaces).order_by(spaces.c.name))
        return [_checked(space) for space in values_of(Space, rows)]

    def get(self, name: str) -> Space | None:
        row = self._connection.execute(_NAMED, {"wanted": name}).one_or_none()
        return _checked(value_of(Space, row)) if row else None

    def add(self, space: Space) -> bool:
        """Adds it; false when the name is taken."""
        values = {**row_of(space), "has_work": False}
        if not queries_of(self._connection).insert_new(spaces, values):
            return False
        self._connection.execute(insert(heads).values(_first_numbers(space)))
        return True

    def save(self, space: Space) -> bool:
        """Stores what may change of a space: all but its profile and key; false when there is none."""
        fixed = ("name", "profile", "profile_text", "key", "created_at")
        row = {name: value for name, value in row_of(space).items() if name not in fixed}
        mine = update(spaces).where(spaces.c.name == space.name)
        return bool(self._connection.execute(mine.values(row)).rowcount)

    def remove(self, name: str) -> None:
        """Removes a space with everything in it."""
        self._connection.execute(delete(spaces).where(spaces.c.name == name))

    def lock(self, name: str, *, counted: bool) -> None:
        """Waits until no other writer is in the space. Replicas have to show what is `counted`."""
        self._connection.execute(_COUNTED if counted else _LOCKED, {"wanted": name})


def _first_numbers(space: Space) -> dict[str, Any]:
    ranked_by = profile_named(space.profile, space.profile_text).rank_rules
    return {"space": space.name, "seq": 0, "messages": 0, "vectors": 0, "ranked_by": ranked_by}


def _checked(space: Space) -> Space:
    """A space with its key as it was made; another would no longer know the texts that were erased."""
    try:
        bytes.fromhex(space.key)
    except (TypeError, ValueError):
        raise DamagedValue from None
    return space


def leave_tokens(connection: Connection, space: str) -> None:
    """Takes a space out of every token, so that none opens a later space of the same name."""
    for token in values_of(Token, connection.execute(select(tokens))):
        if token.spaces is not None and space in token.spaces:
            left = [name for name in token.spaces if name != space]
            connection.execute(update(tokens).where(tokens.c.id == token.id).values(spaces=left))


class TokenTable:
    """Who may enter which spaces. Its callers are in no transaction: each call is one of its own."""

    def __init__(self, looking: Connected, changing: Connected) -> None:
        self._looking = looking
        self._changing = changing

    def add(self, token: Token) -> None:
        with self._changing() as connection:
            connection.execute(insert(tokens), row_of(token))

    def all(self) -> list[Token]:
        """Oldest first."""
        with self._looking() as connection:
            query = select(tokens).order_by(tokens.c.created_at, tokens.c.id)
            return values_of(Token, connection.execute(query))

    def rows(self) -> list[dict[str, Any]]:
        """All of them as plain rows, for a backup."""
        with self._looking() as connection:
            found = connection.execute(select(tokens).order_by(tokens.c.id))
            return [plain_row(dict(row._mapping)) for row in found]

    def insert(self, row: dict[str, Any]) -> bool:
        """Puts in a row of a backup; false when its id or its hash is taken."""
        with self._changing() as connection:
            return queries_of(connection).insert_new(tokens, stored_row(tokens, row))

    def by_hash(self, secret_hash: str) -> Token | None:
        """The token with this secret, or with this one before it was rotated."""
        with self._looking() as connection:
            either = or_(tokens.c.hash == secret_hash, tokens.c.old_hash == secret_hash)
            row = connection.execute(select(tokens).where(either)).first()
            return value_of(Token, row) if row else None

    def save(self, token: Token) -> None:
        """Brings the row of a token up to date, but for when it was used or revoked."""
        row = {name: value for name, value in row_of(token).items() if name not in ("used_at", "revoked_at")}
        with self._changing() as connection:
            connection.execute(update(tokens).where(tokens.c.id == token.id).values(row))

    def revoke(self, token_id: str, now: datetime) -> Token | None:
        """Ends a token; one that has ended stays as it is. None when there is no such token."""
        one = tokens.c.id == token_id
        with self._changing() as connection:
            connection.execute(
                update(tokens).where(one, tokens.c.revoked_at.is_(None)).values(revoked_at=now)
            )
            row = connection.execute(select(tokens).where(one)).one_or_none()
            return value_of(Token, row) if row else None

    def used(self, token_id: str, now: datetime) -> None:
        with self._changing() as connection:
            connection.execute(update(tokens).where(tokens.c.id == token_id).values(used_at=now))
