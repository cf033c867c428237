"""Queries over what models cost."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, insert, select, text, update

from holdfast.domain.spend import GroupedBy, ModelCall, Spent, Usage
from holdfast.store.rows import AnyRow
from holdfast.store.schema import spend


class SpendTable:
    """The calls of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space
        self._mine = spend.c.space == space

    def add(self, call: ModelCall) -> None:
        values = {
            "space": self._space,
            "id": call.id,
            "purpose": call.purpose,
            "model": call.model,
            "session_id": call.session,
            "created_at": call.created_at,
            **_settled(call),
        }
        self._connection.execute(insert(spend).values(values))

    def save(self, call: ModelCall) -> None:
        """Brings what is stored of a call up to date: its tokens, its money and what came of it."""
        mine = update(spend).where(self._mine, spend.c.id == call.id)
        self._connection.execute(mine.values(_settled(call)))

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
        found = [(row.name, _spent(row)) for row in rows]
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
            case "day" if self._connection.dialect.name == "postgresql":
                return func.to_char(func.timezone("UTC", spend.c.created_at), "YYYY-MM-DD")
            case "day":
                return func.substr(spend.c.created_at, 1, 10)


def _settled(call: ModelCall) -> dict[str, object]:
    return {
        "input_tokens": call.usage.input,
        "output_tokens": call.usage.output,
        "cached_tokens": call.usage.cached,
        "micro_dollars": call.micro_dollars,
        "outcome": call.outcome,
    }


def _sums() -> list[ColumnElement[Any]]:
    unpriced = spend.c.micro_dollars.is_(None)
    return [
        func.count().label("calls"),
        *(_sum(spend.c[name]).label(name) for name in ("input_tokens", "output_tokens", "cached_tokens")),
        _sum(spend.c.micro_dollars).label("micro_dollars"),
        _sum(case((unpriced, 1), else_=0)).label("unpriced_calls"),
        *(
            _sum(case((unpriced, spend.c[name]), else_=0)).label(f"unpriced_{name}")
            for name in ("input_tokens", "output_tokens", "cached_tokens")
        ),
    ]


def _sum(what: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(what), 0)


def _spent(row: AnyRow) -> Spent:
    return Spent(
        calls=int(row.calls),
        usage=Usage(int(row.input_tokens), int(row.output_tokens), int(row.cached_tokens)),
        micro_dollars=int(row.micro_dollars),
        unpriced_calls=int(row.unpriced_calls),
        unpriced=Usage(
            int(row.unpriced_input_tokens),
            int(row.unpriced_output_tokens),
            int(row.unpriced_cached_tokens),
        ),
    )
