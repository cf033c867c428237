"""What SQLite is asked in its own words: quicker ways past SQLAlchemy, and hints for its planner."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    Select,
    Table,
    TableValuedAlias,
    Text,
    column,
    func,
    literal_column,
    select,
    text,
    type_coerce,
)

from holdfast.domain.access import ALL_MEMORIES, Reader
from holdfast.domain.memory import Link, Memory, MemoryText, Message
from holdfast.domain.query import Filter
from holdfast.store import sqlite
from holdfast.store.mapping import table_of, values_of
from holdfast.store.queries import SubjectNames
from holdfast.store.schema import links, memories
from holdfast.store.sql_filters import seen_sql
from holdfast.store.types import to_text

if TYPE_CHECKING:
    from holdfast.store.full_text import Indexed, Owner, Totals
    from holdfast.store.full_text_sqlite import SqliteFullText
    from holdfast.store.vector_feed import Kind
    from holdfast.store.vector_rows import VectorCache
    from holdfast.store.vectors_sqlite import SqliteSearch

Value = TypeVar("Value")

_MANY: Final = 3  # one row in so many
_LAST_ROW: Final = (1 << 63) - 1  # the greatest number that a row can have


@cache
def _columns(table: Table) -> str:
    return ", ".join(f"{table.name}.{column.name}" for column in table.columns)


# Past SQLAlchemy, which takes more than half of the time: these are asked for on every recall.
_AMONG = "IN (SELECT value FROM json_each(?))"
_WORDINGS = (
    "SELECT id, subject, summary, content, tags, project FROM memories WHERE space = ? AND state = 'active' "
    f"AND id {_AMONG}"
)
_TEXTS = (
    f"SELECT id, category, subject, project, content FROM memories WHERE space = ? AND id {_AMONG} "
    "AND state = 'active'"
)
_SUPERSEDING = f"SELECT {_columns(links)} FROM links WHERE space = ? AND kind = 'supersedes'"
_TOUCH = f"UPDATE memories SET accesses = accesses + 1, accessed_at = ? WHERE space = ? AND id {_AMONG}"
_PROJECTS = f"SELECT id, project FROM sessions WHERE space = ? AND id {_AMONG}"
# Looked up one by one: with a list of pairs as a condition, SQLite would read every message of the space.
_MESSAGES_AT = (
    f"SELECT {_columns(table_of(Message))} FROM json_each(?) CROSS JOIN messages WHERE messages.space = ? "
    "AND session_id = json_extract(value, '$[0]') AND messages.number = json_extract(value, '$[1]') "
    "ORDER BY session_id, number"
)


# What SQLite's planner is told about our tables: typical figures, written once when the tables are made.
# Without figures it takes any index that saves a sort, and reads a whole space to find one subject. Figures
# gathered from the rows (ANALYZE) would have to be gathered again and again, and may keep samples of texts.
#: By table and index: rows in all, then rows for each value of the index's first column, its first two ...
_TYPICAL = {
    "memories": {
        "sqlite_autoindex_memories_1": "100000 10000 1",
        "ix_memories_space_subject_state": "100000 10000 20 15",
        "ix_memories_space_confidence_state": "100000 10000 500 450",
        "ix_memories_space_category_created_at_id": "100000 10000 2000 1 1",
        "ix_memories_space_importance": "100000 10000 2000",
        "ix_memories_space_created_at": "100000 10000 1",
        "ix_memories_space_state_updated_at": "100000 10000 9000 1",
        "ix_memories_space_session_id": "100000 10000 20",
    },
    "brief_ranks": {
        "sqlite_autoindex_brief_ranks_1": "100000 10000 1",
        "ix_brief_ranks_space_shown_in_rank": "100000 10000 1000 1",
        "ix_brief_ranks_space_shown_in_size": "100000 10000 1000 20",
        "ix_brief_ranks_space_subject_created_at": "100000 10000 20 1",
        "ix_brief_ranks_space_next_step_at": "100000 10000 2",
    },
}


@dataclass(frozen=True, slots=True)
class SqliteQueries:
    """One space in a SQLite file."""

    connection: Connection
    space: str
    reader: Reader = ALL_MEMORIES
    subjects: SubjectNames = field(default_factory=dict)

    def enter(self, space: str) -> None:
        """Nothing: each statement names its space."""

    def given(self, values: Collection[str]) -> TableValuedAlias:
        """A table of one column, `value`: one parameter, so that a statement stays the same."""
        return func.json_each(json.dumps(list(values))).table_valued(column("value", Text))

    def one_of(self, column_: Column[Any], values: Collection[str]) -> ColumnElement[bool]:
        """Whether the column has one of `values`."""
        # Twice as fast as a list of parameters, and not limited in their number.
        return column_.in_(select(self.given(values).c.value))

    def day(self, moment: Column[datetime]) -> ColumnElement[Any]:
        """The day of UTC."""
        return func.substr(moment, 1, 10)

    def by_no_index(self, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        """The same condition, worded so that SQLite does not go by its index."""
        return type_coerce(condition, Integer) == 1

    def in_file_order(self, query: Select[Any], where: Filter) -> Select[Any]:
        """`query`, which has to look into most memories of a space, in the order of the file.

        In the order of an index SQLite would read the same pages again and again.
        """
        by_index = (where.category, where.subject, where.session, where.importance, where.created_after)
        if where.general or any(one is not None for one in by_index):
            return query
        own, row = memories.alias("own"), literal_column("memories.rowid", Integer)
        of_space = (own.c.space == self.space, own.c.state.in_(where.states))
        wanted = self.connection.execute(select(func.count()).select_from(own).where(*of_space)).scalar_one()
        if self.is_most_of(memories, wanted):
            # With both bounds SQLite takes the whole table, one row after the other.
            return query.where(row.between(0, _LAST_ROW))
        return query.where(row.in_(select(literal_column("own.rowid")).select_from(own).where(*of_space)))

    def is_most_of(self, table: Table, wanted: int) -> bool:
        """Whether so many rows of a table are read soonest by reading all of it.

        That goes from page to page; gathering one row in three by an index costs as much.
        """
        newest = select(func.max(literal_column("rowid", Integer))).select_from(table)
        return wanted * _MANY >= (self.connection.execute(newest).scalar_one() or 0)

    def saying(self, query: Select[Any], asked: str) -> Select[Any]:
        """`query` for memories with each word of a text in their wording or labels, in whatever case."""
        worded = (memories.c.content, memories.c.subject, memories.c.summary)
        # A function of ours: SQLite by itself knows the case of ASCII only.
        return query.where(func.holdfast_says(asked, type_coerce(memories.c.tags, Text), *worded) == 1)

    def insert(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows with the same columns whose keys are free."""
        if rows:
            statement, stored = _inserting(table, tuple(rows[0]))
            sqlite.driver_of(self.connection).executemany(statement, map(stored, rows))

    def insert_new(self, table: Table, values: Mapping[str, Any]) -> bool:
        """Adds the row; false when its key is taken, and then nothing was changed."""
        statement, stored = _inserting(table, tuple(values))
        unless_taken = f"{statement} ON CONFLICT DO NOTHING RETURNING 1"
        return bool(sqlite.driver_of(self.connection).execute(unless_taken, stored(values)).fetchall())

    def next_number(self, counter: Column[int], more: int) -> int:
        """The last of so many new numbers of the space."""
        name = counter.name
        count = f"UPDATE heads SET {name} = {name} + ? WHERE space = ? RETURNING {name}"
        [(last,)] = sqlite.driver_of(self.connection).execute(count, (more, self.space)).fetchall()
        return int(last)

    def many(self, kind: type[Value], ids: Collection[str]) -> list[Value]:
        """Those of the values of a table with these ids that there are, in no order."""
        table = table_of(kind)
        query = f"SELECT {_columns(table)} FROM {table.name} WHERE space = ? AND id {_AMONG}"
        shown, reader = seen_sql(self.reader) if table is memories else ("", ())
        return self._values(kind, query + shown, self.space, json.dumps(list(ids)), *reader)

    def wordings(self, among: Sequence[str]) -> Iterable[Sequence[Any]]:
        """What active memories are found by: id, subject, summary, content, tags; and their project."""
        shown, reader = seen_sql(self.reader)
        return self._driven(_WORDINGS + shown, self.space, json.dumps(among), *reader)

    def texts(self, among: Sequence[str]) -> list[MemoryText]:
        """What a draft is compared with, of those of `among` that are active, in no order."""
        shown, reader = seen_sql(self.reader)
        found = self._driven(_TEXTS + shown, self.space, json.dumps(among), *reader)
        return list(map(MemoryText._make, found))

    def superseding(self, memory_ids: Collection[str] | None) -> list[Link]:
        """The `supersedes` links from or to these memories, or all of the space, in no order."""
        if memory_ids is None:
            return self._values(Link, _SUPERSEDING, self.space)
        both = (
            f"{_SUPERSEDING} AND from_id {_AMONG} UNION {_SUPERSEDING} AND to_id {_AMONG}"  # by an index each
        )
        return self._values(Link, both, *(self.space, json.dumps(list(memory_ids))) * 2)

    def touch(self, memory_ids: Collection[str], now: datetime) -> list[Memory]:
        """Counts an access of each memory; answers those that there are."""
        shown, reader = seen_sql(self.reader)
        touch = f"{_TOUCH}{shown} RETURNING {_columns(memories)}"
        return self._values(Memory, touch, to_text(now), self.space, json.dumps(list(memory_ids)), *reader)

    def projects(self, session_ids: Collection[str]) -> dict[str, str | None]:
        """The project of each of the sessions, if it has one."""
        return dict(self._driven(_PROJECTS, self.space, json.dumps(list(session_ids))))

    def messages_at(self, places: Sequence[tuple[str, int]]) -> list[Message]:
        """The messages at `places`, each a session and a number, in their order."""
        return self._values(Message, _MESSAGES_AT, json.dumps(places), self.space)

    @contextmanager
    def migrating(self, ours: int) -> Iterator[None]:
        """Marks the file as one of ours, and writes the planner's figures in place of those there are.

        Whoever migrates holds the write lock.
        """
        yield
        self.connection.exec_driver_sql(f"PRAGMA application_id = {ours}")
        self.connection.execute(text("ANALYZE sqlite_master"))  # makes the table of figures, gathers none
        for table, indexes in _TYPICAL.items():
            self.connection.execute(text("DELETE FROM sqlite_stat1 WHERE tbl = :table"), {"table": table})
            for index, figures in indexes.items():
                self.connection.execute(
                    text("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (:table, :index, :figures)"),
                    {"table": table, "index": index, "figures": figures},
                )
        self.connection.execute(text("ANALYZE sqlite_master"))  # now this connection reads them too

    def words(self, index: "Indexed[Owner]", totals: "Totals") -> "SqliteFullText[Owner]":
        """The full-text index."""
        from holdfast.store.full_text_sqlite import SqliteFullText

        return SqliteFullText(self.connection, self.space, index, totals)

    def vectors(self, kind: "Kind", cache: "VectorCache | None") -> "SqliteSearch":
        """The search by meaning, which brings numpy along."""
        from holdfast.store.vectors_sqlite import SqliteSearch

        return SqliteSearch(self.connection, self.space, kind, cache)

    def _values(self, kind: type[Value], query: str, *parameters: Any) -> list[Value]:
        return values_of(kind, self._driven(query, *parameters), stored=True)

    def _driven(self, query: str, *parameters: Any) -> Iterable[Any]:
        return sqlite.driver_of(self.connection).execute(query, parameters)


@cache
def _inserting(table: Table, names: tuple[str, ...]) -> tuple[str, Callable[[Mapping[str, Any]], list[Any]]]:
    """The statement that adds rows with these columns, and what makes a row the values of it."""
    from sqlalchemy.dialects.sqlite import dialect

    kinds = [(name, table.c[name].type.bind_processor(dialect())) for name in names]
    marks = ", ".join("?" * len(names))

    def stored(row: Mapping[str, Any]) -> list[Any]:
        return [process(row[name]) if process else row[name] for name, process in kinds]

    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})", stored
