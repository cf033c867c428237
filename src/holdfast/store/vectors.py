"""Vectors in memory: numbers of 32 bits, of length 1, all of a model of one size.

Up to some 50,000 they are kept as they are and searched by one product; a text's parts stand side by side,
and later states share the memory of earlier ones: rows are only added, and what went is named by its place.
Above that only their signs are kept: 48 bytes instead of 1,536. The signs are those of the difference to the
space's mean, or else most of them would be alike. They only choose candidates; what is answered is rescored
from the vectors themselves, which stay in the database.
"""
# budget: two forms of one thing, with the arithmetic that they share.

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import Unavailable

NUMBER = np.dtype("<f4")
_TOLERANCE = 0.01  # of a length
_PIECE = 1024  # rows that fit the processor's cache
_SAMPLED = 64  # one value in so many
_TAKEN_IN = 2_000  # rows at a time
_COMPARED = 32_768  # signs of rows at a time: their words fit the processor's cache
_WORD = 64  # bits
_NONE = np.empty(0, dtype=np.int64)

#: A number, its owner, which part of its text, and the vector; in the order of the numbers.
Row = tuple[int, str, int, bytes]
Bits = NDArray[np.uint64]


def checked(parts: Sequence[bytes]) -> Sequence[bytes]:
    """`parts`, if each is a vector of length 1 and all have one size.

    Raises: Unavailable.
    """
    _matrix(parts)
    return parts


def normalised(parts: Sequence[bytes]) -> list[bytes]:
    """The same vectors with their length brought to exactly 1, so that a product is a cosine.

    Raises: Unavailable, as `checked`.
    """
    rows = _matrix(parts)
    return [row.tobytes() for row in rows / np.linalg.norm(rows, axis=1, keepdims=True)]


def matrix(parts: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    """Vectors one below the other."""
    return np.frombuffer(b"".join(parts), dtype=NUMBER).reshape(-1, dimensions)


def are_sound(parts: Sequence[bytes], dimensions: int) -> NDArray[np.bool_]:
    """Which of these stored values are vectors of this size and of length 1; damage leaves others behind."""
    size = dimensions * NUMBER.itemsize
    sound = np.array([isinstance(part, bytes) and len(part) == size for part in parts], dtype=np.bool_)
    rows = matrix([part for part, right in zip(parts, sound, strict=True) if right], dimensions)
    with np.errstate(all="ignore"):
        sound[sound] = abs(np.linalg.norm(rows, axis=1) - 1) <= _TOLERANCE  # never true of NaN
    return sound


def products(rows: NDArray[np.float32], asked: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each row with each query, a line for each query.

    Piece by piece, so that rows come from memory once for all queries; and row by row, because the threads
    of a product of matrices go on spinning after it.
    """
    found = np.empty((len(asked), len(rows)), dtype=np.float32)
    for start in range(0, len(rows), _PIECE):
        piece = rows[start : start + _PIECE]
        for query, line in zip(asked, found, strict=True):
            np.vecdot(piece, query, out=line[start : start + _PIECE])
    return found


def lowest(values: NDArray[Any], limit: int) -> NDArray[np.int64]:
    """The places of the `limit` lowest values, in no order. A sample tells where they begin."""
    if len(values) <= limit:
        return np.arange(len(values))
    sample = np.sort(values[::_SAMPLED])
    at = limit // _SAMPLED * 2
    while True:
        places = np.flatnonzero(values <= (sample[at] if at < len(sample) else values.max()))
        if len(places) >= limit:
            return places[np.argpartition(values[places], limit - 1)[:limit]]
        at = 2 * at + 1


def _matrix(parts: Sequence[bytes]) -> NDArray[np.float32]:
    if not parts or len({len(part) for part in parts}) > 1:
        raise Unavailable("the embedder returned no vector, or vectors of different sizes")
    size = len(parts[0])
    rows = matrix(parts, size // NUMBER.itemsize) if size and size % NUMBER.itemsize == 0 else None
    if (
        rows is None
        or not np.isfinite(rows).all()
        or (abs(np.linalg.norm(rows, axis=1) - 1) > _TOLERANCE).any()
    ):
        raise Unavailable("the embedder returned a vector that is not finite or not of length 1")
    return rows


@dataclass(frozen=True, slots=True)
class ExactRows:
    """The vectors of one kind and model in a space."""

    dimensions: int
    rows: NDArray[np.float32]  # with room to grow
    numbers: NDArray[np.int64]
    owners: list[str]
    places: dict[str, tuple[int, int]]  # the first place of an owner, and how many
    dead: NDArray[np.int64]  # places of what was replaced or dropped
    count: int = 0

    @classmethod
    def empty(cls, dimensions: int, room: int) -> "ExactRows":
        rows = np.empty((room, dimensions), dtype=np.float32)
        return cls(dimensions, rows, np.empty(room, dtype=np.int64), [], {}, _NONE)

    @property
    def size_in_bytes(self) -> int:
        return self.rows.nbytes + self.numbers.nbytes + 200 * self.count

    def with_rows(self, more: Iterable[Row], room: int) -> "ExactRows":
        """The same with newer rows; an owner's rows replace those that it had."""
        grown = self if self.count + room <= len(self.numbers) else self._with_room(room)
        count = grown.count
        places = dict(grown.places)  # a search in another thread still needs those it began with
        owners = grown.owners if len(grown.owners) == count else grown.owners[:count]  # an update that failed
        replaced: list[int] = []
        coming = iter(more)
        while chunk := list(islice(coming, _TAKEN_IN)):
            end = count + len(chunk)
            grown.rows[count:end] = matrix([row[3] for row in chunk], self.dimensions)
            grown.numbers[count:end] = [row[0] for row in chunk]
            for place, (_, owner, part, _) in enumerate(chunk, start=count):
                first, parts = places.get(owner, (0, 0))
                if part:
                    places[owner] = (first, parts + 1)
                else:
                    replaced += range(first, first + parts)
                    places[owner] = (place, 1)
                owners.append(owner)
            count = end
        dead = np.append(grown.dead, np.array(replaced, dtype=np.int64)) if replaced else grown.dead
        return replace(grown, owners=owners, places=places, count=count, dead=dead)

    def with_only(self, numbers: Sequence[int]) -> "ExactRows":
        """The same without the rows whose numbers are gone."""
        alive = np.isin(self.numbers[: self.count], np.array(numbers, dtype=np.int64))
        return replace(self, dead=np.flatnonzero(~alive))

    def nearest(
        self, asked: NDArray[np.float32], limit: int, also: Collection[str]
    ) -> dict[str, tuple[float, ...]]:
        """The owners nearest to each row of `asked`, and those of `also`, each with its best cosines."""
        if not self.count:
            return {}
        if not limit:
            return self._asked_for(asked, also)
        scores = products(self.rows[: self.count], asked)
        scores[:, self.dead] = -np.inf
        near = dict.fromkeys(owner for row in scores for owner in self._best(row, limit))
        return self._cosines(scores, [*near, *(owner for owner in also if owner not in near)])

    def _asked_for(self, asked: NDArray[np.float32], owners: Collection[str]) -> dict[str, tuple[float, ...]]:
        """The same for known owners alone, without a look at any other row."""
        dead = set(self.dead.tolist())
        spans = ((owner, *self.places.get(owner, (0, 0))) for owner in owners)
        alive = [span for span in spans if 0 < span[2] <= self.count - span[1] and span[1] not in dead]
        if not alive:
            return {}
        places = [place for _, first, parts in alive for place in range(first, first + parts)]
        starts = np.cumsum([0, *(parts for _, _, parts in alive[:-1])])
        best = np.maximum.reduceat(products(self.rows[places], asked), starts, axis=1).astype(np.float64)
        cosines = map(tuple, np.round(best, 6).T.tolist())
        return dict(zip((owner for owner, _, _ in alive), cosines, strict=True))

    def _best(self, scores: NDArray[np.float32], limit: int) -> list[str]:
        """The owners of the highest scores; parts of one text take one place."""
        alive = self.count - len(self.dead)
        wanted = limit
        while True:
            wanted = min(wanted, alive)
            places = lowest(-scores, wanted) if wanted else _NONE
            ordered = places[np.argsort(-scores[places], kind="stable")].tolist()
            owners = list(dict.fromkeys(self.owners[place] for place in ordered))
            if len(owners) >= limit or wanted == alive:
                return owners[:limit]
            wanted *= 4

    def _cosines(self, scores: NDArray[np.float32], owners: list[str]) -> dict[str, tuple[float, ...]]:
        firsts, several = [], {}
        known = []
        for owner in owners:
            first, parts = self.places.get(owner, (0, 0))
            if 0 < parts <= self.count - first:
                known.append(owner)
                firsts.append(first)
                if parts > 1:
                    several[owner] = (first, parts)
        best = np.round(scores[:, firsts].astype(np.float64), 6).T.tolist()
        found = {owner: tuple(cosines) for owner, cosines in zip(known, best, strict=True)}
        for owner, (first, parts) in several.items():
            highest = scores[:, first : first + parts].max(axis=1).astype(np.float64)
            found[owner] = tuple(np.round(highest, 6).tolist())
        return {owner: cosines for owner, cosines in found.items() if cosines[0] > -2}

    def _with_room(self, room: int) -> "ExactRows":
        size = self.count + room + self.count // 8
        grown = ExactRows.empty(self.dimensions, size)
        grown.rows[: self.count] = self.rows[: self.count]
        grown.numbers[: self.count] = self.numbers[: self.count]
        return replace(grown, owners=self.owners, places=self.places, count=self.count, dead=self.dead)


@dataclass(frozen=True, slots=True)
class SignBits:
    """The signs of one kind and model in a space: a line for each word of 64, a place for each vector."""

    mean: NDArray[np.float32]
    columns: Bits  # with room to grow
    numbers: NDArray[np.int64]
    count: int = 0

    @classmethod
    def empty(cls, mean: NDArray[np.float32], room: int) -> "SignBits":
        columns = np.empty((words_of(len(mean)), room), dtype=np.uint64)
        return cls(mean, columns, np.empty(room, dtype=np.int64))

    @property
    def size_in_bytes(self) -> int:
        return self.columns.nbytes + self.numbers.nbytes

    def with_bits(self, more: Iterable[tuple[NDArray[np.int64], Bits]], room: int) -> "SignBits":
        """The same with newer rows."""
        grown = self if self.count + room <= len(self.numbers) else self._with_room(room)
        count = grown.count
        for numbers, bits in more:
            end = count + len(numbers)
            grown.numbers[count:end] = numbers
            grown.columns[:, count:end] = bits
            count = end
        return replace(grown, count=count)

    def candidates(self, asked: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
        """The numbers of those whose signs are most like a query's, together for all rows of `asked`."""
        signs = signs_of(asked, self.mean)
        places = [lowest(found, limit) for found in self._distances(signs)]
        return self.numbers[np.sort(places[0]) if len(places) == 1 else np.unique(np.concatenate(places))]

    def _distances(self, signs: Bits) -> NDArray[np.uint16]:
        """In how many signs each row differs from each query."""
        found = np.empty((signs.shape[1], self.count), dtype=np.uint16)
        differing = np.empty(_COMPARED, dtype=np.uint64)
        ones = np.empty(_COMPARED, dtype=np.uint8)
        three = np.empty(_COMPARED, dtype=np.uint8)
        for start in range(0, self.count, _COMPARED):
            end = min(start + _COMPARED, self.count)
            size = end - start
            for query, total in enumerate(found[:, start:end]):
                total[:] = 0
                for word, column in enumerate(self.columns[:, start:end]):
                    np.bitwise_xor(column, signs[word, query], out=differing[:size])
                    # Three words differ in at most 192 signs, which a byte holds.
                    target = ones if word % 3 else three
                    np.bitwise_count(differing[:size], out=target[:size])
                    if word % 3:
                        np.add(three[:size], ones[:size], out=three[:size])
                    if word % 3 == 2 or word == len(self.columns) - 1:
                        np.add(total, three[:size], out=total)
        return found

    def _with_room(self, room: int) -> "SignBits":
        grown = SignBits.empty(self.mean, self.count + room + self.count // 8)
        grown.columns[:, : self.count] = self.columns[:, : self.count]
        grown.numbers[: self.count] = self.numbers[: self.count]
        return replace(grown, count=self.count)


def signs_of(rows: NDArray[np.float32], mean: NDArray[np.float32]) -> Bits:
    """The signs of each row, in columns of 64."""
    signs = np.zeros((len(rows), words_of(len(mean)) * _WORD), dtype=bool)
    signs[:, : len(mean)] = rows > mean
    return np.ascontiguousarray(np.packbits(signs, axis=1).view(np.uint64).T)


def words_of(dimensions: int) -> int:
    """Words of 64 bits that hold one sign for each of so many numbers."""
    return -(-dimensions // _WORD)
