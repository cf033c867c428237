"""Queries over wordings that were taken for repetitions of memories."""

from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from holdfast.domain.memory import Repetition
from holdfast.store.rows import AnyRow, from_source, to_source
from holdfast.store.schema import repetitions


class RepetitionTable:
    """The repetitions of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def add(self, wording: Repetition) -> None:
        values = {
            "space": self._space,
            "memory_id": wording.memory,
            "number": wording.number,
            "content": wording.content,
            "category": wording.category,
            "subject": wording.subject,
            "project": wording.project,
            "created_at": wording.created_at,
            **from_source(wording.source),
        }
        self._connection.execute(insert(repetitions), values)

    def of(self, memory_id: str) -> list[Repetition]:
        """The wordings of a memory, oldest first."""
        query = select(repetitions).where(*self._of(memory_id)).order_by(repetitions.c.number)
        return [_repetition(row) for row in self._connection.execute(query)]

    def last_number(self, memory_id: str) -> int:
        """The highest number that a wording of the memory has; 0 without one."""
        query = select(func.max(repetitions.c.number)).where(*self._of(memory_id))
        return int(self._connection.execute(query).scalar() or 0)

    def remove(self, memory_id: str, number: int) -> None:
        chosen = (*self._of(memory_id), repetitions.c.number == number)
        self._connection.execute(delete(repetitions).where(*chosen))

    def remove_session(self, session_id: str) -> int:
        """Removes the wordings that came from a session; answers how many."""
        chosen = (repetitions.c.space == self._space, repetitions.c.session_id == session_id)
        return self._connection.execute(delete(repetitions).where(*chosen)).rowcount

    def _of(self, memory_id: str) -> tuple[Any, ...]:
        return repetitions.c.space == self._space, repetitions.c.memory_id == memory_id


def _repetition(row: AnyRow) -> Repetition:
    return Repetition(
        memory=row.memory_id,
        number=row.number,
        content=row.content,
        category=row.category,
        subject=row.subject,
        project=row.project,
        source=to_source(row),
        created_at=row.created_at,
    )
