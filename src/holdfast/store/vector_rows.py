"""Vectors as rows: written with their owner, dropped with it, and fed from what was written since.

Searching them is another file per database, and is loaded with numpy when somebody asks.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from sqlalchemy import Connection, and_, delete, insert, select, update

from holdfast.domain.memory import Memory, Message
from holdfast.engine.ports import Embedded, Missing
from holdfast.errors import Unavailable
from holdfast.store.schema import heads, vector_blocks, vector_models
from holdfast.store.sql_in import one_of
from holdfast.store.vector_kinds import Kind, of_model
from holdfast.store.vector_models import ModelTable

if TYPE_CHECKING:
    from holdfast.store.vector_cache import VectorCache

Owner = TypeVar("Owner", bound=Memory | Message)
Owner_co = TypeVar("Owner_co", bound=Memory | Message, covariant=True)


class Feed(Protocol[Owner_co]):
    """Says what needs a vector."""

    def after(self, reached: int, last: int, model: str, limit: int) -> Missing[Owner_co]: ...
    def outdated(self, reached: int, upto: int, model: str) -> Sequence[str]: ...


class VectorTable(Generic[Owner]):
    """The vectors of one space's memories, or of its messages."""

    def __init__(
        self, connection: Connection, space: str, kind: Kind, feed: Feed[Owner], cache: "VectorCache"
    ) -> None:
        self._connection = connection
        self._space = space
        self._kind = kind
        self._feed = feed
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
        mine = one_of(self._kind.owner, owners, self._connection)
        self._remove(and_(of_model(self._kind, self._space, model), mine))
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
        for number, row in enumerate(rows, start=self._numbers(len(rows))):
            row["number"] = number
        self._connection.execute(insert(self._kind.table), rows)

    def embedded(self, model: str, upto: int) -> None:
        """Notes that everything up to there has its vector, or needs none."""
        reached, _ = self._reached(model)
        if upto <= reached:
            return
        self.drop(self._feed.outdated(reached, upto, model))
        mine = and_(vector_models.c.space == self._space, vector_models.c.model == model)
        self._connection.execute(update(vector_models).where(mine).values({self._kind.reached.name: upto}))
        if self._connection.dialect.name == "sqlite":
            from holdfast.store.vector_blocks import VectorBlocks

            VectorBlocks(self._connection, self._space, self._kind, model).pack()

    def damaged(self, model: str) -> list[str]:
        """The owners of vectors that a search could not read; until they are put again or dropped."""
        return self._cache.damaged((self._space, self._kind.name, model))

    def drop(self, owners: Collection[str]) -> None:
        """Removes all vectors of these owners."""
        if not owners:
            return
        self._changed = True
        table = self._kind.table
        mine = and_(table.c.space == self._space, one_of(self._kind.owner, owners, self._connection))
        self._cache.mended(self._space, self._kind.name, owners)
        for model, count in self._remove(mine).items():
            this = and_(vector_models.c.space == self._space, vector_models.c.model == model)
            more = {"dropped": vector_models.c.dropped + count}
            self._connection.execute(update(vector_models).where(this).values(more))

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
        asked = normalised(queries)
        if self._connection.dialect.name == "postgresql":
            from holdfast.store.vectors_postgres import PostgresSearch

            return PostgresSearch(self._connection, self._space, self._kind).nearest(
                asked, model, limit, also
            )
        from holdfast.store.vectors_sqlite import SqliteSearch

        cache = None if self._changed else self._cache
        return SqliteSearch(self._connection, self._space, self._kind, cache).nearest(
            asked, model, limit, also
        )

    def _reached(self, model: str) -> tuple[int, int]:
        """Up to where this model has vectors, and up to where there is something."""
        mine = and_(vector_models.c.space == heads.c.space, vector_models.c.model == model)
        query = select(self._kind.reached, self._kind.last).select_from(heads.outerjoin(vector_models, mine))
        reached, last = self._connection.execute(query.where(heads.c.space == self._space)).one()
        return reached or 0, last

    def _numbers(self, count: int) -> int:
        """The first of so many new numbers."""
        counted = update(heads).where(heads.c.space == self._space).values(vectors=heads.c.vectors + count)
        last: int = self._connection.execute(counted.returning(heads.c.vectors)).scalar_one()
        return last - count + 1

    def _remove(self, which: Any) -> dict[str, int]:
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
                from holdfast.store.vector_blocks import VectorBlocks

                VectorBlocks(self._connection, self._space, self._kind, model).cut(numbers)
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
