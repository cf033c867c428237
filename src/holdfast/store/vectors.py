"""Vectors of memories, searched exactly: one product of the question with all vectors of the space.

The matrix of a space is kept in memory and loaded anew whenever the space or its vectors changed, by
whichever process: what was committed before a search began is seen by it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, and_, delete, func, insert, select

from holdfast.domain.memory import Memory
from holdfast.errors import Unavailable
from holdfast.store.rows import to_memory
from holdfast.store.schema import embeddings, heads, memories

_MOST_SPACES = 32  # whose matrices are kept at a time
_NUMBER = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of a space at one state of it; a memory may own several rows."""

    state: tuple[int, int]
    owners: tuple[str, ...]
    rows: NDArray[np.float32]


#: The matrices of the spaces that were searched last, by space and model; shared by the threads of a process.
Matrices = dict[tuple[str, str], Matrix]


class VectorTable:
    """The vectors of one space."""

    def __init__(self, connection: Connection, space: str, matrices: Matrices) -> None:
        self._connection = connection
        self._space = space
        self._matrices = matrices

    def missing(self, model: str, limit: int) -> list[Memory]:
        """Active memories whose present wording has no vector of this model, newest first."""
        has_one = and_(
            embeddings.c.space == memories.c.space,
            embeddings.c.memory_id == memories.c.id,
            embeddings.c.version == memories.c.version,
            embeddings.c.model == model,
        )
        query = (
            select(memories)
            .outerjoin(embeddings, has_one)
            .where(
                memories.c.space == self._space, memories.c.state == "active", embeddings.c.space.is_(None)
            )
            .order_by(memories.c.updated_at.desc(), memories.c.id)
            .limit(limit)
        )
        return [to_memory(row) for row in self._connection.execute(query)]

    def put(self, memory: Memory, model: str, parts: Sequence[bytes], now: datetime) -> None:
        """Keeps the vectors of a memory's present wording in place of earlier ones.

        Raises: Unavailable, for vectors that are empty, zero, not finite or not of one size.
        """
        vector = b"".join(checked(parts))
        mine = and_(
            embeddings.c.space == self._space,
            embeddings.c.memory_id == memory.id,
            embeddings.c.model == model,
        )
        self._connection.execute(delete(embeddings).where(mine))
        self._connection.execute(
            insert(embeddings).values(
                space=self._space,
                memory_id=memory.id,
                version=memory.version,
                model=model,
                vector=vector,
                created_at=now,
            )
        )

    def nearest(self, query: bytes, model: str, limit: int, also: Collection[str] = ()) -> dict[str, float]:
        """The memories nearest to a question, and those asked for by id that have a vector.

        Each with the cosine of its nearest part.
        """
        asked = np.frombuffer(checked([query])[0], dtype=_NUMBER)
        matrix = self._matrix(model, len(asked))
        if not matrix.owners:
            return {}
        scores = matrix.rows @ asked
        wanted = min(len(scores), 4 * limit)
        best = np.argpartition(-scores, wanted - 1)[:wanted]
        found: dict[str, float] = {}
        for place in best[np.argsort(-scores[best], kind="stable")]:
            found.setdefault(matrix.owners[place], round(float(scores[place]), 6))
        found = dict(list(found.items())[:limit])
        for place, owner in enumerate(matrix.owners) if also else ():
            if owner in also:
                found[owner] = max(found.get(owner, -1.0), round(float(scores[place]), 6))
        return found

    def _matrix(self, model: str, dimensions: int) -> Matrix:
        state = self._state(model)
        matrix = self._matrices.get((self._space, model))
        if matrix is None or matrix.state != state:
            matrix = self._loaded(model, dimensions, state)
            while len(self._matrices) >= _MOST_SPACES:
                self._matrices.pop(next(iter(self._matrices)), None)
            self._matrices[self._space, model] = matrix
        return matrix

    def _state(self, model: str) -> tuple[int, int]:
        """Changes with every change of the space's memories or vectors."""
        seq = self._connection.execute(select(heads.c.seq).where(heads.c.space == self._space)).scalar_one()
        mine = (embeddings.c.space == self._space) & (embeddings.c.model == model)
        count = self._connection.execute(
            select(func.count()).select_from(embeddings).where(mine)
        ).scalar_one()
        return int(seq), int(count)

    def _loaded(self, model: str, dimensions: int, state: tuple[int, int]) -> Matrix:
        query = (
            select(embeddings.c.memory_id, embeddings.c.vector)
            .where(embeddings.c.space == self._space, embeddings.c.model == model)
            .order_by(embeddings.c.memory_id)
        )
        owners: list[str] = []
        parts: list[bytes] = []
        for memory_id, vector in self._connection.execute(query):
            if len(vector) % (dimensions * _NUMBER.itemsize) == 0:  # of another size: made by another model
                owners += [memory_id] * (len(vector) // (dimensions * _NUMBER.itemsize))
                parts.append(vector)
        rows = np.frombuffer(b"".join(parts), dtype=_NUMBER).reshape(-1, dimensions).astype(np.float32)
        return Matrix(state, tuple(owners), rows)


def checked(parts: Sequence[bytes]) -> Sequence[bytes]:
    """`parts`, if each is a vector of length 1 and all have one size.

    Raises: Unavailable.
    """
    if not parts or len({len(part) for part in parts}) > 1:
        raise Unavailable("the embedder gave no vector, or vectors of several sizes")
    for part in parts:
        vector = np.frombuffer(part, dtype=_NUMBER) if part and len(part) % _NUMBER.itemsize == 0 else None
        if vector is None or not np.isfinite(vector).all() or abs(float(np.linalg.norm(vector)) - 1) > 0.01:
            raise Unavailable("the embedder gave a vector that is not finite or not of length 1")
    return parts
