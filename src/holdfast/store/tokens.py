"""Queries over tokens: who may enter which spaces. They are not inside a space themselves."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from holdfast.engine.ports import Token
from holdfast.store.rows import AnyRow
from holdfast.store.schema import tokens

Connected = Callable[[], AbstractContextManager[Connection]]


class TokenTable:
    """Tokens, on a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, token: Token) -> None:
        values = {
            "id": token.id,
            "name": token.name,
            "hash": token.hash,
            "scopes": list(token.scopes),
            "spaces": None if token.spaces is None else list(token.spaces),
            "created_at": token.created_at,
            "revoked_at": token.revoked_at,
            "used_at": token.used_at,
        }
        self._connection.execute(insert(tokens).values(values))

    def all(self) -> list[Token]:
        """Oldest first."""
        query = select(tokens).order_by(tokens.c.created_at, tokens.c.id)
        return [_token(row) for row in self._connection.execute(query)]

    def by_hash(self, secret_hash: str) -> Token | None:
        row = self._connection.execute(select(tokens).where(tokens.c.hash == secret_hash)).one_or_none()
        return _token(row) if row else None

    def revoke(self, token_id: str, now: datetime) -> Token | None:
        """Ends a token; one that has ended stays as it is. None when there is no such token."""
        one = tokens.c.id == token_id
        ending = update(tokens).where(one, tokens.c.revoked_at.is_(None)).values(revoked_at=now)
        self._connection.execute(ending)
        row = self._connection.execute(select(tokens).where(one)).one_or_none()
        return _token(row) if row else None

    def used(self, token_id: str, now: datetime) -> None:
        self._connection.execute(update(tokens).where(tokens.c.id == token_id).values(used_at=now))

    def leave(self, space: str) -> None:
        """Takes a space out of every token, so that none opens a later space of the same name."""
        for token in self.all():
            if token.spaces is not None and space in token.spaces:
                left = [name for name in token.spaces if name != space]
                self._connection.execute(update(tokens).where(tokens.c.id == token.id).values(spaces=left))


class OpenTokens:
    """The same for callers who are in no transaction: each call is one of its own."""

    def __init__(self, looking: Connected, changing: Connected) -> None:
        self._looking = looking
        self._changing = changing

    def add(self, token: Token) -> None:
        with self._changing() as connection:
            TokenTable(connection).add(token)

    def all(self) -> list[Token]:
        with self._looking() as connection:
            return TokenTable(connection).all()

    def by_hash(self, secret_hash: str) -> Token | None:
        with self._looking() as connection:
            return TokenTable(connection).by_hash(secret_hash)

    def revoke(self, token_id: str, now: datetime) -> Token | None:
        with self._changing() as connection:
            return TokenTable(connection).revoke(token_id, now)

    def used(self, token_id: str, now: datetime) -> None:
        with self._changing() as connection:
            TokenTable(connection).used(token_id, now)


def _token(row: AnyRow) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        hash=row.hash,
        scopes=tuple(row.scopes),
        spaces=None if row.spaces is None else tuple(row.spaces),
        created_at=row.created_at,
        revoked_at=row.revoked_at,
        used_at=row.used_at,
    )
