"""One unit of work in one space: every table of the store, seen from that space alone.

Most transactions ask few tables, so the others are loaded and made when they are first asked.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.domain.access import ALL_MEMORIES, Reader
from holdfast.engine.ports import Transaction
from holdfast.store import memories, queries, ranks, relations, usage

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from holdfast.domain.memory import Memory, Message
    from holdfast.domain.space import Space
    from holdfast.store import (
        dump,
        files,
        full_text,
        history,
        integrity,
        operations,
        receipts,
        sessions,
        vector_feed,
        vector_rows,
    )


class Caches:
    """What a process keeps between transactions; all of it can be read again."""

    def __init__(self) -> None:
        self.totals: full_text.Totals = {}

    @cached_property
    def vectors(self) -> vector_rows.VectorCache:
        from holdfast.store.vector_rows import VectorCache

        return VectorCache()


class SpaceTransaction(Transaction):
    """Tables that can't be asked about another space. `__getattr__` makes what is declared here."""

    all_memories: memories.MemoryTable
    versions: history.VersionTable
    repetitions: history.RepetitionTable
    journal: history.JournalTable
    citations: relations.CitationTable
    tombstones: relations.TombstoneTable
    sessions: sessions.SessionTable
    calls: receipts.CallTable
    receipts: receipts.ReceiptTable
    jobs: operations.JobTable
    events: operations.EventTable
    cooldowns: operations.CooldownTable
    spend: operations.SpendTable
    files: files.FileTable
    models: vector_feed.ModelTable
    memory_vectors: vector_rows.VectorTable[Memory]
    message_vectors: vector_rows.VectorTable[Message]
    words: queries.WordIndex[Memory]
    message_words: queries.WordIndex[Message]
    dump: dump.TableDump
    integrity: integrity.SpaceIntegrity
    accesses: usage.AccessTable

    def __init__(
        self, connection: Connection, space: Space, caches: Caches, reader: Reader = ALL_MEMORIES
    ) -> None:
        self.connection = connection
        self.space = space
        self._caches = caches
        self._reader = reader
        self.ranks = ranks.RankTable(connection, space, reader)
        self.usage = usage.UsageTable(connection, space.name)
        self.memories = self._memories_for(reader)
        self.links = relations.LinkTable(connection, space.name, self.ranks, reader)

    def __getattr__(self, name: str) -> Any:
        if name not in type(self).__annotations__:
            raise AttributeError(f"a transaction has no {name}")
        table = self._made(name)
        setattr(self, name, table)
        return table

    def _made(self, name: str) -> object:
        connection, space = self.connection, self.space.name
        if name == "all_memories":
            return self._memories_for(ALL_MEMORIES)
        if name in ("words", "message_words"):
            from holdfast.store.full_text import MEMORIES, MESSAGES

            index: full_text.Indexed[Any] = MEMORIES if name == "words" else MESSAGES
            return queries.queries_of(connection, space).words(index, self._caches.totals)
        module, _, kind = type(self).__annotations__[name].partition("[")[0].partition(".")
        table = getattr(import_module(f"{__package__}.{module}"), kind)
        if name == "dump":
            return table(
                connection, space, self.ranks, self.words, self.message_words, self.usage, self._reader
            )
        if name in ("journal", "receipts", "repetitions"):
            return table(connection, space, self._reader)
        if name in ("versions", "sessions"):
            return table(connection, space, self.usage)
        if name == "integrity":
            return table(self)
        if name in ("memory_vectors", "message_vectors"):
            return table(connection, space, name.removesuffix("_vectors"), self._caches.vectors)
        return table(connection, space)

    def _memories_for(self, reader: Reader) -> memories.MemoryTable:
        space, vectors = self.space.name, lambda: self.memory_vectors
        return memories.MemoryTable(self.connection, space, self.ranks, vectors, self.usage, reader)
