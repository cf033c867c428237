"""One unit of work in one space: every table of the store, seen from that space alone."""

from dataclasses import dataclass, field

from sqlalchemy import Connection

from holdfast.domain.memory import Memory, Message
from holdfast.domain.space import Space
from holdfast.engine.ports import Transaction
from holdfast.store.dump import TableDump
from holdfast.store.files import FileTable
from holdfast.store.full_text import MEMORIES, MESSAGES, Totals
from holdfast.store.history import JournalTable, RepetitionTable, VersionTable
from holdfast.store.integrity import SpaceIntegrity
from holdfast.store.memories import MemoryTable
from holdfast.store.operations import CooldownTable, EventTable, JobTable, SpendTable
from holdfast.store.queries import queries_of
from holdfast.store.ranks import RankTable
from holdfast.store.receipts import CallTable, ReceiptTable
from holdfast.store.relations import CitationTable, LinkTable, TombstoneTable
from holdfast.store.sessions import SessionTable
from holdfast.store.vector_feed import MEMORY_VECTORS, MESSAGE_VECTORS, MemoryFeed, MessageFeed, ModelTable
from holdfast.store.vector_rows import VectorCache, VectorTable


@dataclass(frozen=True, slots=True)
class Caches:
    """What a process keeps between transactions; all of it can be read again."""

    totals: Totals = field(default_factory=dict)
    vectors: VectorCache = field(default_factory=VectorCache)


class SpaceTransaction(Transaction):
    """Tables that can't be asked about another space."""

    def __init__(self, connection: Connection, space: Space, caches: Caches) -> None:
        self.connection = connection
        self.space = space
        self.memory_vectors: VectorTable[Memory] = VectorTable(
            connection, space.name, MEMORY_VECTORS, MemoryFeed(connection, space.name), caches.vectors
        )
        self.message_vectors: VectorTable[Message] = VectorTable(
            connection, space.name, MESSAGE_VECTORS, MessageFeed(connection, space.name), caches.vectors
        )
        self.models = ModelTable(connection, space.name)
        self.ranks = RankTable(connection, space)
        self.memories = MemoryTable(connection, space.name, self.memory_vectors, self.ranks)
        self.versions = VersionTable(connection, space.name)
        self.repetitions = RepetitionTable(connection, space.name)
        self.journal = JournalTable(connection, space.name)
        self.citations = CitationTable(connection, space.name)
        self.links = LinkTable(connection, space.name, self.ranks)
        self.sessions = SessionTable(connection, space.name)
        self.receipts = ReceiptTable(connection, space.name)
        self.tombstones = TombstoneTable(connection, space.name)
        self.calls = CallTable(connection, space.name)
        self.jobs = JobTable(connection, space.name)
        self.events = EventTable(connection, space.name)
        self.cooldowns = CooldownTable(connection, space.name)
        self.spend = SpendTable(connection, space.name)
        self.files = FileTable(connection, space.name)
        sql = queries_of(connection, space.name)
        self.words = sql.words(MEMORIES, caches.totals)
        self.message_words = sql.words(MESSAGES, caches.totals)
        self.dump = TableDump(connection, space.name, self.ranks, self.words, self.message_words)
        self.integrity = SpaceIntegrity(self)
