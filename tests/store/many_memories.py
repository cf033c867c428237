"""Thousands of memories with vectors, written past the engine; and a process that adds one more.

Run as `python -m tests.store.many_memories FILE NUMBER`: puts the vector of that memory in anew.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert

from holdfast.domain.jobs import Embedded
from holdfast.store import schema
from holdfast.store.database import Database
from tests.store.some_vectors import Vectors, clustered

MODEL = "a-model"
START = datetime(2026, 3, 1, tzinfo=UTC)


def name_of(number: int) -> str:
    return f"M{number:07d}"


def memory(number: int, space: str = "default") -> dict[str, Any]:
    """The row of a memory."""
    return {
        "space": space,
        "id": name_of(number),
        "category": "general",
        "content": f"Note {number}",
        "tags": [],
        "confidence": 0.7,
        "importance": 3,
        "state": "active",
        "pinned": False,
        "version": 1,
        "origin": "operator",
        "created_at": START,
        "updated_at": START,
        "confirmed_at": START,
        "decayed_weeks": 0,
        "accesses": 0,
    }


def fill(database: Database, vectors: Vectors, first: int = 0) -> None:
    """One memory for each vector, numbered from `first`."""
    with database.write("default") as tx:
        rows = [memory(first + number) for number in range(len(vectors))]
        tx.connection.execute(insert(schema.memories), rows)
        texts = [Embedded(name_of(first + n), 1, [vector.tobytes()]) for n, vector in enumerate(vectors)]
        tx.memory_vectors.put_all(texts, MODEL, START)


def packed(database: Database, upto: int) -> None:
    """Notes that all is embedded, which is when blocks are made."""
    with database.write("default") as tx:
        tx.memory_vectors.embedded(MODEL, upto)


def main(file: str, number: int) -> None:
    database = Database.open(file)
    with database.write("default") as tx:
        tx.memory_vectors.put_all(
            [Embedded(name_of(number), 1, [clustered(1, seed=number)[0].tobytes()])], MODEL, START
        )
    database.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
