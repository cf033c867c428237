"""Queries over which words of which messages memories were taken from."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, delete, select, update

from holdfast.domain.memory import Citation
from holdfast.store.rows import AnyRow
from holdfast.store.schema import citations
from holdfast.store.sql_in import one_of
from holdfast.store.upsert import insert_new


class CitationTable:
    """The citations of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def add(self, *cited: Citation) -> None:
        """Adds them; of two of a memory that begin at one place the longer stays."""
        for one in cited:
            values = {
                "space": self._space,
                "message_id": one.message,
                "memory_id": one.memory,
                "begins": one.begins,
                "ends": one.ends,
                "reworded": one.reworded,
            }
            if not insert_new(self._connection, citations, values):
                self._lengthen(one)

    def of_messages(self, message_ids: Collection[str]) -> list[Citation]:
        return self._citations(one_of(citations.c.message_id, message_ids, self._connection))

    def of_memory(self, memory_id: str) -> list[Citation]:
        return self._citations(citations.c.memory_id == memory_id)

    def remove(self, message_ids: Collection[str]) -> None:
        """Removes those of messages that have no text any more."""
        gone = one_of(citations.c.message_id, message_ids, self._connection)
        self._connection.execute(delete(citations).where(citations.c.space == self._space, gone))

    def _lengthen(self, one: Citation) -> None:
        here = (
            (citations.c.space == self._space)
            & (citations.c.message_id == one.message)
            & (citations.c.memory_id == one.memory)
            & (citations.c.begins == one.begins)
        )
        longer = update(citations).where(here, citations.c.ends.is_not(None))
        if one.ends is not None:
            longer = longer.where(citations.c.ends < one.ends)
        self._connection.execute(longer.values(ends=one.ends))

    def _citations(self, condition: Any) -> list[Citation]:
        query = (
            select(citations)
            .where(citations.c.space == self._space, condition)
            .order_by(citations.c.message_id, citations.c.begins, citations.c.memory_id)
        )
        return [_citation(row) for row in self._connection.execute(query)]


def _citation(row: AnyRow) -> Citation:
    return Citation(
        message=row.message_id,
        memory=row.memory_id,
        begins=row.begins,
        ends=row.ends,
        reworded=row.reworded,
    )
