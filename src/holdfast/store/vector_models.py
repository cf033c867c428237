"""Queries over the models that a space has vectors of."""

import secrets
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, select, update

from holdfast.engine.ports import VectorModel
from holdfast.store.schema import heads, vector_models
from holdfast.store.upsert import insert_new
from holdfast.store.vector_kinds import KINDS, of_model


class ModelTable:
    """The models of one space."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def all(self) -> list[VectorModel]:
        """The models, oldest first, with how far each has come."""
        query = (
            select(vector_models, heads.c.seq, heads.c.messages)
            .join(heads, heads.c.space == vector_models.c.space)
            .where(vector_models.c.space == self._space)
            .order_by(vector_models.c.created_at, vector_models.c.model)
        )
        return [
            VectorModel(
                name=row.model,
                memories_to=row.memories_to,
                messages_to=row.messages_to,
                last_change=row.seq,
                last_message=row.messages,
                ready=bool(row.ready),
                calibration=row.calibration,
                created_at=row.created_at,
            )
            for row in self._connection.execute(query)
        ]

    def begin(self, model: str, now: datetime) -> None:
        """Begins to keep vectors of a model, if it has not begun already."""
        values = {
            "space": self._space,
            "model": model,
            "memories_to": 0,
            "messages_to": 0,
            "ready": False,
            "parts": 1,
            "mark": secrets.token_hex(8),
            "dropped": 0,
            "created_at": now,
        }
        insert_new(self._connection, vector_models, values)

    def shape(self, model: str) -> tuple[int | None, int]:
        """How many numbers a vector of this model has, if any is known, and how many parts a text at most."""
        query = select(vector_models.c.dimensions, vector_models.c.parts).where(self._is(model))
        dimensions, parts = self._connection.execute(query).one()
        return dimensions, parts

    def reshape(self, model: str, dimensions: int, parts: int) -> None:
        self._set(model, dimensions=dimensions, parts=parts)

    def ready(self, model: str) -> None:
        """Notes that a model's vectors are complete."""
        self._set(model, ready=True)

    def calibrate(self, model: str, calibration: Mapping[str, float]) -> None:
        """Keeps what was found out about a model's scale."""
        self._set(model, calibration=dict(calibration))

    def drop(self, model: str) -> None:
        """Removes a model with all of its vectors."""
        for kind in KINDS:
            self._connection.execute(delete(kind.table).where(of_model(kind, self._space, model)))
        self._connection.execute(delete(vector_models).where(self._is(model)))

    def _set(self, model: str, **values: object) -> None:
        self._connection.execute(update(vector_models).where(self._is(model)).values(values))

    def _is(self, model: str) -> ColumnElement[bool]:
        return and_(vector_models.c.space == self._space, vector_models.c.model == model)
