"""The least that the same work could cost: one insert into SQLite, one product in numpy."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from bench.speed.corpus import DIMENSIONS, Corpus, GeneratedEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLOCK = 10_000


class BareTable:
    """A file with one table, whose rows are synced to the disk one by one, and nothing else."""

    def __init__(self, file: Path, row: Mapping[str, Any]) -> None:
        self._connection = sqlite3.connect(file, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("DROP TABLE IF EXISTS rows")
        others = [name for name in row if name != "id"]
        self._connection.execute(f"CREATE TABLE rows (id TEXT PRIMARY KEY, {', '.join(others)})")
        self._insert = f"INSERT INTO rows VALUES (:id, {', '.join(f':{name}' for name in others)})"

    def insert(self, row: Mapping[str, Any]) -> None:
        self._connection.execute(self._insert, {name: _plain(value) for name, value in row.items()})

    def __enter__(self) -> "BareTable":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with closing(self._connection):
            pass


def matrix(corpus: Corpus, embedder: GeneratedEmbedder, size: int) -> "NDArray[np.float32]":
    """The vectors of the first `size` memories of a corpus in one piece of memory."""
    import numpy as np

    rows = np.empty((size, DIMENSIONS), dtype=np.float32)
    for start in range(0, size, _BLOCK):
        stop = min(size, start + _BLOCK)
        texts: Sequence[str] = [fact.content for fact in corpus.facts(start, stop)]
        rows[start:stop] = embedder.matrix(texts)
    return rows


def looped(rows: "NDArray[np.float32]", asked: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """One product of all rows with a question, on one core."""
    import numpy as np

    found: NDArray[np.float32] = np.einsum("rd,d->r", rows, asked)
    return found


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value
