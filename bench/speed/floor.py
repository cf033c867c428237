"""The least that the same work could cost: one synced insert into SQLite, one product in numpy."""

import sqlite3
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from bench.speed.corpus import DIMENSIONS, Corpus, Fact, GeneratedEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLOCK = 10_000
_ROOM = 1_000  # more rows, so that adding one copies no matrix


class Floor:
    """One table whose rows are synced to the disk, and one matrix of their vectors; nothing else."""

    def __init__(self, folder: Path, embedder: GeneratedEmbedder) -> None:
        import numpy as np

        self._embedder = embedder
        self._connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(
            "CREATE TABLE rows (id INTEGER PRIMARY KEY, content TEXT, category TEXT, vector BLOB)"
        )
        self._vectors = np.empty((_ROOM, DIMENSIONS), dtype=np.float32)
        self._categories: list[str] = []

    def fill(self, facts: Sequence[Fact]) -> None:
        self._connection.execute("BEGIN")
        self._insert(facts, self._embedder.matrix([fact.content for fact in facts]))
        self._connection.execute("COMMIT")

    def add(self, fact: Fact) -> None:
        with self._embedder.meter.running():
            vectors = self._embedder.matrix([fact.content])
        self._insert([fact], vectors)

    def search(self, question: str, hits: int, category: str | None) -> int:
        import numpy as np

        with self._embedder.meter.running():
            [asked] = self._embedder.matrix([question])
        scores = product(self._vectors[: len(self._categories)], asked)
        if category is not None:
            scores[np.array(self._categories) != category] = -1
        best = np.argpartition(scores, -hits)[-hits:].tolist()
        marks = ", ".join(repeat("?", len(best)))
        return len(self._connection.execute(f"SELECT * FROM rows WHERE id IN ({marks})", best).fetchall())

    def _insert(self, facts: Sequence[Fact], vectors: "NDArray[np.float32]") -> None:
        import numpy as np

        start = len(self._categories)
        if start + len(facts) > len(self._vectors):
            room = np.empty((start + len(facts) + _ROOM, DIMENSIONS), dtype=np.float32)
            room[:start] = self._vectors[:start]
            self._vectors = room
        self._vectors[start : start + len(facts)] = vectors
        self._categories += [fact.category for fact in facts]
        self._connection.executemany(
            "INSERT INTO rows VALUES (?, ?, ?, ?)",
            [
                (start + place, fact.content, fact.category, vector.tobytes())
                for place, (fact, vector) in enumerate(zip(facts, vectors, strict=True))
            ],
        )


def matrix(corpus: Corpus, embedder: GeneratedEmbedder, size: int) -> "NDArray[np.float32]":
    """The vectors of the first `size` memories of a corpus in one piece of memory."""
    import numpy as np

    rows = np.empty((size, DIMENSIONS), dtype=np.float32)
    for start in range(0, size, _BLOCK):
        stop = min(size, start + _BLOCK)
        texts: Sequence[str] = [fact.content for fact in corpus.facts(start, stop)]
        rows[start:stop] = embedder.matrix(texts)
    return rows


def product(rows: "NDArray[np.float32]", asked: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """One product of all rows with a question."""
    found: NDArray[np.float32] = rows @ asked
    return found
