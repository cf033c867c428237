"""Queries over spaces themselves, the one table that is not inside a space."""

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from holdfast.engine.ports import Space
from holdfast.store.rows import AnyRow
from holdfast.store.schema import heads, spaces
from holdfast.store.types import DamagedValue
from holdfast.store.upsert import insert_new

# Made once: every transaction begins with it.
_NAMED = select(spaces).where(spaces.c.name == bindparam("wanted"))


class SpaceTable:
    """Which spaces there are."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> list[Space]:
        return [_space(row) for row in self._connection.execute(select(spaces).order_by(spaces.c.name))]

    def get(self, name: str) -> Space | None:
        row = self._connection.execute(_NAMED, {"wanted": name}).one_or_none()
        return _space(row) if row else None

    def add(self, space: Space) -> bool:
        """Adds it; false when the name is taken."""
        values = {
            "name": space.name,
            "profile": space.profile,
            "profile_text": space.profile_text,
            "key": space.key,
            "has_work": False,
            "keeps_messages": space.keeps_messages,
            "created_at": space.created_at,
        }
        if not insert_new(self._connection, spaces, values):
            return False
        self._connection.execute(insert(heads).values(space=space.name, seq=0, messages=0, vectors=0))
        return True

    def save(self, space: Space) -> bool:
        """Stores what may change of a space: whether it keeps messages; false when there is no such space."""
        mine = update(spaces).where(spaces.c.name == space.name)
        return bool(self._connection.execute(mine.values(keeps_messages=space.keeps_messages)).rowcount)

    def remove(self, name: str) -> None:
        """Removes a space with everything in it."""
        self._connection.execute(delete(spaces).where(spaces.c.name == name))

    def lock(self, name: str) -> bool:
        """Waits until no other writer is in the space; false when there is no such space."""
        query = select(heads.c.seq).where(heads.c.space == name).with_for_update()
        return self._connection.execute(query).one_or_none() is not None


def _space(row: AnyRow) -> Space:
    return Space(
        name=row.name,
        profile=row.profile,
        profile_text=row.profile_text,
        key=_key(row.key),
        created_at=row.created_at,
        keeps_messages=bool(row.keeps_messages),
    )


def _key(value: str) -> str:
    """A key as it was made; another would no longer know the texts that were erased."""
    try:
        bytes.fromhex(value)
    except (TypeError, ValueError):
        raise DamagedValue from None
    return value
