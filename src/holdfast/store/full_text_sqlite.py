"""Full text on SQLite: FTS5 over words that carry their space as a prefix.

A word's places are read as bare numbers and added up here; FTS5's own ranking costs three times as much.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic

from sqlalchemy import Connection, text

from holdfast.store import sqlite
from holdfast.store.full_text import Indexed, Owner, Totals, best, counted, prefix, telling
from holdfast.store.types import DamagedValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int64]

_READ_WHOLE = 2_000  # texts that hold some of the words


class SqliteFullText(Generic[Owner]):
    """The searchable words of one space's memories, or of its messages."""

    def __init__(self, connection: Connection, space: str, index: Indexed[Owner], totals: Totals) -> None:
        self._connection = connection
        self._space = space
        self._index = index
        self._totals = totals
        self._prefix = prefix(space)
        self._words = f"{index.name}_words"
        self._docs = f"{index.name}_docs"
        self._counts: dict[str, int] = {}  # a search asks twice for the same words

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
            owner.id: " ".join(map(self._prefix.__add__, self._index.words(owner, words))) for owner in owners
        }
        worded = [owner_id for owner_id, words in found.items() if words]
        if not worded:
            return
        driver, owner = sqlite.driver_of(self._connection), self._index.owner
        docs = f"INSERT INTO {self._docs} (space, {owner}) SELECT ?, value FROM json_each(?)"
        rows = driver.execute(f"{docs} RETURNING doc, {owner}", (self._space, json.dumps(worded))).fetchall()
        words_of = f"INSERT INTO {self._words} (rowid, words) VALUES (?, ?)"
        driver.executemany(words_of, [(doc, found[owner_id]) for doc, owner_id in rows])

    def drop(self, *owner_ids: str) -> None:
        self._counts.clear()
        query = text(
            f"SELECT doc FROM {self._docs} "
            f"WHERE space = :space AND {self._index.owner} IN (SELECT value FROM json_each(:ids))"
        )
        values = {"space": self._space, "ids": json.dumps(owner_ids)}
        rows = [{"doc": doc} for doc in self._connection.execute(query, values).scalars()]
        if rows:
            self._connection.execute(text(f"DELETE FROM {self._words} WHERE rowid = :doc"), rows)
            self._connection.execute(text(f"DELETE FROM {self._docs} WHERE doc = :doc"), rows)

    def clear(self) -> None:
        """Makes nothing of the space findable."""
        self._counts.clear()
        space = {"space": self._space}
        mine = f"SELECT doc FROM {self._docs} WHERE space = :space"
        self._connection.execute(text(f"DELETE FROM {self._words} WHERE rowid IN ({mine})"), space)
        self._connection.execute(text(f"DELETE FROM {self._docs} WHERE space = :space"), space)

    def matching(self, words: Sequence[str], limit: int, most_rows: int | None = None) -> list[str]:
        """Ids of those that hold any of the rarer `words`: most and rarest words first, then the newest."""
        driver = sqlite.driver_of(self._connection)
        query = f"SELECT rowid FROM {self._words} WHERE {self._words} MATCH ? ORDER BY rowid DESC LIMIT ?"
        scores: dict[int, float] = {}
        weights = telling(self.frequencies(words), most_rows)
        rarer: list[str] = []
        for word, weight in weights.items():
            term = f'"{self._term(word)}"'
            # Where there are enough, a common word only tells them apart: most that hold it are not read.
            enough = len(scores) >= limit and len(scores) + self._counts[word] > _READ_WHOLE
            asked = f"({' OR '.join(rarer)}) AND {term}" if enough else term
            for (doc,) in driver.execute(query, (asked, limit if len(weights) == 1 else -1)):
                scores[doc] = scores.get(doc, 0.0) + weight
            rarer.append(term)
        docs = best(scores, limit)
        owners = self._owners(docs)
        return [owners[doc] for doc in docs]

    def matching_each(self, asked: Sequence[Sequence[str]], limit: int, most_rows: int) -> list[list[str]]:
        """The same for several texts: the places of a word that some of them share are read once."""
        if len(asked) == 1:
            return [self.matching(asked[0], limit, most_rows)]
        import numpy as np

        driver = sqlite.driver_of(self._connection)
        query = f"SELECT rowid FROM {self._words} WHERE {self._words} MATCH ?"

        @cache
        def places(word: str) -> "Places":
            return np.array(driver.execute(query, (f'"{self._term(word)}"',)).fetchall(), dtype=np.int64)[
                :, 0
            ]

        weights = [telling(self.frequencies(words), most_rows) for words in asked]
        several = [_best_places(each, places, limit) if len(each) > 1 else [] for each in weights]
        owners = self._owners(list(dict.fromkeys(chain(*several))))
        return [
            [owners[doc] for doc in docs] if docs else self.matching(list(each), limit, most_rows)
            for each, docs in zip(weights, several, strict=True)
        ]

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """In how many texts each word stands."""
        if new := [word for word in words if word not in self._counts]:
            terms = [self._term(word) for word in new]
            query = f"SELECT value, doc FROM json_each(?) CROSS JOIN {self._index.name}_terms ON term = value"
            rows = dict(sqlite.driver_of(self._connection).execute(query, (json.dumps(terms),)))
            self._counts |= {word: rows.get(term, 0) for word, term in zip(new, terms, strict=True)}
        return {word: self._counts[word] for word in words}

    def _owners(self, docs: Sequence[int]) -> dict[int, str]:
        """Whose these texts are."""
        found = f"SELECT doc, {self._index.owner} FROM json_each(?) JOIN {self._docs} ON doc = value"
        owners = dict(sqlite.driver_of(self._connection).execute(found, (json.dumps(docs),)))
        if len(owners) < len(docs):  # the index names a text that is not there
            raise DamagedValue
        return owners

    def held(self) -> set[str]:
        """The ids that the index can answer with."""
        query = (
            f"SELECT {self._index.owner} FROM {self._docs} WHERE space = :space "
            f"AND doc IN (SELECT rowid FROM {self._words})"
        )
        return set(self._connection.execute(text(query), {"space": self._space}).scalars())

    def total(self) -> int:
        """About how many texts can be found."""
        query = f"SELECT count(*) FROM {self._docs} WHERE space = ?"

        def count() -> int:
            return int(sqlite.driver_of(self._connection).execute(query, (self._space,)).fetchone()[0])

        return counted(self._connection, self._space, self._index.name, self._totals, count)

    def _term(self, word: str) -> str:
        # Words are letters and digits; for whatever else is asked, a term that nothing holds.
        return self._prefix + word if word.isalnum() else self._prefix


def _best_places(weights: Mapping[str, float], places: "Callable[[str], Places]", limit: int) -> list[int]:
    """The same as `best` does, for a few words with many places."""
    import numpy as np

    each = [places(word) for word in weights]
    found, place = np.unique(np.concatenate(each), return_inverse=True)
    scores = np.bincount(place, np.repeat(list(weights.values()), list(map(len, each))))
    order = np.argsort(scores, kind="stable")[::-1][:limit]
    docs: list[int] = found[order].tolist()
    return docs
