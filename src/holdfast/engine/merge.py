"""Merges an archive of the same space in another store, so that both say the same once each has the other's.

What the rows are then is decided by `domain.merge`; this module writes what changes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any

from holdfast.domain.history import remembered
from holdfast.domain.memory import Memory, Source
from holdfast.domain.merge import SYNCED, merged
from holdfast.engine import rewordings
from holdfast.engine.archive import Archive
from holdfast.engine.erase import silence
from holdfast.engine.forget import conceal
from holdfast.engine.intake import text_hash
from holdfast.engine.ports import Transaction
from holdfast.engine.reading_queue import CAPTURE, forget_answers
from holdfast.engine.spaces import profile_of

Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]

#: Tables whose keys move when versions or wordings get other numbers: what changes is removed first.
_NUMBERED = ("versions", "repetitions")
_FAR = 1_000_000_000  # above every number of a message


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """What a merge changed here: memories, and the texts to scrub from what the database leaves behind."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]
    waiting: tuple[str, ...]  # in the inbox since, because a person has to decide
    silenced: tuple[str, ...]  # messages
    erased: tuple[str, ...]
    texts: tuple[str, ...] = field(repr=False)


def merge(archive: Archive, tx: Transaction, now: datetime) -> MergeResult:
    """Merges the rows of an archive into the space, inside a transaction."""
    mine: dict[str, list[Row]] = {table: list(tx.dump.rows(table)) for table in tx.dump.tables()}
    key = tx.space.key
    if not mine["tombstones"] and archive.header.key != key:  # nothing here is hashed with it
        key = archive.header.key
        tx.dump.adopt_key(key)
    theirs = {table: _taken(table, archive, key, tx) for table in mine}
    after = merged(mine, theirs, profile_of(tx.space), lambda text: text_hash(text, key))
    return _Changes(mine, after, tx, now).write(theirs)


def _taken(table: str, archive: Archive, key: str, tx: Transaction) -> list[Row]:
    """The rows of the archive; tombstones whose text is known are hashed with the key of this store."""
    rows = [tx.dump.complete_row(table, row) for row in archive.rows.get(table, ())]
    if table == "tombstones" and archive.header.key != key:
        rows = [{**row, "hash": text_hash(row["content"], key)} if row["content"] else row for row in rows]
    return rows


class _Changes:
    """The rows before and after, and what follows from the difference."""

    def __init__(self, mine: Rows, after: Rows, tx: Transaction, now: datetime) -> None:
        self._mine = mine
        self._after = after
        self._tx = tx
        self._now = now
        self._before = {row["id"]: row for row in mine["memories"]}
        self._rows = {row["id"]: row for row in after["memories"]}

    def write(self, theirs: Rows) -> MergeResult:
        changed = [one for one, row in self._rows.items() if row != self._before.get(one)]
        removed = sorted(self._before.keys() - self._rows.keys())
        erased = self._erased(removed)
        texts = [row["content"] for row in self._texts(erased)]
        before = {one.id: one for one in self._tx.memories.many(changed)}
        silenced = self._messages()
        self._remove(removed, erased)
        for table in ("sessions", "memories", *_NUMBERED):
            self._table(table)
        self._insert_messages()
        for table in self._after:
            if table not in ("sessions", "messages", "memories", "journal", *_NUMBERED):
                self._table(table)
        self._journal()
        self._files(theirs)
        self._captured(theirs)
        self._tx.dump.reindex(changed)
        self._note(changed, before)
        added = tuple(one for one in changed if one not in self._before)
        return MergeResult(
            added=tuple(one for one in added if not self._waits(one)),
            updated=tuple(one for one in changed if one in self._before and not self._waits(one)),
            removed=tuple(removed),
            waiting=tuple(one for one in changed if self._waits(one)),
            silenced=tuple(silenced),
            erased=tuple(erased),
            texts=tuple(dict.fromkeys(filter(None, texts))),
        )

    def _waits(self, memory_id: str) -> bool:
        """Whether it waits for a review since this merge."""
        before = self._before.get(memory_id)
        waits = self._rows[memory_id]["state"] == "waiting"
        return waits and (before is None or before["state"] != "waiting")

    def _erased(self, removed: Collection[str]) -> list[str]:
        named = {row["memory_id"] for row in self._after["journal"] if row["action"] == "erased"}
        texts = {row["memory_id"] for row in self._mine["tombstones"] if row["content"]}
        return sorted(named & ({*removed} | texts))

    def _texts(self, erased: Collection[str]) -> list[Row]:
        return [
            row
            for table in ("versions", "repetitions", "tombstones")
            for row in self._mine[table]
            if row["memory_id"] in erased
        ]

    # ----------------------------------------------------------------------------------------------- rows

    def _table(self, table: str) -> None:
        """Writes the difference of one table."""
        names = self._tx.dump.key(table)
        before = {tuple(row[name] for name in names): row for row in self._mine[table]}
        after = {tuple(row[name] for name in names): row for row in self._after[table]}
        removing = table != "memories"  # these are removed with all that belongs to them
        for key, row in before.items():
            if removing and (key not in after or (table in _NUMBERED and after[key] != row)):
                self._tx.dump.drop(table, row)
        for key, row in after.items():
            if key not in before:
                self._tx.dump.insert(table, row)
            elif before[key] != row:
                self._tx.dump.put(table, row)

    def _remove(self, removed: Sequence[str], erased: Collection[str]) -> None:
        for memory_id in removed:
            self._tx.words.drop(memory_id)
            self._tx.memories.remove(memory_id)
            rewordings.seek(self._tx, memory_id, self._now)
            if self._before[memory_id].get("private"):
                conceal(self._tx, memory_id)
        for memory_id in erased:
            self._tx.calls.strike(memory_id)
            self._tx.files.strike(memory_id)
            self._tx.receipts.strike(memory_id)
            self._tx.journal.forget_text(memory_id)

    def _messages(self) -> list[str]:
        """Brings known messages up to date; returns those that lost their text."""
        after = {row["id"]: row for row in self._after["messages"]}
        changed = [(row, after[row["id"]]) for row in self._mine["messages"] if row != after[row["id"]]]
        silenced = [new["id"] for old, new in changed if old["content"] and new["content"] is None]
        private = [new["id"] for old, new in changed if new["off_record"] and not old["off_record"]]
        if silenced:
            silence(silenced, self._tx)
        if private:
            self._tx.message_words.drop(*private)
            self._tx.message_vectors.drop(private)
            forget_answers(self._tx, private)
        for shift in (_FAR, 0):  # their numbers are unique at every moment
            for _, new in changed:
                self._tx.dump.put("messages", {**new, "number": new["number"] + shift})
        return silenced

    def _insert_messages(self) -> None:
        known = {row["id"] for row in self._mine["messages"]}
        new = [row for row in self._after["messages"] if row["id"] not in known]
        for row in sorted(new, key=lambda row: (row["said_at"], row["number"])):
            self._tx.dump.insert("messages", row)
        for session_id in sorted({row["session_id"] for row in new}):
            rewordings.expect(self._tx, session_id, self._now)

    def _journal(self) -> None:
        """Changes known entries, and adds those of the other store behind them."""
        before = {row["seq"]: row for row in self._mine["journal"]}
        seqs = count(self._tx.journal.last() + 1)  # the space's own number follows in `reindex`
        for row in self._after["journal"]:
            if row["seq"] is None:
                self._tx.dump.insert("journal", {**row, "seq": next(seqs)})
            elif row != before[row["seq"]]:
                self._tx.dump.put("journal", row)

    def _files(self, theirs: Rows) -> None:
        """The names of memories that are new here."""
        named = {row["memory_id"] for row in self._mine["files"]}
        for row in theirs["files"]:
            memory_id = row["memory_id"]
            if memory_id is None or (memory_id in self._rows and memory_id not in named):
                self._tx.dump.insert("files", row)

    def _captured(self, theirs: Rows) -> None:
        """Notes what the other store reads of each session, so that it is not captured here as well."""
        mine = {row["id"]: row for row in self._mine["jobs"]}
        for row in theirs["jobs"]:
            if row["kind"] != CAPTURE or not isinstance(row["payload"], dict):
                continue
            known = mine.get(row["id"])
            done = {"state": "done", "error": None, "leased_until": None}
            if known is None:
                self._tx.dump.insert("jobs", {**row, **done})
            elif known["state"] == "done" and row["payload"].get("read", 0) > known["payload"].get("read", 0):
                payload = {**known["payload"], "read": row["payload"]["read"]}
                self._tx.dump.put("jobs", {**known, "payload": payload})

    def _note(self, changed: Sequence[str], before: Mapping[str, Memory]) -> None:
        """Adds an entry for each memory whose state is not what the last entry about it says."""
        last: dict[str, Row] = {}
        for row in sorted(self._tx.dump.rows("journal"), key=lambda row: int(row["seq"])):
            if row["memory_id"] is not None and row["after"] is not None:
                last[row["memory_id"]] = row["after"]
        for memory in self._tx.memories.many(changed):
            old = before.get(memory.id)
            if last.get(memory.id) != remembered(memory):
                source = Source(origin="import")
                self._tx.journal.write(SYNCED, source=source, now=self._now, before=old, after=memory)
            if old is not None and old.active and not memory.active:
                rewordings.seek(self._tx, memory.id, self._now)
