"""Full text on SQLite: FTS5 over words that carry their space as a prefix."""

from collections.abc import Sequence

from sqlalchemy import Connection, text

from holdfast.domain.memory import Memory
from holdfast.store.full_text import indexed


class SqliteFullText:
    """The searchable words of one space's memories."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space
        self._prefix = _prefix(space)

    def put(self, memory: Memory) -> None:
        """Makes a memory findable by its present wording."""
        self.drop(memory.id)
        doc = self._connection.execute(
            text("INSERT INTO memory_docs (space, memory_id) VALUES (:space, :id) RETURNING doc"),
            {"space": self._space, "id": memory.id},
        ).scalar_one()
        self._connection.execute(
            text("INSERT INTO memory_words (rowid, words) VALUES (:doc, :words)"),
            {"doc": doc, "words": " ".join(self._prefix + word for word in indexed(memory))},
        )

    def drop(self, memory_id: str) -> None:
        key = {"space": self._space, "id": memory_id}
        mine = "SELECT doc FROM memory_docs WHERE space = :space AND memory_id = :id"
        self._connection.execute(text(f"DELETE FROM memory_words WHERE rowid IN ({mine})"), key)
        self._connection.execute(
            text("DELETE FROM memory_docs WHERE space = :space AND memory_id = :id"), key
        )

    def matching(self, words: Sequence[str], limit: int) -> list[str]:
        """Ids of memories that hold any of `words`, best match first."""
        if not words:
            return []
        any_of = " OR ".join(f'"{self._prefix}{word}"' for word in words)
        query = text(
            "SELECT memory_docs.memory_id "
            "FROM memory_words JOIN memory_docs ON memory_docs.doc = memory_words.rowid "
            "WHERE memory_words MATCH :any_of ORDER BY memory_words.rank, memory_docs.doc LIMIT :limit"
        )
        return list(self._connection.execute(query, {"any_of": any_of, "limit": limit}).scalars())

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """In how many memories each word stands."""
        found = {}
        for word in words:
            query = text("SELECT doc FROM memory_terms WHERE term = :term")
            found[word] = self._connection.execute(query, {"term": self._prefix + word}).scalar() or 0
        return found


def _prefix(space: str) -> str:
    """A space's mark on its words: letters and digits only, and no mark begins another."""
    return space.replace("z", "zz").replace("-", "zh").replace("_", "zu") + "zq"
