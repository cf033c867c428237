"""What PostgreSQL is asked in its own words."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Date,
    Select,
    Table,
    TableValuedAlias,
    Text,
    any_,
    bindparam,
    cast,
    exists,
    func,
    or_,
    select,
    text,
    type_coerce,
    update,
)
from sqlalchemy import column as column_named
from sqlalchemy.dialects.postgresql import JSONB, insert

from holdfast.domain.access import ALL_MEMORIES, Reader
from holdfast.domain.memory import Link, Memory, MemoryText, Message
from holdfast.domain.query import Filter
from holdfast.store import citus, postgres
from holdfast.store.full_text import Indexed, Owner, Totals
from holdfast.store.full_text_postgres import PostgresFullText
from holdfast.store.mapping import table_of, values_of
from holdfast.store.queries import SubjectNames
from holdfast.store.schema import heads, links, memories, messages, sessions
from holdfast.store.sql_filters import seen

if TYPE_CHECKING:
    from holdfast.store.vector_feed import Kind
    from holdfast.store.vector_rows import VectorCache
    from holdfast.store.vectors_postgres import PostgresSearch

Value = TypeVar("Value")

_MESSAGES_AT = text(
    f"SELECT {', '.join(f'messages.{column.name}' for column in messages.columns)} "
    "FROM unnest(CAST(:sessions AS text[]), CAST(:numbers AS integer[])) AS place (session, at) "
    "CROSS JOIN messages WHERE messages.space = :space AND session_id = place.session "
    "AND messages.number = place.at ORDER BY session_id, number"
).columns(*messages.columns)


@dataclass(frozen=True, slots=True)
class PostgresQueries:
    """One space on a server, whose planner needs no hints."""

    connection: Connection
    space: str
    reader: Reader = ALL_MEMORIES
    subjects: SubjectNames = field(default_factory=dict)

    def enter(self, space: str) -> None:
        """Tells the server, which shows a transaction the rows of this space alone."""
        postgres.enter(space, self.connection)

    def given(self, values: Collection[str]) -> TableValuedAlias:
        """A table of one column, `value`."""
        array = bindparam(None, list(values), type_=ARRAY(Text))
        return func.unnest(array).table_valued(column_named("value", Text)).render_derived(name="given")

    def one_of(self, column: Column[Any], values: Collection[str]) -> ColumnElement[bool]:
        """Whether the column has one of `values`: one parameter, so that a statement stays the same."""
        return column == any_(bindparam(None, list(values), type_=ARRAY(Text)))

    def day(self, moment: Column[datetime]) -> ColumnElement[Any]:
        """The day of UTC."""
        return cast(func.timezone("UTC", moment), Date)

    def by_no_index(self, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        return condition

    def in_file_order(self, query: Select[Any], where: Filter) -> Select[Any]:
        return query

    def is_most_of(self, table: Table, wanted: int) -> bool:
        return False

    def saying(self, query: Select[Any], asked: str) -> Select[Any]:
        """`query` for memories with each word of a text in their wording or labels, in whatever case."""
        worded = (memories.c.content, memories.c.subject, memories.c.summary)
        # As texts of their own: the brackets and quotes of a list are no part of a tag.
        tags = cast(type_coerce(memories.c.tags, Text), JSONB)
        tag = func.jsonb_array_elements_text(tags).column_valued("tag")
        for word in asked.split():
            pattern = "".join(map(_in_any_case, word))
            tagged = exists(select(tag).where(tag.regexp_match(pattern)))
            query = query.where(or_(*(part.regexp_match(pattern) for part in worded), tagged))
        return query

    def insert(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows with the same columns whose keys are free."""
        if rows:
            self.connection.execute(_inserting(table), rows)

    def insert_new(self, table: Table, values: Mapping[str, Any]) -> bool:
        """Adds the row; false when its key is taken, and then nothing was changed."""
        return self.connection.execute(_insert(table), values).first() is not None

    def next_number(self, counter: Column[int], more: int) -> int:
        """The last of so many new numbers of the space."""
        counted = update(heads).where(heads.c.space == self.space).values({counter: counter + more})
        return int(self.connection.execute(counted.returning(counter)).scalar_one())

    def many(self, kind: type[Value], ids: Collection[str]) -> list[Value]:
        """Those of the values of a table with these ids that there are, in no order."""
        table = table_of(kind)
        query = select(table).where(table.c.space == self.space, self.one_of(table.c.id, ids))
        query = query.where(*seen(self.reader)) if table is memories else query
        return values_of(kind, self.connection.execute(query))

    def wordings(self, among: Sequence[str]) -> Iterable[Sequence[Any]]:
        """What active memories are found by: id, subject, summary, content, tags; and their project."""
        one = memories.c
        query = select(
            one.id, one.subject, one.summary, one.content, type_coerce(one.tags, Text), one.project
        )
        mine = (one.space == self.space, one.state == "active", self.one_of(one.id, among))
        return self.connection.execute(query.where(*mine, *seen(self.reader)))

    def texts(self, among: Sequence[str]) -> list[MemoryText]:
        """What a draft is compared with, of those of `among` that are active, in no order."""
        one = memories.c
        mine = (one.space == self.space, one.state == "active", self.one_of(one.id, among))
        query = select(one.id, one.category, one.subject, one.project, one.content)
        query = query.where(*mine, *seen(self.reader))
        return list(map(MemoryText._make, self.connection.execute(query)))

    def superseding(self, memory_ids: Collection[str] | None) -> list[Link]:
        """The `supersedes` links from or to these memories, or all of the space, in no order."""
        query = select(links).where(links.c.space == self.space, links.c.kind == "supersedes")
        if memory_ids is not None:
            query = query.where(
                or_(*(self.one_of(end, memory_ids) for end in (links.c.from_id, links.c.to_id)))
            )
        return values_of(Link, self.connection.execute(query))

    def touch(self, memory_ids: Collection[str], now: datetime) -> list[Memory]:
        """Counts an access of each memory; answers those that there are."""
        mine = (memories.c.space == self.space, self.one_of(memories.c.id, memory_ids), *seen(self.reader))
        counted = {"accesses": memories.c.accesses + 1, "accessed_at": now}
        changed = update(memories).where(*mine).values(counted).returning(*memories.columns)
        return values_of(Memory, self.connection.execute(changed))

    def projects(self, session_ids: Collection[str]) -> dict[str, str | None]:
        """The project of each of the sessions, if it has one."""
        mine = (sessions.c.space == self.space, self.one_of(sessions.c.id, session_ids))
        rows = self.connection.execute(select(sessions.c.id, sessions.c.project).where(*mine))
        return {row.id: row.project for row in rows}

    def messages_at(self, places: Sequence[tuple[str, int]]) -> list[Message]:
        """The messages at `places`, each a session and a number, in their order."""
        values = {
            "space": self.space,
            "sessions": [session for session, _ in places],
            "numbers": [number for _, number in places],
        }
        return values_of(Message, self.connection.execute(_MESSAGES_AT, values))

    @contextmanager
    def migrating(self, ours: int) -> Iterator[None]:
        """Of two that migrate at once, the second waits and then finds nothing to do."""
        self.connection.execute(text("SELECT pg_advisory_xact_lock(:ours)"), {"ours": ours})
        with citus.migrating(self.connection):
            yield
        postgres.let_row_security_use_full_text(self.connection)

    def words(self, index: Indexed[Owner], totals: Totals) -> PostgresFullText[Owner]:
        """The full-text index."""
        return PostgresFullText(self.connection, self.space, index, totals)

    def vectors(self, kind: "Kind", cache: "VectorCache | None") -> "PostgresSearch":
        """The search by meaning; a server keeps nothing in our memory."""
        from holdfast.store.vectors_postgres import PostgresSearch

        return PostgresSearch(self.connection, self.space, kind)


@cache
def _inserting(table: Table) -> Any:
    """Made once: to make it anew takes as long as to run it."""
    return insert(table)


@cache
def _insert(table: Table) -> Any:
    # Asked back rather than counted: drivers disagree on the row count of an insert that did nothing.
    return insert(table).on_conflict_do_nothing().returning(*table.primary_key.columns)


def _in_any_case(letter: str) -> str:
    """A letter as a regular expression: which letters a server takes for the same depends on its locale."""
    forms = sorted({letter, letter.lower(), letter.upper(), letter.casefold()})
    return re.escape(letter) if len(forms) == 1 else f"(?:{'|'.join(map(re.escape, forms))})"
