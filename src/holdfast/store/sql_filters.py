"""Filters of memories as conditions of queries, spellings of subjects, and who sees which memories.

Nothing else in the store asks for `private`.
"""

import json
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    type_coerce,
)

from holdfast.domain.access import Reader
from holdfast.domain.memory import LinkKind
from holdfast.domain.query import Filter
from holdfast.domain.subjects import subject_key
from holdfast.store.queries import Queries
from holdfast.store.schema import links, memories, receipt_items, receipts

_PRIVATE_TO = "\x1f"  # stands in no project
_NAMING = ("jobs", "calls")


def narrowed(query: Select[Any], where: Filter, sql: Queries) -> Select[Any]:
    """`query` with the conditions of `where`."""
    return narrowed_in_any_state(query.where(memories.c.state.in_(where.states)), where, sql)


# budget: a line for each thing that can be asked for.
def narrowed_in_any_state(query: Select[Any], where: Filter, sql: Queries) -> Select[Any]:
    """The same without the states."""
    column = memories.c
    exact = {
        column.category: where.category,
        column.origin: where.origin,
        column.person: where.person,
        column.session_id: where.session,
        column.importance: where.importance,
    }
    query = query.where(*(name == value for name, value in exact.items() if value is not None))
    if where.subject is not None:
        query = query.where(is_spelt(column.subject, where.subject, sql))
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
        query = sql.saying(query, where.text)
    return query


def _leads(kind: LinkKind) -> ColumnElement[bool]:
    """Whether a link of this kind leads from a memory to another."""
    linked = and_(links.c.space == memories.c.space, links.c.from_id == memories.c.id, links.c.kind == kind)
    return exists().where(linked).correlate(memories)


# How a subject is spelt in a space: all spellings that differ in case, spaces, `-` and `_` alone. An index
# tells: only names that begin with the same letter are looked at.
_LEADING = " -_"
_RANGES = 4 + len(_LEADING)  # the letter as it is given, and in up to three cases
_LAST = chr(0x10FFFF)


def spellings(column: Column[str], subject: str, sql: Queries) -> list[str]:
    """The spellings of `subject` that rows of a space have in a column, and maybe some that they had.

    Those of memories are read once in a transaction.
    """
    key = subject_key(subject)
    letters = frozenset(one[:1] for one in (subject, *_cases(key[:1]), *_LEADING) if one)
    known = sql.subjects if column.table is memories else {}
    if letters not in known:
        known[letters] = _names(column, sorted(letters), sql)
    return sorted(known[letters].get(key, ()))


def spelt_from_now_on(subject: str, sql: Queries) -> None:
    """Notes a spelling that a memory was written with in this transaction."""
    for letters, names in sql.subjects.items():
        if subject[:1] in letters:
            names.setdefault(subject_key(subject), set()).add(subject)


def _names(column: Column[str], letters: list[str], sql: Queries) -> dict[str, set[str]]:
    """The names that begin with one of these letters, by what all spellings of one share."""
    ranges = {"space": sql.space}
    for place in range(_RANGES):
        first = letters[min(place, len(letters) - 1)]
        ranges |= {f"from_{place}": first, f"to_{place}": _following(first)}
    names: dict[str, set[str]] = {}
    for spelt in sql.connection.execute(_beginning_so(column), ranges).scalars():
        names.setdefault(subject_key(spelt), set()).add(spelt)
    return names


def is_spelt(column: Column[str], subject: str | None, sql: Queries) -> ColumnElement[bool]:
    """`column` has this subject in any spelling, or none if none is asked for; by an index."""
    if subject is None:
        return column.is_(None)
    return column.in_(spellings(column, subject, sql) or [subject])


@cache
def _beginning_so(column: Column[str]) -> Select[str]:
    """The names of a space that lie in one of the ranges; made once, since it is asked at every write."""
    ranges = [
        and_(column >= bindparam(f"from_{place}"), column < bindparam(f"to_{place}"))
        for place in range(_RANGES)
    ]
    return select(column).where(column.table.c.space == bindparam("space"), or_(*ranges)).distinct()


def _cases(letter: str) -> set[str]:
    return {letter, letter.upper(), letter.title()}


def _following(letter: str) -> str:
    """The letter after this one; surrogates are none."""
    after = chr(ord(letter) + 1) if letter < _LAST else _LAST
    return chr(0xE000) if "\ud800" <= after <= "\udfff" else after


# Who sees which memories: the private ones are their person's.


def seen(reader: Reader) -> tuple[ColumnElement[bool], ...]:
    """Conditions on `memories`; none for a reader who sees all of them."""
    if reader.everybody:
        return ()
    shared, own = ~memories.c.private, memories.c.person == reader.person
    if not reader.shared:
        return (memories.c.private, own)
    return (shared,) if reader.person is None else (or_(shared, own),)


def seen_sql(reader: Reader) -> tuple[str, tuple[str, ...]]:
    """The same as SQL with its parameters, for statements past SQLAlchemy."""
    if reader.everybody:
        return "", ()
    if not reader.shared:
        return " AND private AND person = ?", (reader.person or "",)
    return (
        (" AND NOT private", ())
        if reader.person is None
        else (" AND (NOT private OR person = ?)", (reader.person,))
    )


def brief_place(project: str | None, person: str | None) -> str:
    """In which briefs a memory stands: of its project, and only of the person to whom it is private."""
    return (project or "") if person is None else f"{project or ''}{_PRIVATE_TO}{person}"


def project_in(place: str, reader: Reader) -> str | None:
    """The project of such a place; none for the place of no project, or one that the reader does not see."""
    project, _, person = place.partition(_PRIVATE_TO)
    return project or None if reader.everybody or person in ("", reader.person) else None


def dumped(reader: Reader, table: Table, space: str) -> tuple[ColumnElement[bool], ...]:
    """Conditions on the rows of a table that an archive for this reader holds."""
    if reader.everybody:
        return ()
    if table is memories:
        return seen(reader)
    if table.name in _NAMING:  # in texts that name memories by their id
        return (false(),)
    if table is receipts:
        return receipts_seen(reader, space)
    if table is receipt_items:
        mine = (receipts.c.space == space, receipts.c.id == receipt_items.c.receipt_id)
        return (exists().where(*mine, *receipts_seen(reader, space)).correlate(receipt_items),)
    named = [table.c[name] for name in ("memory_id", "from_id", "to_id") if name in table.c]
    return tuple(condition for column in named for condition in about_seen(reader, column, space))


def receipts_seen(reader: Reader, space: str) -> tuple[ColumnElement[bool], ...]:
    """Conditions on receipts: none of what they hold is hidden from the reader."""
    if reader.everybody:
        return ()
    item = receipt_items.c
    of_receipt = (item.space == space, item.receipt_id == receipts.c.id)
    hidden = not_(and_(*about_seen(reader, item.memory_id, space)))
    return (~exists().where(*of_receipt, hidden).correlate(receipts),)


def about_seen(reader: Reader, memory_id: Column[Any], space: str) -> tuple[ColumnElement[bool], ...]:
    """Conditions on rows that name a memory: it is not hidden from the reader. It may be gone, or none."""
    if reader.everybody:
        return ()
    hidden = memories.alias("hidden").c
    named = (hidden.space == space, hidden.id == memory_id)
    others = hidden.person.is_distinct_from(reader.person) if reader.person is not None else hidden.private
    return (~exists().where(*named, hidden.private, others).correlate(memory_id.table),)
