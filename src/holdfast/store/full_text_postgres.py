"""Full text on PostgreSQL: one tsvector a text, of short marks that stand for a space's words.

A tsvector holds at most a megabyte and says nothing when it is cut; the words of a long text under a space's
prefix would pass that. A mark of eight characters, made of space and word, never does.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic

from sqlalchemy import Connection, text

from holdfast.store.full_text import MOST_ROWS, Indexed, Owner, Totals, counted, mark, telling

_EXACT = 1 << 20  # parts of one that weights are told apart by


class PostgresFullText(Generic[Owner]):
    """The searchable words of one space's memories, or of its messages."""

    def __init__(self, connection: Connection, space: str, index: Indexed[Owner], totals: Totals) -> None:
        self._connection = connection
        self._space = space
        self._index = index
        self._totals = totals
        self._words = f"{index.name}_words"
        self._owner = index.owner
        self._counts: dict[str, int] = {}  # a search asks twice, and the next one for the same words

    def put(
        self, *owners: Owner, words: Mapping[str, Sequence[str]] = MappingProxyType({}), new: bool = False
    ) -> None:
        """Makes them findable by their present wording, `new` ones for the first time; what has no words is
        found by none.

        `words` are those of texts that were read already, by the owner's id.
        """
        self._counts.clear()
        if not new:
            self.drop(*(owner.id for owner in owners))
        found = {
            owner.id: sorted({mark(self._space, word) for word in set(self._index.words(owner, words))})
            for owner in owners
        }
        rows = [
            {"space": self._space, "id": owner_id, "words": marks}
            for owner_id, marks in found.items()
            if marks
        ]
        if rows:
            statement = text(
                f"INSERT INTO {self._words} (space, {self._owner}, words) "
                "VALUES (:space, :id, array_to_tsvector(:words))"
            )
            self._connection.execute(statement, rows)

    def drop(self, *owner_ids: str) -> None:
        self._counts.clear()
        statement = text(f"DELETE FROM {self._words} WHERE space = :space AND {self._owner} = ANY(:ids)")
        self._connection.execute(statement, {"space": self._space, "ids": list(owner_ids)})

    def clear(self) -> None:
        """Makes nothing of the space findable."""
        self._counts.clear()
        statement = text(f"DELETE FROM {self._words} WHERE space = :space")
        self._connection.execute(statement, {"space": self._space})

    def matching(self, words: Sequence[str], limit: int, most_rows: int | None = None) -> list[str]:
        """Ids of those that hold any of the rarer `words`: most and rarest words first, then the newest."""
        weights = telling(self.frequencies(words), most_rows)
        if not weights:
            return []
        values: dict[str, Any] = {"space": self._space, "limit": limit}
        terms = [self._term(word) for word in weights]
        if len(terms) == 1:  # it may stand in nearly all, and there is nothing to add up
            query = text(
                f"SELECT {self._owner} FROM {self._words} "
                "WHERE space = :space AND words @@ CAST(:term AS tsquery) ORDER BY doc DESC LIMIT :limit"
            )
            return list(self._connection.execute(query, {**values, "term": terms[0]}).scalars())
        # In whole numbers: the sum is the same in whatever order the server comes upon the words.
        values |= {"terms": terms, "weights": [round(weight * _EXACT) for weight in weights.values()]}
        query = text(
            f"SELECT {self._owner} FROM unnest(CAST(:terms AS tsquery[]), CAST(:weights AS integer[])) "
            f"AS asked (term, weight) JOIN {self._words} ON space = :space AND words @@ asked.term "
            f"GROUP BY {self._owner} ORDER BY sum(weight) DESC, max(doc) DESC LIMIT :limit"
        )
        return list(self._connection.execute(query, values).scalars())

    def matching_each(self, asked: Sequence[Sequence[str]], limit: int, most_rows: int) -> list[list[str]]:
        """The same for several texts."""
        return [self.matching(words, limit, most_rows) for words in asked]

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """In how many texts each word stands; of a very common one, that it is very common."""
        new = [word for word in words if word not in self._counts]
        self._counts |= self._counted(new) if new else {}
        return {word: self._counts[word] for word in words}

    def _counted(self, words: Sequence[str]) -> dict[str, int]:
        query = text(
            "SELECT place, counted FROM "
            "unnest(CAST(:terms AS tsquery[])) WITH ORDINALITY AS asked (term, place) "
            f"CROSS JOIN LATERAL (SELECT count(*) AS counted FROM (SELECT 1 FROM {self._words} "
            "WHERE space = :space AND words @@ asked.term LIMIT :most) AS held) AS each"
        )
        terms = [self._term(word) for word in words]
        values = {"space": self._space, "terms": terms, "most": 2 * MOST_ROWS}
        rows = self._connection.execute(query, values)
        return {words[row.place - 1]: row.counted for row in rows}

    def held(self) -> set[str]:
        """The ids that the index can answer with."""
        query = text(f"SELECT {self._owner} FROM {self._words} WHERE space = :space")
        return set(self._connection.execute(query, {"space": self._space}).scalars())

    def total(self) -> int:
        """About how many texts can be found."""
        query = text(f"SELECT count(*) FROM {self._words} WHERE space = :space")

        def count() -> int:
            return int(self._connection.execute(query, {"space": self._space}).scalar_one())

        return counted(self._connection, self._space, self._index.name, self._totals, count)

    def _term(self, word: str) -> str:
        return f"'{mark(self._space, word)}'"
