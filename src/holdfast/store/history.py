"""Queries over versions, repetitions and the journal: how memories were worded, and every change of them."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Text,
    and_,
    case,
    func,
    or_,
    select,
    text,
    type_coerce,
)

from holdfast.domain.access import Reader
from holdfast.domain.history import LEFT_OPEN, Action, Entry, remembered
from holdfast.domain.memory import Memory, Origin, Repetition, Source, Version
from holdfast.store.mapping import row_of, value_of
from holdfast.store.rows import SpaceRows, same_or_none
from holdfast.store.schema import growth, heads, journal, repetitions, versions
from holdfast.store.sql_filters import about_seen
from holdfast.store.usage import UsageTable, size

#: What leaves a memory in use, or out of it.
_STAYS = ("reinforced", "contradicted", "decayed", "linked", "unlinked")
#: What leaves a memory saying what its writer said.
_SAVES = ("added", "reinforced", "merged", "revised", "waiting")
_COUNT = text(
    "INSERT INTO growth (space, day, change) VALUES (:space, :day, :change) "
    "ON CONFLICT (space, day) DO UPDATE SET change = growth.change + excluded.change"
)


def checksum(content: str) -> str:
    """What a version's text is verified by."""
    return hashlib.sha256(content.encode()).hexdigest()


class VersionTable(SpaceRows):
    """The wordings of one space's memories."""

    def __init__(self, connection: Connection, space: str, usage: UsageTable) -> None:
        super().__init__(connection, space)
        self._usage = usage

    def add(self, *wordings: Version) -> None:
        rows = [{**row_of(one, self._space), "checksum": checksum(one.content)} for one in wordings]
        self._sql.insert(versions, rows)
        self._usage.grow(bytes=sum(size(one.content) for one in wordings))

    def of(self, memory_id: str) -> list[Version]:
        """All wordings of a memory, oldest first."""
        query = self._select(Version, versions.c.memory_id == memory_id)
        return self._values(Version, query.order_by(versions.c.number))

    def get(self, memory_id: str, number: int) -> Version | None:
        mine = (versions.c.memory_id == memory_id, versions.c.number == number)
        return self._value(Version, self._select(Version, *mine))


class RepetitionTable(SpaceRows):
    """The repetitions of one space."""

    def add(self, wording: Repetition) -> None:
        self._add([wording])

    def of(self, memory_id: str) -> list[Repetition]:
        """The wordings of a memory, oldest first."""
        query = self._select(Repetition, self._of(memory_id))
        return self._values(Repetition, query.order_by(repetitions.c.number))

    def last_number(self, memory_id: str) -> int:
        """The highest number that a wording of the memory has; 0 without one."""
        mine = (repetitions.c.space == self._space, self._of(memory_id))
        query = select(func.max(repetitions.c.number)).where(*mine)
        return int(self._connection.execute(query).scalar() or 0)

    def remove(self, memory_id: str, number: int) -> None:
        self._remove(repetitions, self._of(memory_id), repetitions.c.number == number)

    def remove_session(self, session_id: str) -> int:
        """Removes the wordings that came from a session; answers how many."""
        seen = about_seen(self._reader, repetitions.c.memory_id, self._space)
        return self._remove(repetitions, repetitions.c.session_id == session_id, *seen)

    def _of(self, memory_id: str) -> ColumnElement[bool]:
        return repetitions.c.memory_id == memory_id


class JournalTable(SpaceRows):
    """Every change in one space, in order."""

    def __init__(self, connection: Connection, space: str, reader: Reader) -> None:
        super().__init__(connection, space, reader)
        self._judged: str | None = None

    def judged(self, by: str | None) -> None:
        """Entries of this transaction name from now on who judged, and how surely."""
        self._judged = by

    def write(
        self,
        action: Action,
        *,
        source: Source,
        now: datetime,
        before: Memory | None = None,
        after: Memory | None = None,
        note: str | None = None,
    ) -> int:
        """Adds an entry and answers its number. The head row is locked by the transaction already."""
        seq = self._sql.next_number(heads.c.seq, 1)
        self._add([self._entry(seq, action, source, now, before, after, note)])
        return seq

    def write_added(self, memories: Sequence[Memory], now: datetime) -> None:
        """Adds an entry for each of these new memories, in their order."""
        if memories:
            first = self._sql.next_number(heads.c.seq, len(memories)) - len(memories) + 1
            self._add(
                [
                    self._entry(seq, "added", memory.source, now, None, memory, None)
                    for seq, memory in enumerate(memories, start=first)
                ]
            )

    def _entry(
        self,
        seq: int,
        action: Action,
        source: Source,
        now: datetime,
        before: Memory | None,
        after: Memory | None,
        note: str | None,
    ) -> Entry:
        memory = after or before
        return Entry(
            seq=seq,
            action=action,
            memory=memory.id if memory else None,
            origin=source.origin,
            session=source.session,
            person=source.person,
            before=remembered(before) if before else None,
            after=remembered(after) if after else None,
            note=note,
            judged=self._judged,
            created_at=now,
        )

    def of(self, memory_id: str) -> list[Entry]:
        return self._entries(journal.c.memory_id == memory_id)

    def of_session(self, session_id: str) -> list[Entry]:
        seen = about_seen(self._reader, journal.c.memory_id, self._space)
        return self._entries(journal.c.session_id == session_id, *seen)

    def latest_of(self, memory_ids: Collection[str], limit: int) -> list[Entry]:
        """The latest entries of these memories, the newest first."""
        query = self._select(Entry, self._one_of(journal.c.memory_id, memory_ids))
        return self._values(Entry, query.order_by(journal.c.seq.desc()).limit(limit))

    def left_open(self, after: int, upto: int) -> list[Entry]:
        """The memories that were added in this part of the journal beside others that no model judged."""
        part = journal.c.seq.between(after + 1, upto) & (journal.c.action == "added")
        return self._entries(part & journal.c.judged.contains(LEFT_OPEN))

    def last(self) -> int:
        """The number of the newest entry; 0 before the first."""
        return self._head(heads.c.seq)

    def newest_before(self, moment: datetime) -> datetime | None:
        """The time of the newest entry that was written at `moment` or earlier."""
        mine = (journal.c.space == self._space) & (journal.c.created_at <= moment)
        query = select(journal.c.created_at).where(mine).order_by(journal.c.seq.desc())
        found: datetime | None = self._connection.execute(query.limit(1)).scalar()
        return found

    def growth(self) -> list[tuple[str, int]]:
        """By day of UTC: how many more memories came into use than went out of it."""
        kept = select(growth.c.day, growth.c.change).where(growth.c.space == self._space)
        found = Counter({row.day: row.change for row in self._connection.execute(kept)})
        found.update(self._changes(self._head(heads.c.counted_to)))
        return sorted(found.items())

    def uncounted(self) -> int:
        """How many entries are not in the sums that `growth` reads."""
        return self.last() - self._head(heads.c.counted_to)

    def count_growth(self, most: int) -> None:
        """Takes the next entries into the sums, at most so many."""
        done = self._head(heads.c.counted_to)
        upto = min(self.last(), done + most)
        rows = [
            {"space": self._space, "day": day, "change": change}
            for day, change in self._changes(done, upto).items()
        ]
        if rows:
            self._connection.execute(_COUNT, rows)
        self._change(heads, {"counted_to": upto})

    def _changes(self, after: int, upto: int | None = None) -> dict[str, int]:
        change = _in_use(journal.c.after) - _in_use(journal.c.before)
        mine = (journal.c.space == self._space, journal.c.seq > after, journal.c.action.not_in(_STAYS))
        changes = select(self._sql.day(journal.c.created_at).label("day"), change.label("change")).where(
            *mine
        )
        if upto is not None:
            changes = changes.where(journal.c.seq <= upto)
        # A fence: SQLite sorts what is grouped, and would carry the long texts along.
        part = changes.offset(0).subquery()
        query = select(part.c.day, func.sum(part.c.change)).group_by(part.c.day)
        return {str(row[0]): int(row[1]) for row in self._connection.execute(query)}

    def latest_before(self, moment: datetime) -> Iterator[Entry]:
        """For each memory, the last entry written at or before `moment` that says how it stood."""
        mine = (journal.c.space == self._space) & (journal.c.created_at <= moment)
        told = journal.c.memory_id.is_not(None) & journal.c.after.is_not(None)
        newest = select(func.max(journal.c.seq).label("seq")).where(mine, told)
        latest = newest.group_by(journal.c.memory_id).subquery()
        query = (
            self._select(Entry, *about_seen(self._reader, journal.c.memory_id, self._space))
            .join(latest, and_(journal.c.seq == latest.c.seq, journal.c.space == self._space))
            .order_by(journal.c.seq)
        )
        return (value_of(Entry, row) for row in self._connection.execute(query))

    def said_by(self, session_id: str, memory_id: str, actions: Sequence[Action]) -> bool:
        """Whether this session has done one of `actions` to this memory before."""
        by_it = journal.c.session_id == session_id
        return self._is_any(journal, journal.c.memory_id == memory_id, by_it, journal.c.action.in_(actions))

    def saved_by(
        self,
        origin: Origin,
        session_id: str | None,
        *,
        limit: int,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> dict[str, datetime]:
        """The memories that an origin wrote or confirmed in a session, or in none, each with the last time.

        Of the session's `limit` latest changes alone, so that what has no session is not read from its start.
        """
        entry = journal.c
        latest = (
            select(entry.seq, entry.memory_id, entry.origin, entry.action, entry.created_at)
            .where(journal.c.space == self._space, same_or_none(journal.c.session_id, session_id))
            .order_by(journal.c.seq.desc())
            .limit(limit)
            .subquery()
        )
        query = select(latest.c.memory_id, latest.c.created_at).where(
            latest.c.origin == origin, latest.c.action.in_(_SAVES), latest.c.memory_id.is_not(None)
        )
        if since is not None:
            query = query.where(latest.c.created_at >= since)
        query = query.where(latest.c.created_at <= until) if until is not None else query
        rows = self._connection.execute(query.order_by(latest.c.seq))
        return {row.memory_id: row.created_at for row in rows}

    def vouched_for(self, memory_id: str) -> bool:
        """Whether an operator wrote, revised or approved this memory."""
        vouching = journal.c.action.in_(("added", "merged", "revised", "approved"))
        mine = (journal.c.memory_id == memory_id, journal.c.origin == "operator")
        return self._is_any(journal, *mine, vouching)

    def forget_text(self, memory_id: str) -> None:
        """Leaves of a memory's entries only what was done, when and by whom."""
        nothing = {"before": None, "after": None, "note": None}
        self._change(journal, nothing, journal.c.memory_id == memory_id)
        self.forget_growth()

    def forget_growth(self) -> None:
        """Removes the sums, which are made again of the entries that there are."""
        self._remove(growth)
        self._change(heads, {"counted_to": 0})

    def _entries(self, *where: Any) -> list[Entry]:
        return self._values(Entry, self._select(Entry, *where).order_by(journal.c.seq))


def _in_use(column: Any) -> Any:
    """1 for an entry whose side says that the memory is in use, else 0.

    Looked for in the stored text: inside of a text of JSON such quotes can't stand unescaped.
    """
    stored = type_coerce(column, Text)
    found = [stored.contains(f'"state":"{state}"', autoescape=True) for state in ("active", "inactive")]
    return case((or_(*found), 1), else_=0)
