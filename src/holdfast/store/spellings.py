"""How a subject is spelt in a space: all spellings that differ in case, spaces, `-` and `_` alone.

An index tells: only names that begin with the same letter are looked at.
"""

from functools import cache

from sqlalchemy import Column, ColumnElement, Connection, Select, and_, bindparam, or_, select

from holdfast.domain.subjects import subject_key

_LEADING = " -_"
_RANGES = 4 + len(_LEADING)  # the letter as it is given, and in up to three cases
_LAST = chr(0x10FFFF)


def spellings(column: Column[str], subject: str, space: str, connection: Connection) -> list[str]:
    """The spellings of `subject` that rows of a space have in a column."""
    key = subject_key(subject)
    beginnings = [one for one in dict.fromkeys([subject[:1], *_cases(key[:1]), *_LEADING]) if one]
    ranges = {"space": space}
    for place in range(_RANGES):
        first = beginnings[min(place, len(beginnings) - 1)][:1]
        ranges |= {f"from_{place}": first, f"to_{place}": _following(first)}
    found = connection.execute(_beginning_so(column), ranges).scalars()
    return sorted(spelt for spelt in found if subject_key(spelt) == key)


def is_spelt(
    column: Column[str], subject: str | None, space: str, connection: Connection
) -> ColumnElement[bool]:
    """`column` has this subject in any spelling, or none if none is asked for; by an index."""
    if subject is None:
        return column.is_(None)
    return column.in_(spellings(column, subject, space, connection) or [subject])


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
