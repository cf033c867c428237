"""Search by meaning on PostgreSQL: pgvector, exact, over the space's own rows and no others."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import Connection, func, select, text

from holdfast.errors import Unavailable
from holdfast.store.schema import vector_models
from holdfast.store.types import server_text
from holdfast.store.vector_feed import Kind, of_model

# Read once, not once for each vector that it is compared with.
_ASKED = (
    "WITH asked AS MATERIALIZED (SELECT place, CAST(query AS vector) AS query "
    "FROM unnest(CAST(:queries AS text[])) WITH ORDINALITY AS given (query, place)) "
)


class PostgresSearch:
    """The vectors of one kind in one space."""

    def __init__(self, connection: Connection, space: str, kind: Kind) -> None:
        self._connection = connection
        self._space = space
        self._kind = kind

    def nearest(
        self, queries: Sequence[bytes], model: str, limit: int, also: Collection[str]
    ) -> dict[str, tuple[float, ...]]:
        """As `VectorTable.nearest`; the queries are vectors already."""
        size, given = self._size(model), len(queries[0]) // 4
        if size is None:
            return {}
        if size != given:
            raise Unavailable(f"the query has {given} numbers, but vectors of {model} have {size}")
        asked = [server_text(query) for query in queries]
        # A row of another size, which only damage leaves there, would end the whole question.
        values = {"space": self._space, "model": model, "queries": asked, "size": size}
        owners = sorted(self._near(values, limit).union(also))
        found: dict[str, list[float]] = {}
        for owner, place, cosine in self._cosines(values, owners):
            found.setdefault(owner, [0.0] * len(queries))[place - 1] = round(cosine, 6)
        return {owner: tuple(cosines) for owner, cosines in found.items()}

    def pack(self, model: str) -> None:
        """Nothing: the server keeps no sign bits."""

    def cut(self, model: str, numbers: Sequence[int]) -> None:
        """Nothing, for the same reason."""

    def mend(self, model: str, dimensions: int) -> None:
        """Nothing, for the same reason."""

    def unsound(self, model: str, dimensions: int) -> list[str]:
        """The owners of values that are no vectors of this model."""
        other_size = func.vector_dims(self._kind.table.c.vector) != dimensions
        query = select(self._kind.owner).where(of_model(self._kind, self._space, model), other_size)
        return list(self._connection.execute(query).scalars())

    def _near(self, values: Mapping[str, object], limit: int) -> set[str]:
        """The nearest owners of each query."""
        name, owner = self._kind.table.name, self._kind.owner.name
        query = text(
            f"{_ASKED} SELECT place, near.{owner} FROM asked CROSS JOIN LATERAL (SELECT {owner} FROM {name} "
            f"WHERE space = :space AND model = :model AND vector_dims({name}.vector) = :size "
            f"ORDER BY {name}.vector <=> asked.query, number "
            "LIMIT :rows) AS near"
        )
        rows = limit
        while True:
            near: dict[int, list[str]] = {}
            for place, found in self._connection.execute(query, {**values, "rows": rows}):
                near.setdefault(place, []).append(found)
            firsts = [list(dict.fromkeys(found)) for found in near.values()]
            # Parts of one text may take the places of other texts; then more are asked for.
            complete = all(len(owners) >= limit for owners in firsts)
            if complete or all(len(found) < rows for found in near.values()):
                return {found for owners in firsts for found in owners[:limit]}
            rows *= 4

    def _cosines(
        self, values: Mapping[str, object], owners: Sequence[str]
    ) -> Sequence[tuple[str, int, float]]:
        name, owner = self._kind.table.name, self._kind.owner.name
        query = text(
            f"{_ASKED} SELECT {owner}, place, max(1 - ({name}.vector <=> asked.query)) FROM {name} "
            f"CROSS JOIN asked WHERE space = :space AND model = :model AND {owner} = ANY(:owners) "
            f"AND vector_dims({name}.vector) = :size "
            f"GROUP BY {owner}, place"
        )
        rows = self._connection.execute(query, {**values, "owners": owners})
        return [(row[0], row[1], row[2]) for row in rows]

    def _size(self, model: str) -> int | None:
        query = select(vector_models.c.dimensions).where(
            vector_models.c.space == self._space, vector_models.c.model == model
        )
        size: int | None = self._connection.execute(query).scalar()
        return size
