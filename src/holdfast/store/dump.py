"""Whole tables of a space as plain rows: what export, import and backups are made of."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Column, ColumnElement, Connection, Integer, Table, func, select, update

from holdfast.domain.access import Reader
from holdfast.domain.memory import Memory, Message
from holdfast.errors import Invalid
from holdfast.store import schema
from holdfast.store.history import checksum
from holdfast.store.queries import WordIndex
from holdfast.store.ranks import RankTable
from holdfast.store.rows import SpaceRows, plain_row, stored_row
from holdfast.store.sessions import SessionTable
from holdfast.store.sql_filters import dumped
from holdfast.store.types import JsonColumn, UtcTime, to_text
from holdfast.store.usage import UsageTable, size

#: In an order that satisfies the foreign keys. Vectors are left out: they are a cache and can be made again.
TABLES: tuple[Table, ...] = (
    schema.sessions,
    schema.messages,
    schema.memories,
    schema.versions,
    schema.repetitions,
    schema.citations,
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
    schema.files,
)
#: What means nothing elsewhere: the order tells a message's position, a file's state is a machine's.
_LOCAL = {"messages": ("position",), "files": ("hash", "stat")}
_WITH_TEXT = ("versions", "messages")  # whose bytes count
_BY_NAME = {table.name: table for table in TABLES}
_MANY = 500  # memories made findable at a time


def _stored(column: Column[Any], value: object) -> Any:
    """A value of an archive as `rows` has it. Raises: Invalid, if the column can't hold it."""
    kinds: dict[type, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (int, float)}
    kind = (dict, list) if isinstance(column.type, JsonColumn) else kinds.get(column.type.python_type, (str,))
    try:
        if not isinstance(value, kind):
            raise ValueError
        return to_text(datetime.fromisoformat(str(value))) if isinstance(column.type, UtcTime) else value
    except ValueError:
        table = column.table.name
        raise Invalid(f"a row of {table} has {value!r:.60} for {column.name}; nothing was changed") from None


def _default(column: Column[Any]) -> Any:
    """What a column of an older archive stands at. Raises: Invalid, if it may not be left out."""
    if isinstance(column.type, Boolean):
        return False
    if column.server_default is None:
        raise Invalid(f"a row of {column.table.name} is missing {column.name}; nothing was changed")
    text = str(column.server_default.arg)  # type: ignore[attr-defined]
    return int(text) if isinstance(column.type, Integer) else text


class TableDump(SpaceRows):
    """The rows of one space, table by table: messages as they arrived, all else in the order of its keys."""

    def __init__(
        self,
        connection: Connection,
        space: str,
        ranks: RankTable,
        words: WordIndex[Memory],
        message_words: WordIndex[Message],
        usage: UsageTable,
        reader: Reader,
    ) -> None:
        super().__init__(connection, space, reader)
        self._usage = usage
        self._ranks = ranks
        self._sessions = SessionTable(connection, space, usage)
        self._words = words
        self._message_words = message_words

    def tables(self) -> tuple[str, ...]:
        return tuple(_BY_NAME)

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Each row without its space and what is of this machine alone, in JSON's terms."""
        source = _BY_NAME[table]
        order = [source.c.position] if source is schema.messages else list(source.primary_key.columns)
        query = (
            select(source)
            .where(source.c.space == self._space, *dumped(self._reader, source, self._space))
            .order_by(*order)
        )
        # Of the statement alone: what is written later on this connection can have no server-side cursor.
        for row in self._connection.execute(query, execution_options={"yield_per": 500}):
            yield plain_row(dict(row._mapping), ("space", *_LOCAL.get(table, ())))

    def key(self, table: str) -> tuple[str, ...]:
        """The columns that tell rows of the space apart."""
        return tuple(column.name for column in _BY_NAME[table].primary_key.columns if column.name != "space")

    def complete_row(self, table: str, row: dict[str, Any]) -> dict[str, Any]:
        """A row of any release as `rows` has those of this one."""
        complete: dict[str, Any] = {}
        for column in _BY_NAME[table].columns:
            if column.name in ("space", *_LOCAL.get(table, ())):
                continue
            value: Any = row.get(column.name)
            if value is None and not column.nullable:
                value = _default(column)
            complete[column.name] = None if value is None else _stored(column, value)
        if table == "versions" and complete["checksum"] is None:  # of an older archive
            complete["checksum"] = checksum(complete["content"])
        return complete

    def put(self, table: str, row: dict[str, Any]) -> None:
        """Puts a row in, or in place of the one with its key."""
        target, values = _BY_NAME[table], self._values_of(table, row)
        changing = {name: value for name, value in values.items() if name not in ("space", *self.key(table))}
        before = self._text_of(table, row)
        if not changing or not self._change(target, changing, *self._with_key(table, row)):
            self.insert(table, row)
        elif table in _WITH_TEXT:
            self._usage.grow(bytes=size(values["content"]) - size(before))
        elif target is schema.links:
            self._ranks.linked(values["from_id"], values["to_id"])

    def drop(self, table: str, row: dict[str, Any]) -> None:
        """Removes the row with this key."""
        if table == "links":
            self._ranks.linked(row["from_id"], row["to_id"])
        before = self._text_of(table, row)
        gone = self._remove(_BY_NAME[table], *self._with_key(table, row))
        self._usage.grow(**({table: -gone} if table in ("memories", "messages") else {}), bytes=-size(before))

    def _text_of(self, table: str, row: dict[str, Any]) -> str | None:
        """What a row with this key holds, in a table whose texts are counted."""
        if table not in _WITH_TEXT:
            return None
        query = select(_BY_NAME[table].c.content).where(
            _BY_NAME[table].c.space == self._space, *self._with_key(table, row)
        )
        found: str | None = self._connection.execute(query).scalar()
        return found

    def _with_key(self, table: str, row: dict[str, Any]) -> list[ColumnElement[bool]]:
        return [_BY_NAME[table].c[name] == row[name] for name in self.key(table)]

    def _values_of(self, table: str, row: dict[str, Any]) -> dict[str, Any]:
        return {**stored_row(_BY_NAME[table], row, _LOCAL.get(table, ())), "space": self._space}

    def insert(self, table: str, row: dict[str, Any]) -> bool:
        """Puts a row in unless its key is taken; false when it was. Unknown columns are left out."""
        target, values = _BY_NAME[table], self._values_of(table, row)
        if target is schema.messages:
            return self._insert_message(values)
        if target is schema.links:
            self._ranks.linked(values["from_id"], values["to_id"])
        if target is schema.versions and values.get("checksum") is None:  # of an older archive
            values["checksum"] = checksum(values["content"])
        added = self._sql.insert_new(target, values)
        if added and target is schema.memories:
            self._usage.grow(memories=1)
        if added and target is schema.versions:
            self._usage.grow(bytes=size(values["content"]))
        return added

    def clear(self, keep: Sequence[str] = ()) -> None:
        """Removes every row of the space, but for the tables to keep; the space itself stays."""
        self._words.clear()
        self._ranks.clear()
        self._message_words.clear()
        for table in (schema.vector_models, *reversed(TABLES)):
            if table.name not in keep:
                self._remove(table)
        self._remove(schema.growth)
        self._set(seq=0, messages=0, counted_to=0)
        self._usage.recount()

    def reindex(self, memory_ids: Sequence[str]) -> None:
        """Makes memories findable whose rows were put in, if active; goes on from the journal's numbers."""
        for start in range(0, len(memory_ids), _MANY):
            found = self._sql.many(Memory, memory_ids[start : start + _MANY])
            self._ranks.changed(*found)
            self._words.drop(*(memory.id for memory in found if not memory.active))
            self._words.put(*(memory for memory in found if memory.active))
        self._set(seq=self._highest())

    def complete(self) -> bool:
        """Whether the rows of the space can be seen: a server may hide them from this role without a word."""
        query = select(schema.heads.c.seq).where(schema.heads.c.space == self._space)
        counted = self._connection.execute(query).scalar_one_or_none()
        return counted is not None and (counted == 0 or self._highest() > 0)

    def adopt_key(self, key: str) -> None:
        """Takes over the key that an archive's tombstones were hashed with; only for an empty space."""
        mine = schema.spaces.c.name == self._space
        self._connection.execute(update(schema.spaces).where(mine).values(key=key))

    def _insert_message(self, values: dict[str, Any]) -> bool:
        values["position"] = self._sessions.message_count() + 1
        if not self._sql.insert_new(schema.messages, values):
            return False
        self._set(messages=values["position"])
        self._usage.grow(messages=1, bytes=size(values.get("content")))
        message = self._sessions.message(values["id"])
        if message is not None:
            self._message_words.put(message)
        return True

    def _highest(self) -> int:
        query = select(func.max(schema.journal.c.seq)).where(schema.journal.c.space == self._space)
        return int(self._connection.execute(query).scalar() or 0)

    def _set(self, **counters: int) -> None:
        self._change(schema.heads, counters)
