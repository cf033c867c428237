"""Whole tables of a space as plain rows: what export, import and backups are made of."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select, update

from holdfast.engine.ports import FullText
from holdfast.store import schema
from holdfast.store.memories import MemoryTable
from holdfast.store.types import Moment, to_text
from holdfast.store.upsert import insert_new

#: In an order that satisfies the foreign keys. Vectors are left out: they are a cache and can be made again.
TABLES: tuple[Table, ...] = (
    schema.sessions,
    schema.messages,
    schema.memories,
    schema.versions,
    schema.links,
    schema.receipts,
    schema.receipt_items,
    schema.tombstones,
    schema.events,
    schema.cooldowns,
    schema.jobs,
    schema.spend,
    schema.journal,
    schema.calls,
)
_BY_NAME = {table.name: table for table in TABLES}


class TableDump:
    """The rows of one space, table by table, in the order of their keys."""

    def __init__(self, connection: Connection, space: str, words: FullText) -> None:
        self._connection = connection
        self._space = space
        self._words = words

    def tables(self) -> tuple[str, ...]:
        return tuple(_BY_NAME)

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Each row without its space, in JSON's terms."""
        source = _BY_NAME[table]
        query = select(source).where(source.c.space == self._space).order_by(*source.primary_key.columns)
        for row in self._connection.execution_options(yield_per=500).execute(query):
            values = dict(row._mapping)
            del values["space"]
            yield {
                key: to_text(value) if isinstance(value, datetime) else value for key, value in values.items()
            }

    def insert(self, table: str, row: dict[str, Any]) -> bool:
        """Puts a row in unless its key is taken; false when it was. Unknown columns are left out."""
        target = _BY_NAME[table]
        values: dict[str, Any] = {"space": self._space}
        for column in target.columns:
            if column.name in row:
                value = row[column.name]
                is_moment = isinstance(column.type, Moment) and isinstance(value, str)
                values[column.name] = datetime.fromisoformat(value) if is_moment else value
        return insert_new(self._connection, target, values)

    def clear(self, keep: Sequence[str] = ()) -> None:
        """Removes every row of the space, but for the tables to keep; the space itself stays."""
        for memory_id in self._connection.execute(
            select(schema.memories.c.id).where(schema.memories.c.space == self._space)
        ).scalars():
            self._words.drop(memory_id)
        for table in reversed(TABLES):
            if table.name not in keep:
                self._connection.execute(delete(table).where(table.c.space == self._space))
        self._set_seq(0)

    def reindex(self, memory_ids: Sequence[str]) -> None:
        """Makes active memories findable whose rows were put in; goes on from the journal's numbers."""
        memories = MemoryTable(self._connection, self._space)
        for memory in map(memories.get, memory_ids):
            if memory is not None and memory.active:
                self._words.put(memory)
        self._set_seq(self._highest())

    def last_seq(self) -> int:
        query = select(schema.heads.c.seq).where(schema.heads.c.space == self._space)
        return int(self._connection.execute(query).scalar_one())

    def next_seq(self) -> int:
        seq = self.last_seq() + 1
        self._set_seq(seq)
        return seq

    def adopt_key(self, key: str) -> None:
        """Takes over the key that an archive's tombstones were hashed with; only for an empty space."""
        mine = schema.spaces.c.name == self._space
        self._connection.execute(update(schema.spaces).where(mine).values(key=key))

    def _highest(self) -> int:
        query = select(func.max(schema.journal.c.seq)).where(schema.journal.c.space == self._space)
        return int(self._connection.execute(query).scalar() or 0)

    def _set_seq(self, seq: int) -> None:
        mine = schema.heads.c.space == self._space
        self._connection.execute(update(schema.heads).where(mine).values(seq=seq))
