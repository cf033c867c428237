"""Which memories and messages need a vector of which model: told by the journal and the order of arrival.

What a model has reached is one number for each, so that a question costs no look at what is done already. A
memory needs a vector when an entry after that number wrote it, worded or labelled it anew, or made it active
again; its vector goes when it is not active any more.
"""

import json
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Column, Table, Text, and_, bindparam, case, null, or_, select, type_coerce

from holdfast.domain.jobs import Missing, VectorModel
from holdfast.domain.memory import Memory, Message
from holdfast.store.mapping import values_of
from holdfast.store.rows import AnyRow, SpaceRows
from holdfast.store.schema import (
    heads,
    journal,
    memories,
    memory_vectors,
    message_vectors,
    messages,
    vector_models,
)

_WINDOW = 500  # entries of the journal that are looked at together
_LABELLING = ("revised", "merged", "undone")


@dataclass(frozen=True, slots=True)
class Kind:
    """Memories or messages as owners: where their vectors stand, and what says how far they reach."""

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
_MODELS = (
    select(
        vector_models.c.model.label("name"),
        vector_models.c.memories_to,
        vector_models.c.messages_to,
        heads.c.seq.label("last_change"),
        heads.c.messages.label("last_message"),
        vector_models.c.ready,
        vector_models.c.calibration,
        vector_models.c.created_at,
    )
    .join(heads, heads.c.space == vector_models.c.space)
    .where(vector_models.c.space == bindparam("of"))
    .order_by(vector_models.c.created_at, vector_models.c.model)
)


def of_model(kind: Kind, space: str, model: str) -> Any:
    """The vectors of one model in a space."""
    return (kind.table.c.space == space) & (kind.table.c.model == model)


class ModelTable(SpaceRows):
    """The models that one space has vectors of."""

    def all(self) -> list[VectorModel]:
        """The models, oldest first, with how far each has come."""
        return [VectorModel(**row._mapping) for row in self._connection.execute(_MODELS, {"of": self._space})]

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
        self._sql.insert_new(vector_models, values)

    def shape(self, model: str) -> tuple[int | None, int]:
        """How many numbers a vector of this model has, if any is known, and how many parts a text at most."""
        query = select(vector_models.c.dimensions, vector_models.c.parts).where(
            vector_models.c.space == self._space, vector_models.c.model == model
        )
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
            self._remove(kind.table, kind.table.c.model == model)
        self._remove(vector_models, vector_models.c.model == model)

    def _set(self, model: str, **values: object) -> None:
        self._change(vector_models, values, vector_models.c.model == model)


class MemoryFeed(SpaceRows):
    """Memories in the order of the journal."""

    def after(self, reached: int, last: int, model: str, limit: int) -> Missing[Memory]:
        """Up to `limit` memories that need a vector."""
        for window in (4 * limit, _WINDOW):  # few, where nearly every entry needs one
            entries = self._entries(reached, window)
            wanted = self._wanted(entries, model)
            if wanted or len(entries) < window:
                break
        owners: dict[str, None] = {}  # by their ids, in order
        upto = reached
        for entry in entries:
            if entry.memory_id in wanted and entry.memory_id not in owners:
                if len(owners) == limit:
                    return Missing(self._owners(owners), upto)
                owners[entry.memory_id] = None
            upto = entry.seq
        return Missing(self._owners(owners), upto if len(entries) == window else last)

    def outdated(self, reached: int, upto: int, model: str) -> Sequence[str]:
        """Memories that have a vector and are not active any more."""
        changed = select(journal.c.memory_id).where(
            journal.c.space == self._space, journal.c.seq > reached, journal.c.seq <= upto
        )
        query = (
            select(memories.c.id)
            .join(
                memory_vectors,
                and_(memory_vectors.c.space == memories.c.space, memory_vectors.c.memory_id == memories.c.id),
            )
            .where(
                memories.c.space == self._space,
                memories.c.id.in_(changed),
                memories.c.state != "active",
                memory_vectors.c.model == model,
                memory_vectors.c.part == 0,
            )
        )
        return list(self._connection.execute(query).scalars())

    def _entries(self, reached: int, window: int) -> Sequence[AnyRow]:
        labelling = journal.c.action.in_(_LABELLING)
        query = (
            select(
                journal.c.seq,
                journal.c.memory_id,
                case((labelling, type_coerce(journal.c.before, Text)), else_=null()).label("before"),
                case((labelling, type_coerce(journal.c.after, Text)), else_=null()).label("after"),
            )
            .where(journal.c.space == self._space, journal.c.seq > reached)
            .order_by(journal.c.seq)
            .limit(window)
        )
        return list(self._connection.execute(query))

    def _owners(self, ids: Collection[str]) -> tuple[Memory, ...]:
        """The memories of these ids. Making them from rows takes the most time: only of those wanted now."""
        if not ids:
            return ()
        query = self._select(Memory, self._one_of(memories.c.id, sorted(ids)))
        found = {memory.id: memory for memory in values_of(Memory, self._connection.execute(query).all())}
        return tuple(found[one] for one in ids)

    def _wanted(self, entries: Sequence[AnyRow], model: str) -> set[str]:
        ids = {entry.memory_id for entry in entries if entry.memory_id is not None}
        relabelled = {entry.memory_id for entry in entries if _relabelled(entry)}
        has_one = and_(
            memory_vectors.c.space == memories.c.space,
            memory_vectors.c.memory_id == memories.c.id,
            memory_vectors.c.model == model,
            memory_vectors.c.part == 0,
        )
        query = (
            select(memories.c.id, memories.c.version, memory_vectors.c.version.label("embedded"))
            .outerjoin(memory_vectors, has_one)
            .where(
                memories.c.space == self._space,
                memories.c.state == "active",
                self._one_of(memories.c.id, sorted(ids)),
            )
        )
        return {
            row.id
            for row in self._connection.execute(query)
            if row.embedded != row.version or row.id in relabelled
        }


class MessageFeed(SpaceRows):
    """Messages in the order of their arrival."""

    def after(self, reached: int, last: int, model: str, limit: int) -> Missing[Message]:
        """Up to `limit` messages that need a vector: what was said by somebody, and still has its text."""
        spoken = or_(messages.c.role.in_(("user", "assistant")), messages.c.speaker.is_not(None))
        query = (
            self._select(
                Message,
                messages.c.position > reached,
                messages.c.role.not_in(("tool", "system")),
                messages.c.content != "",
                messages.c.off_record.is_(False),
                spoken,
            )
            .order_by(messages.c.position)
            .limit(limit)
        )
        rows = self._connection.execute(query).all()
        upto = rows[-1].position if len(rows) == limit else last
        return Missing(tuple(values_of(Message, rows)), upto)

    def outdated(self, reached: int, upto: int, model: str) -> Sequence[str]:
        """None: a message that loses its text loses its vectors at once."""
        return ()


def _relabelled(entry: AnyRow) -> bool:
    """Whether an entry changed what a memory is found by and not its wording."""
    if entry.before is None or entry.after is None:
        return False
    before, after = json.loads(entry.before), json.loads(entry.after)
    return any(before.get(name) != after.get(name) for name in ("subject", "tags"))
