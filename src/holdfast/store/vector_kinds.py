"""What has vectors: memories and messages. One table each, alike but for the owner's column."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Column, Table

from holdfast.store.schema import heads, memory_vectors, message_vectors, vector_models


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of owners: where their vectors stand, and what says how far they reach."""

    name: Literal["memory", "message"]
    table: Table
    reached: Column[int]  # up to where everything is embedded
    last: Column[int]  # up to where there is something
    mean: Column[bytes]

    @property
    def owner(self) -> Column[str]:
        return self.table.c[f"{self.name}_id"]


MEMORY_VECTORS = Kind(
    "memory", memory_vectors, vector_models.c.memories_to, heads.c.seq, vector_models.c.memory_mean
)
MESSAGE_VECTORS = Kind(
    "message", message_vectors, vector_models.c.messages_to, heads.c.messages, vector_models.c.message_mean
)
KINDS = (MEMORY_VECTORS, MESSAGE_VECTORS)


def of_model(kind: Kind, space: str, model: str) -> Any:
    """The vectors of one model in a space."""
    return (kind.table.c.space == space) & (kind.table.c.model == model)
