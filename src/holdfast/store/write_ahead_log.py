"""SQLite's write-ahead log as a file: its frames, checked as SQLite itself checks them.

Each frame is a page with the checksum of everything before it, so a frame that was not written whole, or that
is left from an earlier use of the file, is told from one that counts. Nothing here opens the database.
"""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from gzip import GzipFile
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Checksum = tuple[int, int]

_HEADER = 32  # bytes
_FRAME = 24  # bytes before each page
_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # and the byte order of the checksums
_MASK = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Log:
    """The header of a log. Its salts change whenever SQLite begins it anew."""

    page_size: int
    order: str
    salts: bytes
    checksum: Checksum


@dataclass(frozen=True, slots=True)
class Frame:
    """One page as a transaction left it; the last one of a transaction has the size of the database."""

    raw: bytes
    page: int
    pages: int  # of the database after the commit; 0: more of the transaction follows
    checksum: Checksum

    @property
    def content(self) -> bytes:
        return self.raw[_FRAME:]


def log_of(file: IO[bytes]) -> Log | None:
    """The log that a file begins with; none if it holds none."""
    raw = os.pread(file.fileno(), _HEADER, 0)
    if len(raw) < _HEADER:
        return None
    magic, _, page_size, _, first, second = struct.unpack(">4I8x2I", raw)
    order = _MAGIC.get(magic)
    if order is None or _checksum(raw[:24], order, (0, 0)) != (first, second):
        return None
    return Log(page_size, order, raw[16:24], (first, second))


def stored_checksum(file: IO[bytes], log: Log, number: int) -> Checksum | None:
    """The checksum of a frame, counted from 1, as it stands in the file; none if it is of another log."""
    raw = os.pread(file.fileno(), _FRAME, _HEADER + (number - 1) * (_FRAME + log.page_size))
    if len(raw) < _FRAME or raw[8:16] != log.salts:
        return None
    first, second = struct.unpack(">2I", raw[16:])
    return first, second


def last_commit(file: IO[bytes], log: Log, after: int) -> int:
    """The last frame that ends a transaction, judged by its head alone; `after` if none is behind it."""
    found, number, step = after, after + 1, _FRAME + log.page_size
    while len(raw := os.pread(file.fileno(), _FRAME, _HEADER + (number - 1) * step)) == _FRAME:
        if raw[8:16] != log.salts:
            break
        if raw[4:8] != bytes(4):
            found = number
        number += 1
    return found


def frames(file: IO[bytes] | GzipFile, log: Log, checksum: Checksum) -> Iterator[Frame]:
    """The frames from where the file stands, up to the first one that does not count."""
    step = _FRAME + log.page_size
    while len(raw := file.read(step)) == step and raw[8:16] == log.salts:
        page, pages, first, second = struct.unpack(">2I8x2I", raw[:_FRAME])
        checksum = _checksum(raw[:8] + raw[_FRAME:], log.order, checksum)
        if checksum != (first, second) or page == 0:
            return
        yield Frame(raw, page, pages, checksum)


def seek(file: IO[bytes], log: Log, after: int) -> None:
    """Stands before the frame behind number `after`."""
    file.seek(_HEADER + after * (_FRAME + log.page_size))


def _checksum(data: bytes, order: str, seed: Checksum) -> Checksum:
    """SQLite's checksum: for each pair of words, s0 += word + s1, then s1 += next word + s0.

    Both sums are linear in the words, so all steps are one product with factors that depend on the length.
    """
    import numpy as np  # late: every command opens the store

    factors, (a, b, c, d) = _factors(len(data) // 4)
    first, second = factors @ np.frombuffer(data, f"{order}u4").astype(np.uint32, copy=False)
    return (a * seed[0] + b * seed[1] + int(first)) & _MASK, (c * seed[0] + d * seed[1] + int(second)) & _MASK


@lru_cache(maxsize=8)
def _factors(words: int) -> "tuple[np.ndarray[Any, np.dtype[np.uint32]], tuple[int, int, int, int]]":
    """The factor of each word in both sums, and those of the seed."""
    import numpy as np

    first, second = [0] * words, [0] * words
    a, b, c, d = 1, 0, 0, 1  # the steps that follow, as a matrix
    for at in range(words - 2, -1, -2):
        # A step adds its words as (s0, s1) += (x, x + y).
        first[at], first[at + 1] = (a + b) & _MASK, b
        second[at], second[at + 1] = (c + d) & _MASK, d
        a, b, c, d = (a + b) & _MASK, (a + 2 * b) & _MASK, (c + d) & _MASK, (c + 2 * d) & _MASK
    return np.array([first, second], np.uint32), (a, b, c, d)
