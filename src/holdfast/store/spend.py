"""Queries over what models cost."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, select, text

from holdfast.domain.spend import GroupedBy, ModelCall, Spent, Usage
from holdfast.store.mapping import row_of
from holdfast.store.rows import AnyRow, SpaceRows
from holdfast.store.schema import spend

_TOKENS = ("input_tokens", "output_tokens", "cached_tokens")


class SpendTable(SpaceRows):
    """The calls of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        super().__init__(connection, space)
        self._mine = spend.c.space == space

    def add(self, call: ModelCall) -> None:
        self._add([call])

    def save(self, call: ModelCall) -> None:
        """Brings what is stored of a call up to date: its tokens, its money and what came of it."""
        values = row_of(call, self._space)
        settled = {name: values[name] for name in (*_TOKENS, "micro_dollars", "outcome")}
        self._change(spend, settled, spend.c.id == call.id)

    def total(self, *, since: datetime | None = None, session: str | None = None) -> Spent:
        """All calls, or those since a moment, or those of a session."""
        query = select(*_sums()).where(*self._where(since))
        if session is not None:
            query = query.where(spend.c.session_id == session)
        return _spent(self._connection.execute(query).one())

    def grouped(self, by: GroupedBy, *, since: datetime | None = None) -> list[tuple[str | None, Spent]]:
        """Sums by a label, in the label's order; calls for no session come last."""
        label = self._label(by).label("name")
        query = select(label, *_sums()).where(*self._where(since)).group_by(text("1"))
        rows = self._connection.execute(query).all()
        found = [(None if row.name is None else str(row.name), _spent(row)) for row in rows]
        return sorted(found, key=lambda pair: (pair[0] is None, pair[0] or ""))

    def _where(self, since: datetime | None) -> list[ColumnElement[bool]]:
        return [self._mine] if since is None else [self._mine, spend.c.created_at >= since]

    def _label(self, by: GroupedBy) -> ColumnElement[Any]:
        match by:
            case "purpose":
                return spend.c.purpose
            case "model":
                return spend.c.model
            case "session":
                return spend.c.session_id
            case "day":
                return self._sql.day(spend.c.created_at)


def _sums() -> list[ColumnElement[Any]]:
    unpriced = spend.c.micro_dollars.is_(None)
    return [
        func.count().label("calls"),
        *(_sum(spend.c[name]).label(name) for name in _TOKENS),
        _sum(spend.c.micro_dollars).label("micro_dollars"),
        _sum(case((unpriced, 1), else_=0)).label("unpriced_calls"),
        *(_sum(case((unpriced, spend.c[name]), else_=0)).label(f"unpriced_{name}") for name in _TOKENS),
    ]


def _sum(what: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(what), 0)


def _spent(row: AnyRow) -> Spent:
    return Spent(
        calls=int(row.calls),
        usage=Usage(*(int(row._mapping[name]) for name in _TOKENS)),
        micro_dollars=int(row.micro_dollars),
        unpriced_calls=int(row.unpriced_calls),
        unpriced=Usage(*(int(row._mapping[f"unpriced_{name}"]) for name in _TOKENS)),
    )
