"""Sign bits in the database: 1,024 vectors to a row, so that a process starts without reading the vectors.

Written with the vectors and cut with them: what is erased leaves no signs behind. On SQLite only.
"""

import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, and_, delete, func, insert, select, update

from holdfast.store import sqlite
from holdfast.store.schema import vector_blocks, vector_models
from holdfast.store.vector_kinds import Kind
from holdfast.store.vectors import NUMBER, are_sound, matrix
from holdfast.store.vectors_bits import Bits, signs_of, words_of

BLOCK = 1_024  # vectors
_MEASURED = 50_000  # vectors that a mean is made of

Numbers = NDArray[np.int64]
Mean = NDArray[np.float32]


class VectorBlocks:
    """The blocks of one kind and model in a space, and the vectors that they are made of."""

    EXACT_UP_TO = 50_000  # vectors: so many are searched as they are, more by their signs first

    def __init__(self, connection: Connection, space: str, kind: Kind, model: str) -> None:
        self._connection = connection
        self._kind = kind
        self._model = (vector_models.c.space == space) & (vector_models.c.model == model)
        self._key = {"space": space, "model": model, "kind": kind.name}
        self._mine = and_(*(vector_blocks.c[name] == value for name, value in self._key.items()))
        self._of_model = f"FROM {kind.table.name} WHERE space = ? AND model = ?"
        self._values = (space, model)

    @property
    def driver(self) -> sqlite3.Connection:
        return sqlite.driver_of(self._connection)

    def pack(self) -> None:
        """Brings the blocks up to date: whole ones only, and none while an exact search is quick enough."""
        mean = self._stored_mean()
        if mean is None:
            if self.count_after(0, self.EXACT_UP_TO + 1) <= self.EXACT_UP_TO:
                return
            mean = self.measured_mean()
            stored = {self._kind.mean.name: mean.astype(NUMBER).tobytes()}
            self._connection.execute(update(vector_models).where(self._model).values(stored))
        packed = self.packed_to()
        while self.count_after(packed, BLOCK) == BLOCK:
            found = next(self.signs_after(packed, mean, most=BLOCK), None)
            if found is None:  # all of them are damaged
                return
            numbers, bits = found
            packed = int(numbers[-1])
            row = {**self._key, "block": packed, "bits": _value(numbers, bits)}
            self._connection.execute(insert(vector_blocks).values(row))

    def cut(self, numbers: Sequence[int]) -> None:
        """Takes vectors out of the blocks that hold them."""
        words = words_of(self._dimensions())
        gone = np.array(sorted(numbers), dtype=np.int64)
        while len(gone):
            later = select(vector_blocks).where(self._mine, vector_blocks.c.block >= int(gone[0]))
            row = self._connection.execute(later.order_by(vector_blocks.c.block).limit(1)).one_or_none()
            if row is None:
                return
            held, bits = _parsed(row.bits, words)
            stays = ~np.isin(held, gone)
            this = and_(self._mine, vector_blocks.c.block == row.block)
            if stays.any():
                rest = {"bits": _value(held[stays], bits[:, stays])}
                self._connection.execute(update(vector_blocks).where(this).values(rest))
            else:
                self._connection.execute(delete(vector_blocks).where(this))
            gone = gone[gone > row.block]

    def all(self, dimensions: int) -> Iterator[tuple[Numbers, Bits]]:
        """What the blocks hold, oldest vectors first."""
        query = "SELECT bits FROM vector_blocks WHERE space = :space AND model = :model AND kind = :kind"
        for (value,) in self.driver.execute(f"{query} ORDER BY block", self._key):
            yield _parsed(value, words_of(dimensions))

    def intact(self, dimensions: int) -> bool:
        """Whether every block has a length that a block can have."""
        odd = func.length(vector_blocks.c.bits) % (8 * (1 + words_of(dimensions))) != 0
        query = select(vector_blocks.c.block).where(self._mine, odd)
        return self._connection.execute(query.limit(1)).first() is None

    def clear(self) -> None:
        """Removes all blocks and their mean; `pack` makes them again."""
        self._connection.execute(delete(vector_blocks).where(self._mine))
        self._connection.execute(
            update(vector_models).where(self._model).values({self._kind.mean.name: None})
        )

    def packed_to(self) -> int:
        """The number up to which vectors are in blocks."""
        query = select(func.max(vector_blocks.c.block)).where(self._mine)
        return self._connection.execute(query).scalar() or 0

    def packed_count(self, dimensions: int) -> int:
        """How many vectors are in blocks."""
        query = select(func.sum(func.length(vector_blocks.c.bits))).where(self._mine)
        return int(self._connection.execute(query).scalar() or 0) // (8 * (1 + words_of(dimensions)))

    def count_after(self, number: int, most: int = -1) -> int:
        """How many vectors came after a number, counted up to `most`."""
        query = f"SELECT count(*) FROM (SELECT 1 {self._of_model} AND number > ? LIMIT ?)"
        return int(self.driver.execute(query, (*self._values, number, most)).fetchone()[0])

    def signs_after(self, number: int, mean: Mean, most: int = -1) -> Iterator[tuple[Numbers, Bits]]:
        """The signs of the vectors that came after a number, made from the vectors."""
        query = f"SELECT number, vector {self._of_model} AND number > ? ORDER BY number LIMIT ?"
        rows = self.driver.execute(query, (*self._values, number, most))
        while chunk := rows.fetchmany(BLOCK):
            sound = _sound(chunk, len(mean))
            numbers = np.array([row[0] for row in sound], dtype=np.int64)
            if sound:
                yield numbers, signs_of(matrix([row[1] for row in sound], len(mean)), mean)

    def measured_mean(self) -> Mean:
        """The mean of the vectors that there are, of a part of them if they are many."""
        one_in = max(self.count_after(0) // _MEASURED, 1)
        query = f"SELECT number, vector {self._of_model} AND number % ? = 0"
        rows = self.driver.execute(query, (*self._values, one_in))
        total, seen = np.zeros(self._dimensions()), 0
        while chunk := rows.fetchmany(BLOCK):
            sound = _sound(chunk, len(total))
            total += matrix([row[1] for row in sound], len(total)).sum(axis=0, dtype=np.float64)
            seen += len(sound)
        mean: Mean = (total / max(seen, 1)).astype(np.float32)
        return mean

    def _stored_mean(self) -> Mean | None:
        value = self._connection.execute(select(self._kind.mean).where(self._model)).scalar()
        return None if value is None else np.frombuffer(value, dtype=NUMBER)

    def _dimensions(self) -> int:
        query = select(vector_models.c.dimensions).where(self._model)
        return int(self._connection.execute(query).scalar_one())


def _sound(rows: Sequence[tuple[int, bytes]], dimensions: int) -> list[tuple[int, bytes]]:
    """The rows whose vector is one."""
    right = are_sound([row[1] for row in rows], dimensions)
    return [row for row, is_right in zip(rows, right, strict=True) if is_right]


def _value(numbers: Numbers, bits: Bits) -> bytes:
    return numbers.astype("<i8").tobytes() + np.ascontiguousarray(bits).astype("<u8").tobytes()


def _parsed(value: bytes, words: int) -> tuple[Numbers, Bits]:
    count = len(value) // (8 * (1 + words))
    numbers = np.frombuffer(value, dtype="<i8", count=count)
    return numbers, np.frombuffer(value, dtype="<u8", offset=8 * count).reshape(words, count)
