"""Queries over values that may not come back."""

from collections.abc import Collection

from sqlalchemy import Connection, and_, delete, func, or_, select

from holdfast.domain.memory import Tombstone
from holdfast.store.rows import AnyRow
from holdfast.store.schema import tombstones
from holdfast.store.spellings import is_spelt
from holdfast.store.sql_in import one_of
from holdfast.store.upsert import insert_new


class TombstoneTable:
    """The tombstones of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def add(self, tombstone: Tombstone) -> None:
        """Adds it in place of one for the same text: what was erased must lose the text it had."""
        self.lift(tombstone.hash)
        values = {
            "space": self._space,
            "hash": tombstone.hash,
            "reason": tombstone.reason,
            "memory_id": tombstone.memory,
            "category": tombstone.category,
            "subject": tombstone.subject,
            "content": tombstone.content,
            "created_at": tombstone.created_at,
        }
        insert_new(self._connection, tombstones, values)

    def get(self, text_hash: str) -> Tombstone | None:
        query = select(tombstones).where(tombstones.c.space == self._space, tombstones.c.hash == text_hash)
        row = self._connection.execute(query).one_or_none()
        return _tombstone(row) if row else None

    def among(self, hashes: Collection[str]) -> list[Tombstone]:
        """Those of these texts."""
        query = select(tombstones).where(
            tombstones.c.space == self._space, one_of(tombstones.c.hash, hashes, self._connection)
        )
        return [_tombstone(row) for row in self._connection.execute(query)]

    def count(self) -> int:
        query = select(func.count()).select_from(tombstones).where(tombstones.c.space == self._space)
        return int(self._connection.execute(query).scalar_one())

    def of(self, memory_id: str) -> list[Tombstone]:
        query = select(tombstones).where(
            tombstones.c.space == self._space, tombstones.c.memory_id == memory_id
        )
        return [_tombstone(row) for row in self._connection.execute(query)]

    def worded(self, category: str, subject: str | None, limit: int) -> list[Tombstone]:
        """Those on this subject whose text is kept, newest first: a rewording of them is refused too."""
        query = (
            select(tombstones)
            .where(
                tombstones.c.space == self._space,
                tombstones.c.category == category,
                is_spelt(tombstones.c.subject, subject, self._space, self._connection),
                tombstones.c.content.is_not(None),
            )
            .order_by(tombstones.c.created_at.desc(), tombstones.c.hash)
            .limit(limit)
        )
        return [_tombstone(row) for row in self._connection.execute(query)]

    def latest(self, limit: int) -> list[Tombstone]:
        """Those whose text is kept, newest first, whatever they are about."""
        query = (
            select(tombstones)
            .where(tombstones.c.space == self._space, tombstones.c.content.is_not(None))
            .order_by(tombstones.c.created_at.desc(), tombstones.c.hash)
            .limit(limit)
        )
        return [_tombstone(row) for row in self._connection.execute(query)]

    def about(self, hashes: Collection[str], subjects: Collection[str]) -> list[Tombstone]:
        """Those of these texts, and those whose text is kept on one of these subjects or on none."""
        query = select(tombstones).where(
            tombstones.c.space == self._space,
            or_(
                one_of(tombstones.c.hash, hashes, self._connection),
                and_(
                    tombstones.c.content.is_not(None),
                    or_(
                        tombstones.c.subject.is_(None),
                        one_of(tombstones.c.subject, subjects, self._connection),
                    ),
                ),
            ),
        )
        return [_tombstone(row) for row in self._connection.execute(query)]

    def lift(self, text_hash: str) -> None:
        self._connection.execute(
            delete(tombstones).where(tombstones.c.space == self._space, tombstones.c.hash == text_hash)
        )


def _tombstone(row: AnyRow) -> Tombstone:
    return Tombstone(
        hash=row.hash,
        reason=row.reason,
        memory=row.memory_id,
        category=row.category,
        subject=row.subject,
        content=row.content,
        created_at=row.created_at,
    )
