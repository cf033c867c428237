"""Approximate search for large spaces on PostgreSQL: an HNSW index for one kind of vectors of one space.

A partial index, because a search in an index over all spaces would look among the rows of others. It is made
by the owner of the tables (`holdfast migrate`), and used once it was found to agree with the exact search.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, TextClause, bindparam, func, select, text

from holdfast.store.queries import queries_of
from holdfast.store.schema import vector_models
from holdfast.store.spaces import SpaceTable
from holdfast.store.vector_feed import KINDS, Kind, of_model

EXACT_UP_TO = 50_000  # vectors of one kind and model in a space
LEAST_RECALL = 0.98
_ASKED = 100  # vectors of the space, for the comparison
_COMPARED = 10  # nearest of each
_MEMORY = "512MB"  # an index that is built in memory takes a fraction of the time
_MOST = 1_000  # candidates that pgvector can look through
_LEAST = 200  # its default of 40 misses one in ten

_OWN = text("SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = CAST(:name AS regclass)")
_HALF = text("SELECT to_regtype('halfvec') IS NOT NULL")
_MADE = text("SELECT obj_description(to_regclass(:name), 'pg_class')")
_CITUS = text("SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')")
_ALL = text(
    "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname LIKE 'near\\_%'"
)


@dataclass(frozen=True, slots=True)
class NearIndex:
    """The index of one kind and model in a space, whether it is there or not."""

    kind: Kind
    space: str
    model: str
    dimensions: int

    @property
    def name(self) -> str:
        digest = hashlib.sha256(f"{self.space}\0{self.model}".encode()).hexdigest()[:16]
        return f"near_{self.kind.name}_{digest}"

    def is_used(self, connection: Connection, limit: int) -> bool:
        """Whether the index is there, agrees with the exact search, and looks at enough for `limit`."""
        return 2 * limit <= _MOST and self.is_built(connection)

    def near(self, connection: Connection, asked: list[str], limit: int) -> list[tuple[int, str]]:
        """The place of a query and an owner near to it, nearest first; parts of one text one by one."""
        connection.execute(
            text("SELECT set_config('hnsw.ef_search', :wide, true)"), {"wide": str(max(2 * limit, _LEAST))}
        )
        owner, table = self.kind.owner.name, self.kind.table.name
        query = self._named(
            "WITH asked AS MATERIALIZED (SELECT place, CAST(query AS halfvec) AS query "
            "FROM unnest(CAST(:queries AS text[])) WITH ORDINALITY AS given (query, place)) "
            f"SELECT place, near.{owner} FROM asked CROSS JOIN LATERAL (SELECT {owner} FROM {table} "
            f"WHERE {self._rows} ORDER BY {self._halved} <=> asked.query LIMIT :rows) AS near"
        )
        rows = connection.execute(query, {"queries": asked, "rows": limit})
        return [(row[0], row[1]) for row in rows]

    def build(self, engine: Engine) -> float:
        """Makes the index, beside writers, and compares it; the share of the nearest that it finds."""
        create = self._named(
            f"CREATE INDEX CONCURRENTLY {self.name} ON {self.kind.table.name} "
            f"USING hnsw (({self._halved}) halfvec_cosine_ops) WHERE {self._rows}"
        )
        _drop(engine, self.name)  # one that an interrupted run left
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"SET maintenance_work_mem TO '{_MEMORY}'"))
            try:
                connection.execute(create)
            finally:
                connection.execute(text("RESET maintenance_work_mem"))
        with engine.begin() as connection:
            queries_of(connection).enter(self.space)
            recall = self._recall(connection)
            if recall >= LEAST_RECALL:
                connection.execute(text(f"COMMENT ON INDEX {self.name} IS 'recall {recall:.3f}'"))
        return recall

    def is_built(self, connection: Connection) -> bool:
        """Whether it is there and was found to agree with the exact search."""
        return connection.execute(_MADE, {"name": self.name}).scalar() is not None

    def _recall(self, connection: Connection) -> float:
        """The share of the exactly nearest that the index finds, for vectors of the space itself."""
        table, owner = self.kind.table, self.kind.owner.name
        sample = text(
            f"SELECT CAST(vector AS text) FROM {table.name} WHERE space = :space AND model = :model "
            "ORDER BY md5(CAST(number AS text)) LIMIT :most"
        )
        values = {"space": self.space, "model": self.model, "most": _ASKED}
        asked = list(connection.execute(sample, values).scalars())
        exact = text(
            f"SELECT {owner} FROM {table.name} WHERE space = :space AND model = :model "
            f"ORDER BY vector <=> CAST(:query AS vector) LIMIT {_COMPARED}"
        )
        found, wanted = 0, 0
        for query in asked:
            nearest = set(connection.execute(exact, {**values, "query": query}).scalars())
            by_index = {name for _, name in self.near(connection, [query], _COMPARED)}
            found += len(nearest & by_index)
            wanted += len(nearest)
        return found / wanted if wanted else 1.0

    @property
    def _halved(self) -> str:
        return f"(vector::halfvec({self.dimensions}))".replace(":", "\\:")

    @property
    def _rows(self) -> str:
        """Which rows are in the index; a query has to name the same ones for it to be used."""
        return f"space = :space AND model = :model AND vector_dims(vector) = {self.dimensions}"

    def _named(self, statement: str) -> TextClause:
        """`statement` with the space and model in its text: for parameters no partial index is used."""
        return text(statement).bindparams(
            bindparam("space", self.space, literal_execute=True),
            bindparam("model", self.model, literal_execute=True),
        )


@dataclass(frozen=True, slots=True)
class Built:
    """What became of one large space's vectors."""

    space: str
    kind: str
    count: int
    recall: float

    @property
    def is_used(self) -> bool:
        return self.recall >= LEAST_RECALL


def renew(engine: Engine) -> Iterator[Built]:
    """Makes the indexes that large spaces lack, and drops those of spaces and models that are gone or small.

    Nothing, where this role does not own the tables, or the server has no vectors of half the size.
    """
    with engine.connect() as connection:
        able = connection.execute(_OWN, {"name": "memory_vectors"}).scalar()
        able = able and connection.execute(_HALF).scalar() and not connection.execute(_CITUS).scalar()
        if not able:
            return
        large = list(_large(connection))
        gone = set(connection.execute(_ALL).scalars()) - {index.name for index, _ in large}
        missing = [(index, count) for index, count in large if not index.is_built(connection)]
    for name in sorted(gone):
        _drop(engine, name)
    for index, count in missing:
        yield Built(index.space, index.kind.name, count, index.build(engine))


def _large(connection: Connection) -> Iterator[tuple[NearIndex, int]]:
    """The indexes that there should be, and how many vectors each is over."""
    for space in SpaceTable(connection).all():
        queries_of(connection).enter(space.name)
        models = select(vector_models.c.model, vector_models.c.dimensions).where(
            vector_models.c.space == space.name, vector_models.c.dimensions.is_not(None)
        )
        for model, dimensions in connection.execute(models).all():
            for kind in KINDS:
                mine = of_model(kind, space.name, model)
                count = connection.scalar(select(func.count()).select_from(kind.table).where(mine)) or 0
                if count > EXACT_UP_TO:
                    yield NearIndex(kind, space.name, model, dimensions), count


def _drop(engine: Engine, name: str) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"DROP INDEX CONCURRENTLY IF EXISTS {name}"))
