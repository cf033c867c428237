"""Vectors in memory as they are, searched by one product: the quickest way up to some 50,000.

A text's parts stand side by side. Later states share the memory of earlier ones: rows are only added, and
what went is named by its place.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from holdfast.store.vectors import lowest, matrix, products

#: A number, its owner, which part of its text, and the vector; in the order of the numbers.
Row = tuple[int, str, int, bytes]

_CHUNK = 2_000
_NONE = np.empty(0, dtype=np.int64)


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
        while chunk := list(islice(coming, _CHUNK)):
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
