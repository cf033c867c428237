"""Queries over wordings: the versions of memories, and what was taken for a repetition of one."""

import hashlib

from sqlalchemy import ColumnElement, func, insert, select

from holdfast.domain.memory import Repetition, Version
from holdfast.store.mapping import row_of
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import repetitions, versions


def checksum(content: str) -> str:
    """What a version's text is verified by."""
    return hashlib.sha256(content.encode()).hexdigest()


class VersionTable(SpaceRows):
    """The wordings of one space's memories."""

    def add(self, *wordings: Version) -> None:
        rows = [{**row_of(one, self._space), "checksum": checksum(one.content)} for one in wordings]
        if rows:
            self._connection.execute(insert(versions), rows)

    def of(self, memory_id: str) -> list[Version]:
        """All wordings of a memory, oldest first."""
        query = self._select(Version, versions.c.memory_id == memory_id)
        return self._values(Version, query.order_by(versions.c.number))

    def get(self, memory_id: str, number: int) -> Version | None:
        mine = (versions.c.memory_id == memory_id, versions.c.number == number)
        return self._value(Version, self._select(Version, *mine))


class RepetitionTable(SpaceRows):
    """The repetitions of one space."""

    def add(self, wording: Repetition) -> None:
        self._add([wording])

    def of(self, memory_id: str) -> list[Repetition]:
        """The wordings of a memory, oldest first."""
        query = self._select(Repetition, self._of(memory_id))
        return self._values(Repetition, query.order_by(repetitions.c.number))

    def last_number(self, memory_id: str) -> int:
        """The highest number that a wording of the memory has; 0 without one."""
        query = select(func.max(repetitions.c.number)).where(
            repetitions.c.space == self._space, self._of(memory_id)
        )
        return int(self._connection.execute(query).scalar() or 0)

    def remove(self, memory_id: str, number: int) -> None:
        self._remove(repetitions, self._of(memory_id), repetitions.c.number == number)

    def remove_session(self, session_id: str) -> int:
        """Removes the wordings that came from a session; answers how many."""
        return self._remove(repetitions, repetitions.c.session_id == session_id)

    def _of(self, memory_id: str) -> ColumnElement[bool]:
        return repetitions.c.memory_id == memory_id
