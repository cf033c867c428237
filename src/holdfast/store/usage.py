"""How much a space holds and who read it: sums that every write keeps, and the access log."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Text, select, text, type_coerce

from holdfast.domain.space import Access, Stored
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import access_log, memories, messages, usage, versions

_ALL = ""  # the row of the whole space
_ADD = text(
    "INSERT INTO usage (space, token, memories, messages, bytes) "
    "VALUES (:space, :token, :memories, :messages, :bytes) ON CONFLICT (space, token) DO UPDATE SET "
    "memories = usage.memories + excluded.memories, messages = usage.messages + excluded.messages, "
    "bytes = usage.bytes + excluded.bytes RETURNING memories, messages, bytes"
)


def size(content: str | None) -> int:
    """The bytes of a text."""
    return len((content or "").encode("utf-8", "surrogatepass"))


class UsageTable(SpaceRows):
    """The sums of one space. The tables report what they add; nothing is counted again."""

    def __init__(self, connection: Connection, space: str) -> None:
        super().__init__(connection, space)
        self._grown = {"memories": 0, "messages": 0, "bytes": 0}

    def grow(self, **more: int) -> None:
        """So many more memories, messages or bytes, or fewer, are stored."""
        for name, amount in more.items():
            self._grown[name] += amount

    def settle(self, token: str | None = None) -> tuple[Stored, Stored, Stored] | None:
        """Adds what the transaction stored: that, what the space holds now, and what the token has added.

        None if it stored nothing. What a transaction removes is not given back to a token.
        """
        if not any(self._grown.values()):
            return None
        grown, self._grown = self._grown, dict.fromkeys(self._grown, 0)
        whole = self._added(_ALL, grown)
        more = {name: max(amount, 0) for name, amount in grown.items()}
        return Stored(**grown), whole, self._added(token, more) if token is not None else Stored()

    def total(self) -> Stored:
        """What the space holds."""
        query = select(usage.c.memories, usage.c.messages, usage.c.bytes)
        row = self._connection.execute(query.where(*self._row(_ALL))).first()
        return Stored(memories=row[0], messages=row[1], bytes=row[2]) if row else Stored()

    def by_token(self) -> dict[str, Stored]:
        """What each token has added."""
        query = select(usage).where(usage.c.space == self._space, usage.c.token != _ALL)
        rows = self._connection.execute(query.order_by(usage.c.token))
        return {
            row.token: Stored(memories=row.memories, messages=row.messages, bytes=row.bytes) for row in rows
        }

    def raise_to(self, added: Mapping[str, Stored]) -> None:
        """Each token has added at least this: what a backup says, where it says more."""
        known = self.by_token()
        for token, stored in added.items():
            so_far = known.get(token, Stored())
            self._added(
                token, {name: max(n - getattr(so_far, name), 0) for name, n in asdict(stored).items()}
            )

    def is_counted(self) -> bool:
        return self._is_any(usage, usage.c.token == _ALL)

    def recount(self) -> None:
        """Makes the sum of the whole space anew, from all of its rows."""
        self._grown = dict.fromkeys(self._grown, 0)
        texts = [
            select(table.c.content).where(table.c.space == self._space) for table in (versions, messages)
        ]
        rows = (row for query in texts for row in self._connection.execute(query))
        counted = {"bytes": sum(size(row[0]) for row in rows)}
        counted |= {"memories": self._count(memories), "messages": self._count(messages)}
        self._remove(usage, usage.c.token == _ALL)
        self._added(_ALL, counted)

    def _added(self, token: str, more: dict[str, int]) -> Stored:
        row = self._connection.execute(_ADD, {"space": self._space, "token": token, **more}).one()
        return Stored(memories=row[0], messages=row[1], bytes=row[2])

    def _row(self, token: str) -> tuple[ColumnElement[bool], ...]:
        return usage.c.space == self._space, usage.c.token == token


class AccessTable(SpaceRows):
    """The access log of one space."""

    def add(self, access: Access) -> None:
        self._add([access])

    def latest(
        self,
        limit: int,
        *,
        memory: str | None = None,
        token: str | None = None,
        door: str | None = None,
        since: datetime | None = None,
    ) -> list[Access]:
        """The newest first; `memory` is one that was shown."""
        wanted = []
        if memory is not None:  # inside of a JSON text an id stands in quotes
            wanted.append(type_coerce(access_log.c.memories, Text).contains(f'"{memory}"', autoescape=True))
        if token is not None:
            wanted.append(access_log.c.token == token)
        if door is not None:
            wanted.append(access_log.c.door == door)
        if since is not None:
            wanted.append(access_log.c.at >= since)
        query = self._select(Access, *wanted).order_by(access_log.c.at.desc(), access_log.c.id)
        return self._values(Access, query.limit(limit))

    def drop_before(self, moment: datetime) -> int:
        """Removes what is older; answers how many."""
        return self._remove(access_log, access_log.c.at < moment)

    def any_before(self, moment: datetime) -> bool:
        return self._is_any(access_log, access_log.c.at < moment)
