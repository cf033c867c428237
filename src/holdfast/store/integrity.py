"""Holds the rows of a space against each other: texts, vectors, word index, and what belongs to nothing.

Finds what only damage or another program leaves behind, and mends what can be made again.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Table, and_, delete, exists, func, select, update

from holdfast.domain.health import Damage
from holdfast.domain.memory import Memory, Message
from holdfast.store import schema
from holdfast.store.full_text import MEMORIES, MESSAGES, Indexed
from holdfast.store.history import checksum
from holdfast.store.mapping import value_of
from holdfast.store.queries import WordIndex, queries_of
from holdfast.store.vector_feed import KINDS, Kind, of_model

if TYPE_CHECKING:
    from holdfast.store.transaction import SpaceTransaction

#: What names a row of another table without a key between them; `citations` outlive their memory on purpose.
_NAMES = ((schema.citations, "message_id", schema.messages),)
_AT_ONCE = 500


class SpaceIntegrity:
    """One space, as its rows stand."""

    def __init__(self, tx: "SpaceTransaction") -> None:
        self._tx = tx
        self._connection = tx.connection
        self._space = tx.space.name

    def damage(self) -> Damage:
        """All that is wrong; nothing is changed."""
        return Damage(
            space=self._space,
            texts=self.damaged_texts(),
            vectors=sum(len(self._unsound(kind, model)) for kind, model in self._models())
            + sum(len(self.without_vector(kind.name, model)) for kind, model in self._models()),
            words=sum(len(ids) for index in (MEMORIES, MESSAGES) for ids in self._misplaced(index)),
            orphans=sum(self._count(table, which) for table, which in self._orphaned()),
        )

    def mend(self) -> None:
        """Mends texts that are kept twice, removes orphans, rebuilds ranks, sums and missing words.

        Vectors that are none are dropped; whoever has an embedder makes those of `without_vector`.
        """
        for table, which in self._orphaned():
            self._connection.execute(delete(table).where(which))
        self._mend_texts()
        for kind, model in self._models():
            vectors = self._tx.memory_vectors if kind.name == "memory" else self._tx.message_vectors
            vectors.drop(self._unsound(kind, model))
            self._mend_blocks(kind, model)
        self._mend_words()
        self._tx.ranks.rank_all()
        self._tx.usage.recount()

    # ---------------------------------------------------------------------------------------------- texts

    def damaged_texts(self) -> tuple[str, ...]:
        """Versions whose text is not what their checksum says, or not what their memory says."""
        table = schema.versions
        query = select(table.c.memory_id, table.c.number, table.c.content, table.c.checksum)
        rows = self._rows(query.where(table.c.space == self._space, table.c.checksum.is_not(None)))
        wrong = {(row.memory_id, row.number) for row in rows if checksum(row.content) != row.checksum}
        wrong |= {(row.id, row.version) for row in self._rows(self._differing())}
        return tuple(f"{memory_id} version {number}" for memory_id, number in sorted(wrong))

    def _differing(self) -> Any:
        """Memories whose text is not that of their current version, with both."""
        current = and_(
            schema.versions.c.space == schema.memories.c.space,
            schema.versions.c.memory_id == schema.memories.c.id,
            schema.versions.c.number == schema.memories.c.version,
        )
        columns = (schema.memories.c.id, schema.memories.c.version, schema.memories.c.content)
        worded = schema.versions.c.content.label("worded")
        return (
            select(*columns, worded, schema.versions.c.checksum)
            .outerjoin(schema.versions, current)
            .where(
                schema.memories.c.space == self._space,
                schema.versions.c.content.is_distinct_from(schema.memories.c.content),
            )
        )

    def _mend_texts(self) -> None:
        """Where a memory and its current version differ, the one with the right checksum counts."""
        for row in list(self._rows(self._differing())):
            if row.checksum is None:
                continue
            if checksum(row.worded) == row.checksum:
                where = and_(schema.memories.c.space == self._space, schema.memories.c.id == row.id)
                self._connection.execute(update(schema.memories).where(where).values(content=row.worded))
            elif checksum(row.content) == row.checksum:
                this = schema.versions.c
                where = and_(this.space == self._space, this.memory_id == row.id, this.number == row.version)
                self._connection.execute(update(schema.versions).where(where).values(content=row.content))

    # -------------------------------------------------------------------------------------------- vectors

    def _models(self) -> list[tuple[Kind, str]]:
        return [(kind, model.name) for kind in KINDS for model in self._tx.models.all()]

    def _unsound(self, kind: Kind, model: str) -> list[str]:
        """The owners of values that are no vectors of this model."""
        size, _ = self._tx.models.shape(model)
        if size is None:
            return []
        return queries_of(self._connection, self._space).vectors(kind, None).unsound(model, size)

    def without_vector(self, name: str, model: str) -> list[str]:
        """The ids of memories, or messages, that should have a vector of this model by now and have none."""
        kind = next(kind for kind in KINDS if kind.name == name)
        state = next((one for one in self._tx.models.all() if one.name == model), None)
        if state is None or not state.ready:
            return []
        owners = schema.memories if name == "memory" else schema.messages
        has_one = exists().where(of_model(kind, self._space, model), kind.owner == owners.c.id)
        query = select(owners).where(owners.c.space == self._space, ~has_one)
        if name == "memory":
            if state.memories_to < state.last_change:
                return []  # the usual embedding is not there yet
            return [row.id for row in self._rows(query.where(owners.c.state == "active"))]
        reached = query.where(owners.c.position <= state.messages_to, owners.c.content != "")
        return [row.id for row in self._rows(reached) if value_of(Message, row).findable]

    def _mend_blocks(self, kind: Kind, model: str) -> None:
        size, _ = self._tx.models.shape(model)
        if size is not None:
            queries_of(self._connection, self._space).vectors(kind, None).mend(model, size)

    # ---------------------------------------------------------------------------------------------- words

    def _misplaced(self, index: Indexed[Any]) -> tuple[list[str], list[str]]:
        """What the word index lacks, and what it should not hold."""
        held = self._words(index).held()
        wanted = set()
        for owner in self._findable(index):
            if owner.id in held or index.words(owner):
                wanted.add(owner.id)
        return sorted(wanted - held), sorted(held - wanted)

    def _findable(self, index: Indexed[Any]) -> Iterator[Memory | Message]:
        if index is MEMORIES:
            mine = (schema.memories.c.space == self._space) & (schema.memories.c.state == "active")
            yield from (value_of(Memory, row) for row in self._rows(select(schema.memories).where(mine)))
            return
        for row in self._rows(select(schema.messages).where(schema.messages.c.space == self._space)):
            if (message := value_of(Message, row)).findable:
                yield message

    def _mend_words(self) -> None:
        for index in (MEMORIES, MESSAGES):
            missing, extra = map(set, self._misplaced(index))
            words = self._words(index)
            words.drop(*extra)
            lacking = [owner for owner in self._findable(index) if owner.id in missing]
            for start in range(0, len(lacking), _AT_ONCE):
                words.put(*lacking[start : start + _AT_ONCE])

    def _words(self, index: Indexed[Any]) -> WordIndex[Any]:
        return self._tx.words if index is MEMORIES else self._tx.message_words

    # -------------------------------------------------------------------------------------------- orphans

    def _orphaned(self) -> Iterator[tuple[Table, ColumnElement[bool]]]:
        """For each key between two tables: the rows whose other end is gone."""
        for table in schema.metadata.sorted_tables:
            for key in table.foreign_key_constraints:
                if key.referred_table is not schema.spaces:
                    pairs = [(each.parent, each.column) for each in key.elements]
                    there = exists().where(*(theirs == ours for ours, theirs in pairs))
                    given = (ours.is_not(None) for ours, _ in pairs)
                    yield table, and_(table.c.space == self._space, *given, ~there)
        for table, column, other in _NAMES:
            there = exists().where(other.c.space == table.c.space, other.c.id == table.c[column])
            yield table, and_(table.c.space == self._space, ~there)

    def _count(self, table: Table, which: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(which)
        return int(self._connection.execute(query).scalar_one())

    def _rows(self, query: Any) -> Iterator[Any]:
        # Given to the statement: as an option of the connection it would hold for what is written later.
        return iter(self._connection.execute(query, execution_options={"yield_per": _AT_ONCE}))
