"""Search by meaning on SQLite: over the space's own vectors, in memory, exact or by signs and then exact.

What is loaded is brought up to date before each search: one small question tells if anything changed, and
only vectors newer than those in memory are read. What anybody committed before a search is seen by it.
"""
# budget: the sign bits as rows are a form that nothing else knows.

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, and_, delete, func, insert, select, update

from holdfast.errors import Unavailable
from holdfast.store import sqlite
from holdfast.store.schema import vector_blocks, vector_models
from holdfast.store.sqlite_driver import sqlite3
from holdfast.store.vector_feed import Kind
from holdfast.store.vector_rows import VectorCache
from holdfast.store.vectors import (
    NUMBER,
    Bits,
    ExactRows,
    Row,
    SignBits,
    are_sound,
    matrix,
    products,
    signs_of,
    words_of,
)

_RESCORED = 400  # of 100,000; of a million 1,000
_CHUNK = 2_000  # rows that are read and checked together
_MOST_STALE = 0.25  # of what is loaded, or of the candidates, before all is loaded anew
BLOCK = 1_024  # vectors
_MEASURED = 50_000  # vectors that a mean is made of

Numbers = NDArray[np.int64]
Mean = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class State:
    """What a model's vectors in a space were when they were loaded."""

    mark: str
    dropped: int
    dimensions: int
    parts: int  # the most that one text has
    mean: bytes | None
    last: int  # number


@dataclass(frozen=True, slots=True)
class LoadedVectors:
    """Vectors in memory."""

    state: State
    vectors: ExactRows | SignBits

    @property
    def size_in_bytes(self) -> int:
        return self.vectors.size_in_bytes


class SqliteSearch:
    """The vectors of one kind in one space. Without a cache they are loaded for this search alone."""

    def __init__(self, connection: Connection, space: str, kind: Kind, cache: VectorCache | None) -> None:
        self._connection = connection
        self._driver = sqlite.driver_of(connection)
        self._space = space
        self._kind = kind
        self._cache = cache

    def nearest(
        self, queries: Sequence[bytes], model: str, limit: int, also: Collection[str]
    ) -> dict[str, tuple[float, ...]]:
        """As `VectorTable.nearest`; the queries are vectors already."""
        state = self._state(model)
        if state is None:
            return {}
        given = len(queries[0]) // NUMBER.itemsize
        if given != state.dimensions:
            raise Unavailable(
                f"the query has {given} numbers, but vectors of {model} have {state.dimensions}"
            )
        asked = matrix(queries, given)
        vectors = self._held(model, state).vectors
        if isinstance(vectors, ExactRows):
            return vectors.nearest(asked, limit, also)
        return self._rescored(vectors, asked, model, limit, also, in_parts=state.parts > 1)

    def pack(self, model: str) -> None:
        """Brings the sign bits in the database up to date."""
        self._blocks(model).pack()

    def cut(self, model: str, numbers: Sequence[int]) -> None:
        """Takes vectors out of the sign bits in the database."""
        self._blocks(model).cut(numbers)

    def mend(self, model: str, dimensions: int) -> None:
        """Makes sign bits again that are damaged."""
        blocks = self._blocks(model)
        if not blocks.intact(dimensions):
            blocks.clear()
            blocks.pack()

    def unsound(self, model: str, dimensions: int) -> list[str]:
        """The owners of values that are no vectors of this model."""
        query = f"SELECT {self._kind.owner.name}, vector FROM {self._kind.table.name}"
        rows = self._driver.execute(f"{query} WHERE space = ? AND model = ?", (self._space, model))
        found: set[str] = set()
        while chunk := rows.fetchmany(_CHUNK):
            sound = are_sound([row[1] for row in chunk], dimensions)
            found |= {row[0] for row, is_sound in zip(chunk, sound, strict=True) if not is_sound}
        return sorted(found)

    def _blocks(self, model: str) -> "VectorBlocks":
        return VectorBlocks(self._connection, self._space, self._kind, model)

    def _state(self, model: str) -> State | None:
        query = (
            f"SELECT mark, dropped, dimensions, parts, {self._kind.mean.name}, vectors "
            "FROM vector_models JOIN heads USING (space) WHERE space = ? AND model = ?"
        )
        row = self._driver.execute(query, (self._space, model)).fetchone()
        return State(*row) if row and row[2] is not None else None

    # ------------------------------------------------------------------------------- what is in memory

    def _held(self, model: str, state: State) -> LoadedVectors:
        if self._cache is None:
            return self._loaded(model, state)
        key = (self._space, self._kind.name, model)
        with self._cache.updating(key):
            held = self._cache.get(key)
            if not isinstance(held, LoadedVectors) or held.state != state:
                held = self._updated(held if isinstance(held, LoadedVectors) else None, model, state)
                self._cache.put(key, held)
            return held

    def _updated(self, held: LoadedVectors | None, model: str, state: State) -> LoadedVectors:
        """What is loaded with what is newer; all anew where that is not possible."""
        if held is None or (held.state.mark, held.state.mean) != (state.mark, state.mean):
            return self._loaded(model, state)
        if state.last < held.state.last or state.dropped < held.state.dropped:
            return held  # this transaction began before the one that loaded it
        blocks = self._blocks(model)
        vectors, after = held.vectors, held.state.last
        more = blocks.count_after(after)
        if isinstance(vectors, SignBits):
            return LoadedVectors(state, vectors.with_bits(blocks.signs_after(after, vectors.mean), more))
        if more:  # read whole first: what is loaded must stay as it is if that fails
            vectors = vectors.with_rows(list(self._rows_after(model, after, state.dimensions)), more)
        if state.dropped != held.state.dropped:
            vectors = vectors.with_only(self._numbers(model))
        too_many = vectors.count - len(vectors.dead) > blocks.EXACT_UP_TO
        if too_many or len(vectors.dead) > _MOST_STALE * vectors.count:
            return self._loaded(model, state)
        return LoadedVectors(state, vectors)

    def _loaded(self, model: str, state: State) -> LoadedVectors:
        blocks = self._blocks(model)
        count = blocks.count_after(0, blocks.EXACT_UP_TO + 1)
        if count <= blocks.EXACT_UP_TO:
            rows = ExactRows.empty(state.dimensions, count)
            return LoadedVectors(state, rows.with_rows(self._rows_after(model, 0, state.dimensions), count))
        if state.mean is None or not blocks.intact(state.dimensions):
            signs = SignBits.empty(blocks.measured_mean(), blocks.count_after(0))
            return LoadedVectors(state, signs.with_bits(blocks.signs_after(0, signs.mean), 0))
        packed, packed_to = blocks.packed_count(state.dimensions), blocks.packed_to()
        mean = np.frombuffer(state.mean, dtype=NUMBER)
        signs = SignBits.empty(mean, packed + blocks.count_after(packed_to))
        signs = signs.with_bits(blocks.all(state.dimensions), 0)
        return LoadedVectors(state, signs.with_bits(blocks.signs_after(packed_to, mean), 0))

    def _rows_after(self, model: str, number: int, dimensions: int) -> Iterator[Row]:
        """The rows that came after a number; what is damaged is left out and made again later."""
        query = (
            f"SELECT number, {self._kind.owner.name}, part, vector FROM {self._kind.table.name} "
            "WHERE space = ? AND model = ? AND number > ? ORDER BY number"
        )
        rows = self._driver.execute(query, (self._space, model, number))
        before = None
        while chunk := rows.fetchmany(_CHUNK):
            sound = are_sound([row[3] for row in chunk], dimensions)
            for row, is_sound in zip(chunk, sound, strict=True):
                number, owner, part, vector = row
                if is_sound:  # the first one that is left of a text stands for its beginning
                    yield row if owner == before or not part else (number, owner, 0, vector)
                    before = owner
                else:
                    self._note_damage(model, owner)

    def _note_damage(self, model: str, owner: str) -> None:
        if self._cache is not None:
            self._cache.note_damage((self._space, self._kind.name, model), owner)

    def _numbers(self, model: str) -> list[int]:
        query = f"SELECT number FROM {self._kind.table.name} WHERE space = ? AND model = ?"
        return [row[0] for row in self._driver.execute(query, (self._space, model))]

    # -------------------------------------------------------------------------- candidates, then exactly

    def _rescored(
        self,
        signs: SignBits,
        asked: NDArray[np.float32],
        model: str,
        limit: int,
        also: Collection[str],
        *,
        in_parts: bool,
    ) -> dict[str, tuple[float, ...]]:
        wanted = max(_RESCORED, 2 * limit, round(_RESCORED * (signs.count / 100_000) ** 0.4))
        numbers = signs.candidates(asked, wanted if limit else 0)
        owners, rows = self._vectors(model, "number", numbers.tolist(), asked.shape[1])
        if self._cache is not None and len(owners) < (1 - _MOST_STALE) * len(numbers):
            self._cache.forget((self._space, self._kind.name, model))  # much of it was replaced or dropped
        scores = products(rows, asked)
        near = dict.fromkeys(owner for line in scores for owner in _best(owners, line, limit))
        # Other parts of a long text may be nearer to another query than the one that made it a candidate.
        several = self._of_several_parts(model, list(near)) if in_parts else set()
        rest = [*several, *(owner for owner in also if owner not in near)]
        found = _cosines(owners, scores, near.keys() - several)
        if rest:
            owners, rows = self._vectors(model, self._kind.owner.name, rest, asked.shape[1])
            found |= _cosines(owners, products(rows, asked), set(owners))
        return found

    def _vectors(
        self, model: str, column: str, values: Sequence[int] | Sequence[str], dimensions: int
    ) -> tuple[list[str], NDArray[np.float32]]:
        """Owners and vectors of these numbers, or of these owners."""
        query = (
            f"SELECT {self._kind.owner.name}, vector "
            f"FROM json_each(?) CROSS JOIN {self._kind.table.name} AS held "
            f"ON held.space = ? AND held.model = ? AND held.{column} = json_each.value"
        )
        rows = self._driver.execute(query, (json.dumps(values), self._space, model)).fetchall()
        sound = are_sound([vector for _, vector in rows], dimensions)
        for (owner, _), is_sound in zip(rows, sound, strict=True):
            if not is_sound:
                self._note_damage(model, owner)
        rows = [row for row, is_sound in zip(rows, sound, strict=True) if is_sound]
        return [owner for owner, _ in rows], matrix([vector for _, vector in rows], dimensions)

    def _of_several_parts(self, model: str, owners: Sequence[str]) -> set[str]:
        query = (
            f"SELECT {self._kind.owner.name} FROM json_each(?) CROSS JOIN {self._kind.table.name} AS held "
            f"ON held.space = ? AND held.model = ? AND held.{self._kind.owner.name} = value AND part = 1"
        )
        values = (json.dumps(owners), self._space, model)
        return {row[0] for row in self._driver.execute(query, values)}


def _best(owners: Sequence[str], scores: NDArray[np.float32], limit: int) -> list[str]:
    """The owners of the highest scores."""
    ordered = np.argsort(-scores, kind="stable").tolist()
    return list(islice(dict.fromkeys(owners[place] for place in ordered), limit))


def _cosines(
    owners: Sequence[str], scores: NDArray[np.float32], wanted: Collection[str]
) -> dict[str, tuple[float, ...]]:
    """For each of the wanted owners the cosine of its nearest part with each query."""
    found: dict[str, tuple[float, ...]] = {}
    for owner, cosines in zip(owners, np.round(scores.T.astype(np.float64), 6).tolist(), strict=True):
        if owner in wanted:
            known = found.get(owner)
            found[owner] = tuple(map(max, known, cosines)) if known else tuple(cosines)
    return found


class VectorBlocks:
    """The blocks of one kind and model in a space, and the vectors that they are made of.

    Sign bits of 1,024 vectors to a row, so that a process starts without reading the vectors. Written with
    the vectors and cut with them: what is erased leaves no signs behind.
    """

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
