"""Search by meaning on PostgreSQL: pgvector, over the space's own rows and no others.

Exact, but for a large space that has an index; what the index proposes is measured exactly, too.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select, text

from holdfast.errors import Unavailable
from holdfast.store import near_index
from holdfast.store.near_index import NearIndex
from holdfast.store.schema import heads, vector_models
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
        size, ever = self._extent(model)
        given = len(queries[0]) // 4
        if size is None:
            return {}
        if size != given:
            raise Unavailable(f"the query has {given} numbers, but vectors of {model} have {size}")
        asked = [server_text(query) for query in queries]
        # A row of another size, which only damage leaves there, would end the whole question.
        values = {"space": self._space, "model": model, "queries": asked, "size": size}
        near = self._by_index(values, limit) if limit and ever > near_index.EXACT_UP_TO else None
        owners = sorted((self._near(values, limit) if near is None else near).union(also))
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

    def _by_index(self, values: Mapping[str, Any], limit: int) -> set[str] | None:
        """The nearest owners of each query that the index of a large space names, if it has a sound one."""
        index = NearIndex(self._kind, self._space, values["model"], values["size"])
        rows = 2 * limit  # parts of one text take the places of others
        if not index.is_used(self._connection, rows):
            return None
        near: dict[int, list[str]] = {}
        for place, owner in index.near(self._connection, values["queries"], rows):
            near.setdefault(place, []).append(owner)
        firsts = [list(dict.fromkeys(found))[:limit] for found in near.values()]
        complete = len(near) == len(values["queries"]) and all(len(found) == limit for found in firsts)
        return {owner for found in firsts for owner in found} if complete else None

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

    def _extent(self, model: str) -> tuple[int | None, int]:
        """The size of a vector, if there is any, and how many vectors of any kind were ever numbered."""
        query = (
            select(vector_models.c.dimensions, heads.c.vectors)
            .join(heads, heads.c.space == vector_models.c.space)
            .where(vector_models.c.space == self._space, vector_models.c.model == model)
        )
        row = self._connection.execute(query).one_or_none()
        return (row.dimensions, row.vectors) if row else (None, 0)
