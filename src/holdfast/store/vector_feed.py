"""Which memories and messages need a vector: read from the journal, and from the order of arrival.

What a model has reached is one number for each, so that a question costs no look at what is done already. A
memory needs a vector when an entry after that number wrote it, worded or labelled it anew, or made it active
again; its vector goes when it is not active any more.
"""

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Text, and_, case, null, or_, select, type_coerce

from holdfast.domain.memory import Memory, Message
from holdfast.engine.ports import Missing
from holdfast.store.rows import AnyRow, to_memory
from holdfast.store.schema import journal, memories, memory_vectors, messages
from holdfast.store.sessions import to_message
from holdfast.store.sql_in import one_of

_WINDOW = 500  # entries of the journal that are looked at together
_LABELLING = ("revised", "merged", "undone")


class MemoryFeed:
    """Memories in the order of the journal."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def after(self, reached: int, last: int, model: str, limit: int) -> Missing[Memory]:
        """Up to `limit` memories that need a vector."""
        entries = self._entries(reached)
        if not entries:
            return Missing((), last)
        wanted = self._wanted(entries, model)
        owners: dict[str, Memory] = {}
        upto = reached
        for entry in entries:
            memory = wanted.get(entry.memory_id)
            if memory is not None and memory.id not in owners:
                if len(owners) == limit:
                    return Missing(tuple(owners.values()), upto)
                owners[memory.id] = memory
            upto = entry.seq
        return Missing(tuple(owners.values()), upto if len(entries) == _WINDOW else last)

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

    def _entries(self, reached: int) -> Sequence[AnyRow]:
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
            .limit(_WINDOW)
        )
        return list(self._connection.execute(query))

    def _wanted(self, entries: Sequence[AnyRow], model: str) -> Mapping[str, Memory]:
        ids = {entry.memory_id for entry in entries if entry.memory_id is not None}
        relabelled = {entry.memory_id for entry in entries if _relabelled(entry)}
        has_one = and_(
            memory_vectors.c.space == memories.c.space,
            memory_vectors.c.memory_id == memories.c.id,
            memory_vectors.c.model == model,
            memory_vectors.c.part == 0,
        )
        query = (
            select(memories, memory_vectors.c.version.label("embedded"))
            .outerjoin(memory_vectors, has_one)
            .where(
                memories.c.space == self._space,
                memories.c.state == "active",
                one_of(memories.c.id, sorted(ids), self._connection),
            )
        )
        return {
            row.id: to_memory(row)
            for row in self._connection.execute(query)
            if row.embedded != row.version or row.id in relabelled
        }


class MessageFeed:
    """Messages in the order of their arrival."""

    def __init__(self, connection: Connection, space: str) -> None:
        self._connection = connection
        self._space = space

    def after(self, reached: int, last: int, model: str, limit: int) -> Missing[Message]:
        """Up to `limit` messages that need a vector: what was said by somebody, and still has its text."""
        spoken = or_(messages.c.role.in_(("user", "assistant")), messages.c.speaker.is_not(None))
        query = (
            select(messages)
            .where(
                messages.c.space == self._space,
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
        return Missing(tuple(to_message(row) for row in rows), upto)

    def outdated(self, reached: int, upto: int, model: str) -> Sequence[str]:
        """None: a message that loses its text loses its vectors at once."""
        return ()


def _relabelled(entry: AnyRow) -> bool:
    """Whether an entry changed what a memory is found by and not its wording."""
    if entry.before is None or entry.after is None:
        return False
    before, after = json.loads(entry.before), json.loads(entry.after)
    return any(before.get(name) != after.get(name) for name in ("subject", "tags"))
