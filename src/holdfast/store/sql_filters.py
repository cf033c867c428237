"""Filters of memories as conditions of queries."""

import json
import re
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    Table,
    Text,
    and_,
    cast,
    exists,
    func,
    literal_column,
    or_,
    select,
    type_coerce,
)

from holdfast.domain.memory import LinkKind
from holdfast.domain.query import Filter
from holdfast.store.schema import links, memories
from holdfast.store.spellings import is_spelt

_MANY: Final = 3  # one row in so many
_LAST_ROW: Final = (1 << 63) - 1  # the greatest number that a row can have


def narrowed(query: Select[Any], where: Filter, space: str, connection: Connection) -> Select[Any]:
    """`query` with the conditions of `where`."""
    return narrowed_in_any_state(query.where(memories.c.state.in_(where.states)), where, space, connection)


# budget: a line for each thing that can be asked for.
def narrowed_in_any_state(
    query: Select[Any], where: Filter, space: str, connection: Connection
) -> Select[Any]:
    """The same without the states."""
    column = memories.c
    exact = {
        column.category: where.category,
        column.origin: where.origin,
        column.session_id: where.session,
        column.importance: where.importance,
    }
    query = query.where(*(name == value for name, value in exact.items() if value is not None))
    if where.subject is not None:
        query = query.where(is_spelt(column.subject, where.subject, space, connection))
    if where.general:
        query = query.where(column.subject.is_(None))
    if not where.other_projects:
        query = query.where(column.project.is_(None) | (column.project == where.project))
    elif where.project is not None:
        query = query.where(column.project == where.project)
    if where.least_confidence is not None:
        query = query.where(column.confidence >= where.least_confidence)
    if where.created_after is not None:
        query = query.where(column.created_at >= where.created_after)
    if where.created_before is not None:
        query = query.where(column.created_at < where.created_before)
    if where.changed_after is not None:
        query = query.where(column.updated_at >= where.changed_after)
    if not where.proposals:
        query = query.where(~and_(column.state == "waiting", _leads("elaborates"), _leads("supersedes")))
    for tag in where.tags:
        # Tags are stored as a JSON list, so a tag is found as its JSON text, quotes included.
        quoted = json.dumps(tag, ensure_ascii=False)
        # Not LIKE: on SQLite it does not tell upper from lower case.
        tags = type_coerce(column.tags, Text)
        query = query.where(func.replace(tags, quoted, "") != tags)
    if where.text is not None:
        query = _saying(query, where.text, connection)
    return query


def _saying(query: Select[Any], asked: str, connection: Connection) -> Select[Any]:
    """`query` for memories with each word of a text in their wording or labels, in whatever case."""
    worded = (memories.c.content, memories.c.subject, memories.c.summary)
    tags = type_coerce(memories.c.tags, Text)
    if connection.dialect.name == "sqlite":  # which by itself knows the case of ASCII only
        return query.where(func.holdfast_says(asked, tags, *worded) == 1)
    from sqlalchemy.dialects.postgresql import JSONB

    # As texts of their own: the brackets and quotes of a list are no part of a tag.
    tag = func.jsonb_array_elements_text(cast(tags, JSONB)).column_valued("tag")
    for word in asked.split():
        pattern = "".join(map(_in_any_case, word))
        tagged = exists(select(tag).where(tag.regexp_match(pattern)))
        query = query.where(or_(*(part.regexp_match(pattern) for part in worded), tagged))
    return query


def _in_any_case(letter: str) -> str:
    """A letter as a regular expression: which letters a server takes for the same depends on its locale."""
    forms = sorted({letter, letter.lower(), letter.upper(), letter.casefold()})
    return re.escape(letter) if len(forms) == 1 else f"(?:{'|'.join(map(re.escape, forms))})"


def _leads(kind: LinkKind) -> ColumnElement[bool]:
    """Whether a link of this kind leads from a memory to another."""
    linked = and_(links.c.space == memories.c.space, links.c.from_id == memories.c.id, links.c.kind == kind)
    return exists().where(linked).correlate(memories)


def row_by_row(query: Select[Any], where: Filter, space: str, connection: Connection) -> Select[Any]:
    """`query`, which has to look into most rows of a space, in the order in which they lie in the file.

    In the order of an index SQLite would read the same pages again and again. A server knows that by itself.
    """
    by_index = (where.category, where.subject, where.session, where.importance, where.created_after)
    if connection.dialect.name != "sqlite" or where.general or any(one is not None for one in by_index):
        return query
    own, row = memories.alias("own"), literal_column("memories.rowid", Integer)
    of_space = (own.c.space == space, own.c.state.in_(where.states))
    wanted = connection.execute(select(func.count()).select_from(own).where(*of_space)).scalar_one()
    if is_most_of(memories, wanted, connection):
        # With both bounds SQLite takes the whole table, one row after the other.
        return query.where(row.between(0, _LAST_ROW))
    return query.where(row.in_(select(literal_column("own.rowid")).select_from(own).where(*of_space)))


def is_most_of(table: Table, wanted: int, connection: Connection) -> bool:
    """Whether so many rows of a table in a SQLite file are read soonest by reading all of it.

    That goes from page to page; gathering one row in three by an index costs as much.
    """
    newest = select(func.max(literal_column("rowid", Integer))).select_from(table)
    return wanted * _MANY >= (connection.execute(newest).scalar_one() or 0)
