"""Vectors in memory as their signs: 48 bytes instead of 1,536, for a space of more than some 50,000.

The signs are those of the difference to the space's mean, or else most of them would be alike. They only
choose candidates; what is answered is rescored from the vectors themselves, which stay in the database.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from holdfast.store.vectors import lowest

_CHUNK = 32_768  # rows compared at a time: their words fit the processor's cache
_WORD = 64  # bits

Bits = NDArray[np.uint64]


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
        differing = np.empty(_CHUNK, dtype=np.uint64)
        ones = np.empty(_CHUNK, dtype=np.uint8)
        three = np.empty(_CHUNK, dtype=np.uint8)
        for start in range(0, self.count, _CHUNK):
            end = min(start + _CHUNK, self.count)
            size = end - start
            for query, total in enumerate(found[:, start:end]):
                total[:] = 0
                for word, column in enumerate(self.columns[:, start:end]):
                    np.bitwise_xor(column, signs[word, query], out=differing[:size])
                    # Three words differ in at most 192 signs, which a byte holds.
                    target = ones if word % 3 else three
                    count_ones(differing[:size], target[:size])
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


def _count_by_table(words: Bits, out: NDArray[np.uint8]) -> None:
    """The ones in each word, where numpy is older than 2."""
    np.sum(_ONES[words.view(np.uint16)].reshape(-1, 4), axis=1, dtype=np.uint8, out=out)


if hasattr(np, "bitwise_count"):

    def count_ones(words: Bits, out: NDArray[np.uint8]) -> None:
        """The ones in each word."""
        np.bitwise_count(words, out=out)

else:  # numpy before 2
    count_ones = _count_by_table

#: How many ones each number of 16 bits has.
_ONES: NDArray[np.uint8] = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)
