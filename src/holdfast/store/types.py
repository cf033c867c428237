"""Column types that mean the same on SQLite and PostgreSQL."""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import TypeDecorator, TypeEngine

#: Text that sorts by code point on both databases, so that lists come out in one order.
Name = Text().with_variant(Text(collation="C"), "postgresql")


class DamagedValue(SQLAlchemyError):
    """A stored value that can't have been written so: the file is damaged."""

    def __init__(self) -> None:
        super().__init__("malformed value")


class Moment(TypeDecorator[datetime]):
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
            raise ValueError("a time without a zone: give one with it, for example 2026-03-01T12:00:00+00:00")
        value = value.astimezone(UTC)
        return value if dialect.name == "postgresql" else to_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None or isinstance(value, datetime):
            return value.astimezone(UTC) if value else None
        try:
            return datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise DamagedValue from None


class Json(TypeDecorator[Any]):
    """A small JSON value kept as text: compact, sorted, the same bytes on both databases."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return (
            None
            if value is None
            else json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        )

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        try:
            return None if value is None else json.loads(value)
        except (TypeError, ValueError):
            raise DamagedValue from None


def to_text(moment: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds: text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
