"""What a vector is: numbers of 32 bits, of length 1, all of a model of one size."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import Unavailable

NUMBER = np.dtype("<f4")
_TOLERANCE = 0.01  # of a length
_PIECE = 512  # rows that fit the processor's cache
_SAMPLED = 64  # one value in so many


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

    Piece by piece, so that rows come from memory once for all queries; einsum reads them faster than BLAS.
    """
    found = np.empty((len(asked), len(rows)), dtype=np.float32)
    for start in range(0, len(rows), _PIECE):
        piece = rows[start : start + _PIECE]
        line = found[:, start : start + _PIECE]
        np.einsum("rd,d->r", piece, asked[0], out=line[0])
        for number in range(1, len(asked)):
            np.dot(piece, asked[number], out=line[number])
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
