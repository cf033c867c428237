"""How a subject is spelt in a space: all spellings that differ in case, spaces, `-` and `_` alone.

An index tells: only names that begin with the same letter are looked at.
"""

from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, and_, or_, select

from holdfast.domain.subjects import subject_key

_LEADING = " -_"


def spellings(column: Column[str], subject: str, space: str, connection: Connection) -> list[str]:
    """The spellings of `subject` that rows of a space have in a column."""
    table = column.table
    beginnings = {subject[:1], *_cases(subject_key(subject)[:1]), *_LEADING}
    of_space = table.c.space == space
    query = select(column).where(of_space, or_(*(_begins(column, one) for one in beginnings if one)))
    key = subject_key(subject)
    found = connection.execute(query.distinct()).scalars()
    return sorted(spelt for spelt in found if subject_key(spelt) == key)


def is_spelt(
    column: Column[str], subject: str | None, space: str, connection: Connection
) -> ColumnElement[bool]:
    """`column` has this subject in any spelling, or none if none is asked for; by an index."""
    if subject is None:
        return column.is_(None)
    return column.in_(spellings(column, subject, space, connection) or [subject])


def _cases(letter: str) -> set[str]:
    return {letter, letter.upper(), letter.title()}


def _begins(column: Column[str], beginning: str) -> Any:
    last = ord(beginning[0])
    following = (
        chr(last + 1 if last + 1 not in range(0xD800, 0xE000) else 0xE000) if last < 0x10FFFF else None
    )
    least = column >= beginning[0]
    return least if following is None else and_(least, column < following)
