"""Vectors as rows: written with their owner, dropped with it, and fed from what was written since.

Searching them is another file per database, and is loaded with numpy when somebody asks. What a search
loaded is kept here for the next one.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

from sqlalchemy import Connection, and_, delete, select

from holdfast.domain.jobs import Embedded, Missing
from holdfast.domain.memory import Memory, Message
from holdfast.errors import Unavailable
from holdfast.store.rows import SpaceRows
from holdfast.store.schema import heads, vector_blocks, vector_models
from holdfast.store.vector_feed import (
    MEMORY_VECTORS,
    MESSAGE_VECTORS,
    MemoryFeed,
    MessageFeed,
    ModelTable,
    of_model,
)

Owner = TypeVar("Owner", bound=Memory | Message)

MOST_BYTES = 256 * 1024 * 1024

#: Space, kind of owner, model.
Key = tuple[str, str, str]


class Loaded(Protocol):
    """Vectors in memory, as of some state of the space; never changed once it is kept."""

    @property
    def size_in_bytes(self) -> int: ...


class VectorCache:
    """Vectors of the spaces that were searched last, kept by one process for all of its threads.

    Lets go of the oldest when it is too much.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._loaded: OrderedDict[Key, Loaded] = OrderedDict()
        self._locks: dict[Key, threading.Lock] = {}
        self._damaged: dict[Key, set[str]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def updating(self, key: Key) -> Iterator[None]:
        """One thread at a time brings what is loaded under `key` up to date."""
        with self._lock:
            own = self._locks.setdefault(key, threading.Lock())
        with own:
            yield

    def get(self, key: Key) -> Loaded | None:
        with self._lock:
            loaded = self._loaded.get(key)
            if loaded is not None:
                self._loaded.move_to_end(key)
            return loaded

    def put(self, key: Key, loaded: Loaded) -> None:
        """Keeps it as the latest, which stays however large it is; the oldest go when all are too large."""
        with self._lock:
            self._loaded[key] = loaded
            self._loaded.move_to_end(key)
            while len(self._loaded) > 1 and self._size() > self._most:
                self._loaded.popitem(last=False)

    def note_damage(self, key: Key, owner: str) -> None:
        """Remembers that a vector of this owner could not be read."""
        with self._lock:
            self._damaged.setdefault(key, set()).add(owner)

    def damaged(self, key: Key) -> list[str]:
        """The owners whose vectors could not be read, until they are mended."""
        with self._lock:
            return sorted(self._damaged.get(key, ()))

    def mended(self, space: str, kind: str, owners: Collection[str]) -> None:
        with self._lock:
            for key, damaged in self._damaged.items():
                if key[:2] == (space, kind):
                    damaged.difference_update(owners)

    def forget(self, key: Key) -> None:
        with self._lock:
            self._loaded.pop(key, None)

    @property
    def size_in_bytes(self) -> int:
        with self._lock:
            return self._size()

    def _size(self) -> int:
        return sum(loaded.size_in_bytes for loaded in self._loaded.values())


class VectorTable(SpaceRows, Generic[Owner]):
    """The vectors of one space's memories, or of its messages."""

    def __init__(
        self, connection: Connection, space: str, owner: Literal["memory", "message"], cache: VectorCache
    ) -> None:
        super().__init__(connection, space)
        self._kind = MEMORY_VECTORS if owner == "memory" else MESSAGE_VECTORS
        self._feed: Any = (MemoryFeed if owner == "memory" else MessageFeed)(connection, space)
        self._cache = cache
        self._changed = False  # by this transaction, which may yet be taken back

    def missing(self, model: str, limit: int) -> Missing[Owner]:
        """What needs a vector of this model next; where nothing does, this is one small question."""
        reached, last = self._reached(model)
        return Missing((), reached) if reached >= last else self._feed.after(reached, last, model, limit)

    def put_all(self, texts: Sequence[Embedded], model: str, now: datetime) -> None:
        """Keeps the vectors of the texts' parts in place of earlier ones; when one is refused, none is kept.

        Raises: Unavailable, for vectors that are empty, zero, not finite or not of the model's size.
        """
        from holdfast.store.vectors import normalised

        vectors = [normalised(text.parts) for text in texts]
        if not vectors:
            return
        sizes = {len(vector) // 4 for parts in vectors for vector in parts}
        self._expect(model, sizes, max(map(len, vectors)), now)
        self._changed = True
        owners = [text.owner for text in texts]
        mine = self._one_of(self._kind.owner, owners)
        self._take_out(and_(of_model(self._kind, self._space, model), mine))
        rows = [
            {
                "space": self._space,
                self._kind.owner.name: text.owner,
                **({"version": text.version} if self._kind.name == "memory" else {}),
                "model": model,
                "part": part,
                "vector": vector,
                "created_at": now,
            }
            for text, parts in zip(texts, vectors, strict=True)
            for part, vector in enumerate(parts)
        ]
        first = self._sql.next_number(heads.c.vectors, len(rows)) - len(rows) + 1
        for number, row in enumerate(rows, start=first):
            row["number"] = number
        self._sql.insert(self._kind.table, rows)

    def embedded(self, model: str, upto: int) -> None:
        """Notes that everything up to there has its vector, or needs none."""
        reached, _ = self._reached(model)
        if upto <= reached:
            return
        self.drop(self._feed.outdated(reached, upto, model))
        self._change(vector_models, {self._kind.reached.name: upto}, vector_models.c.model == model)
        self._sql.vectors(self._kind, self._cache).pack(model)

    def damaged(self, model: str) -> list[str]:
        """The owners of vectors that a search could not read; until they are put again or dropped."""
        return self._cache.damaged((self._space, self._kind.name, model))

    def drop(self, owners: Collection[str]) -> None:
        """Removes all vectors of these owners."""
        if not owners:
            return
        self._changed = True
        table = self._kind.table
        mine = and_(table.c.space == self._space, self._one_of(self._kind.owner, owners))
        self._cache.mended(self._space, self._kind.name, owners)
        for model, count in self._take_out(mine).items():
            more = {"dropped": vector_models.c.dropped + count}
            self._change(vector_models, more, vector_models.c.model == model)

    def nearest(
        self, queries: Sequence[bytes], model: str, limit: int, also: Collection[str] = ()
    ) -> dict[str, tuple[float, ...]]:
        """The `limit` owners nearest to each of the queries, and those of `also` that have a vector.

        For each owner the cosine of its nearest part with each query.
        Raises: Unavailable, for queries that are no vectors of this model.
        """
        from holdfast.store.vectors import normalised

        if not queries:
            return {}
        search = self._sql.vectors(self._kind, None if self._changed else self._cache)
        return search.nearest(normalised(queries), model, limit, also)

    def cosines(self, vectors: Sequence[bytes]) -> list[list[float]]:
        """The cosine of each of the vectors, which need not be stored, with each.

        Raises: Unavailable, for what are no vectors of one model.
        """
        from holdfast.store.vectors import matrix, normalised

        rows = matrix(normalised(vectors), len(vectors[0]) // 4)
        found: list[list[float]] = (rows @ rows.T).tolist()
        return found

    def _reached(self, model: str) -> tuple[int, int]:
        """Up to where this model has vectors, and up to where there is something."""
        mine = and_(vector_models.c.space == heads.c.space, vector_models.c.model == model)
        query = select(self._kind.reached, self._kind.last).select_from(heads.outerjoin(vector_models, mine))
        reached, last = self._connection.execute(query.where(heads.c.space == self._space)).one()
        return reached or 0, last

    def _take_out(self, which: Any) -> dict[str, int]:
        """Removes rows, and their sign bits with them; answers how many of each model."""
        table = self._kind.table
        gone: dict[str, list[int]] = {}
        for model, number in self._connection.execute(
            delete(table).where(which).returning(table.c.model, table.c.number)
        ):
            gone.setdefault(model, []).append(number)
        for model, numbers in gone.items():
            packed = select(vector_blocks.c.block).where(
                vector_blocks.c.space == self._space,
                vector_blocks.c.model == model,
                vector_blocks.c.kind == self._kind.name,
                vector_blocks.c.block >= min(numbers),
            )
            if self._connection.execute(packed.limit(1)).first() is not None:
                self._sql.vectors(self._kind, self._cache).cut(model, numbers)
        return {model: len(numbers) for model, numbers in gone.items()}

    def _expect(self, model: str, sizes: Collection[int], parts: int, now: datetime) -> None:
        """Notes the size of a model's vectors, which the first one decides, and the most parts of a text."""
        models = ModelTable(self._connection, self._space)
        models.begin(model, now)
        known, most = models.shape(model)
        for size in sizes:
            known = size if known is None else known
            if size != known:
                raise Unavailable(
                    f"the embedder {model} returned a vector of {size} numbers, but its others have {known}"
                )
        models.reshape(model, known or 0, max(parts, most))
