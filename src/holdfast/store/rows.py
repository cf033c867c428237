"""Between table rows and domain objects."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, ColumnElement, Row

from holdfast.domain.memory import Memory, Origin, Source
from holdfast.store.schema import memories
from holdfast.store.types import DamagedValue, JsonColumn, UtcTime, from_json, from_text

AnyRow = Row[Any]


def same_or_none(column: Column[str], value: str | None) -> ColumnElement[bool]:
    """`column` has this value, or none if none is asked for; worded so that both databases use an index."""
    return column.is_(None) if value is None else column == value


def to_source(row: AnyRow) -> Source:
    return _source(row.origin, row.session_id, row.message_id, row.tier)


def from_source(source: Source) -> dict[str, Any]:
    return {
        "origin": source.origin,
        "session_id": source.session,
        "message_id": source.message,
        "tier": source.tier,
    }


# budget: a line for each column, and nothing else.
def to_memory(row: Sequence[Any]) -> Memory:
    """The memory of a row that begins with the columns of `memories`, in their order."""
    # Taken apart at once: a recall reads hundreds, and asking a row for each column by name costs twice.
    (
        space,
        memory_id,
        category,
        subject,
        project,
        content,
        summary,
        tags,
        confidence,
        importance,
        state,
        waiting_for,
        pinned,
        version,
        origin,
        session,
        message,
        tier,
        created_at,
        updated_at,
        confirmed_at,
        decayed_weeks,
        accessed_at,
        accesses,
        *_,
    ) = row
    for read in (content, subject, summary):  # used outside of transactions too, where nobody would tell
        if isinstance(read, bytes):
            raise DamagedValue
    return Memory(
        id=memory_id,
        space=space,
        category=category,
        content=content,
        subject=subject,
        summary=summary,
        project=project,
        confidence=confidence,
        importance=importance,
        tags=tuple(tags),
        state=state,
        waiting_for=waiting_for,
        pinned=bool(pinned),
        version=version,
        source=_source(origin, session, message, tier),
        created_at=created_at,
        updated_at=updated_at,
        confirmed_at=confirmed_at,
        decayed_weeks=decayed_weeks,
        accessed_at=accessed_at,
        accesses=accesses,
    )


def to_memory_from_file(row: Sequence[Any]) -> Memory:
    """The same of a row as SQLite's driver gives it."""
    values = list(row)
    for place, converted in _CONVERTED:
        values[place] = converted(values[place])
    return to_memory(values)


_CONVERTED = [
    (place, from_text if isinstance(column.type, UtcTime) else from_json)
    for place, column in enumerate(memories.columns)
    if isinstance(column.type, UtcTime | JsonColumn)
]


@lru_cache(maxsize=1_000)
def _source(origin: Origin, session: str | None, message: str | None, tier: int | None) -> Source:
    return Source(origin=origin, session=session, message=message, tier=tier)


def from_memory(memory: Memory) -> Mapping[str, Any]:
    return {
        "space": memory.space,
        "id": memory.id,
        "category": memory.category,
        "content": memory.content,
        "subject": memory.subject,
        "summary": memory.summary,
        "project": memory.project,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "tags": list(memory.tags),
        "state": memory.state,
        "waiting_for": memory.waiting_for,
        "pinned": memory.pinned,
        "version": memory.version,
        **from_source(memory.source),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "confirmed_at": memory.confirmed_at,
        "decayed_weeks": memory.decayed_weeks,
        "accessed_at": memory.accessed_at,
        "accesses": memory.accesses,
    }
