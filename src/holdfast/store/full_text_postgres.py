"""Full text on PostgreSQL: one tsvector a memory, of short marks that stand for a space's words.

A tsvector holds at most a megabyte and says nothing when it is cut; the words of a long text under a space's
prefix would pass that. A mark of eight characters, made of space and word, never does.
"""

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b

from sqlalchemy import Connection, text

from holdfast.domain.memory import Memory
from holdfast.store.full_text import indexed


class PostgresFullText:
    """The searchable words of one space's memories."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def put(self, memory: Memory) -> None:
        """Makes a memory findable by its present wording."""
        statement = text(
            "INSERT INTO memory_words (space, memory_id, words) "
            "VALUES (:space, :id, array_to_tsvector(:words)) "
            "ON CONFLICT (space, memory_id) DO UPDATE SET words = excluded.words"
        )
        marks = sorted({self._mark(word) for word in indexed(memory)})
        self._connection.execute(statement, {"space": self._space, "id": memory.id, "words": marks})

    def drop(self, memory_id: str) -> None:
        statement = text("DELETE FROM memory_words WHERE space = :space AND memory_id = :id")
        self._connection.execute(statement, {"space": self._space, "id": memory_id})

    def matching(self, words: Sequence[str], limit: int) -> list[str]:
        """Ids of memories that hold any of `words`, best match first."""
        if not words:
            return []
        query = text(
            "SELECT memory_id FROM memory_words WHERE space = :space AND words @@ CAST(:any_of AS tsquery) "
            "ORDER BY ts_rank(words, CAST(:any_of AS tsquery)) DESC, memory_id LIMIT :limit"
        )
        values = {"space": self._space, "any_of": self._any_of(words), "limit": limit}
        return list(self._connection.execute(query, values).scalars())

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """In how many memories each word stands."""
        query = text(
            "SELECT count(*) FROM memory_words WHERE space = :space AND words @@ CAST(:word AS tsquery)"
        )
        return {
            word: self._connection.execute(
                query, {"space": self._space, "word": self._any_of([word])}
            ).scalar_one()
            for word in words
        }

    def _any_of(self, words: Sequence[str]) -> str:
        return " | ".join(f"'{self._mark(word)}'" for word in words)

    def _mark(self, word: str) -> str:
        digest = blake2b(f"{self._space} {word}".encode(), digest_size=6).digest()
        return urlsafe_b64encode(digest).decode()
