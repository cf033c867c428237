"""Between table rows and domain objects."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, ColumnElement, Row

from holdfast.domain.memory import Memory, Source

AnyRow = Row[Any]


def same_or_none(column: Column[str], value: str | None) -> ColumnElement[bool]:
    """`column` has this value, or none if none is asked for; worded so that both databases use an index."""
    return column.is_(None) if value is None else column == value


def to_source(row: AnyRow) -> Source:
    return Source(origin=row.origin, session=row.session_id, message=row.message_id, tier=row.tier)


def from_source(source: Source) -> dict[str, Any]:
    return {
        "origin": source.origin,
        "session_id": source.session,
        "message_id": source.message,
        "tier": source.tier,
    }


def to_memory(row: AnyRow) -> Memory:
    return Memory(
        id=row.id,
        space=row.space,
        category=row.category,
        content=row.content,
        subject=row.subject,
        summary=row.summary,
        project=row.project,
        confidence=row.confidence,
        importance=row.importance,
        tags=tuple(row.tags),
        state=row.state,
        waiting_for=row.waiting_for,
        pinned=bool(row.pinned),
        version=row.version,
        source=to_source(row),
        created_at=row.created_at,
        updated_at=row.updated_at,
        confirmed_at=row.confirmed_at,
        decayed_weeks=row.decayed_weeks,
        accessed_at=row.accessed_at,
        accesses=row.accesses,
    )


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
