"""Column types that mean the same on SQLite and PostgreSQL."""

import json
import sys
from array import array
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, LargeBinary, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

#: Text that sorts by code point on both databases, so that lists come out in one order.
Name = Text().with_variant(Text(collation="C"), "postgresql")


class DamagedValue(SQLAlchemyError):
    """A stored value that can't have been written so: the file is damaged."""

    def __init__(self) -> None:
        super().__init__("malformed value")


class UtcTime(TypeDecorator[datetime]):
    """An aware UTC time: timestamptz on PostgreSQL, sortable ISO text of fixed width on SQLite."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        kind: TypeEngine[Any] = DateTime(timezone=True) if dialect.name == "postgresql" else Text()
        return dialect.type_descriptor(kind)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("the time has no time zone: add one, for example 2026-03-01T12:00:00+00:00")
        value = value.astimezone(UTC)
        return value if dialect.name == "postgresql" else to_text(value)

    # Not process_result_value, which is called through another function: hundreds of rows have four of these.
    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        return _from_server if dialect.name == "postgresql" else from_text


class JsonColumn(TypeDecorator[Any]):
    """A small JSON value kept as text: compact, sorted, the same bytes on both databases."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return (
            None
            if value is None
            else json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        )

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[str | None], Any]:
        return from_json


def _from_server(value: datetime | None) -> datetime | None:
    return value.astimezone(UTC) if value is not None else None


def from_text(value: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if value is not None else None
    except (TypeError, ValueError):
        raise DamagedValue from None


def from_json(value: str | None) -> Any:
    if value is None or value == "[]":
        return None if value is None else []
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        raise DamagedValue from None


class ServerVector(UserDefinedType[str]):
    """pgvector's type, of any size."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "vector"


class Vector(TypeDecorator[bytes]):
    """Numbers of 32 bits, little end first: their bytes on SQLite, pgvector's type on PostgreSQL."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        kind: TypeEngine[Any] = ServerVector() if dialect.name == "postgresql" else LargeBinary()
        return dialect.type_descriptor(kind)

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> Any:
        return server_text(value) if value is not None and dialect.name == "postgresql" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> bytes | None:
        if value is None or isinstance(value, bytes):
            return value
        return _little_end(array("f", map(float, value.strip("[]").split(",")))).tobytes()


def server_text(vector: bytes) -> str:
    """A vector as pgvector reads it; nine digits bring every number back as it was."""
    numbers = _little_end(array("f", vector))
    return "[" + ",".join(f"{number:.9g}" for number in numbers) + "]"


def _little_end(numbers: "array[float]") -> "array[float]":
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def to_text(moment: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds: text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
