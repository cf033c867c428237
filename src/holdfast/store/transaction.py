"""One unit of work in one space: every table of the store, seen from that space alone."""

from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from holdfast.engine.ports import FullText, Space
from holdfast.store.calls import CallTable
from holdfast.store.dump import TableDump
from holdfast.store.full_text_postgres import PostgresFullText
from holdfast.store.full_text_sqlite import SqliteFullText
from holdfast.store.history import JournalTable, VersionTable
from holdfast.store.memories import MemoryTable
from holdfast.store.receipts import ReceiptTable
from holdfast.store.relations import LinkTable
from holdfast.store.sessions import SessionTable
from holdfast.store.tombstones import TombstoneTable

if TYPE_CHECKING:
    from holdfast.store.vectors import Matrices, VectorTable


class SpaceTransaction:
    """Tables that can't be asked about another space."""

    def __init__(self, connection: Connection, space: Space, matrices: "Matrices") -> None:
        self._matrices = matrices
        self.connection = connection
        self.space = space
        self.memories = MemoryTable(connection, space.name)
        self.versions = VersionTable(connection, space.name)
        self.journal = JournalTable(connection, space.name)
        self.links = LinkTable(connection, space.name)
        self.sessions = SessionTable(connection, space.name)
        self.receipts = ReceiptTable(connection, space.name)
        self.tombstones = TombstoneTable(connection, space.name)
        self.calls = CallTable(connection, space.name)
        on_postgres = connection.dialect.name == "postgresql"
        self.words: FullText = (PostgresFullText if on_postgres else SqliteFullText)(connection, space.name)
        self.dump = TableDump(connection, space.name, self.words)

    @cached_property
    def vectors(self) -> "VectorTable":
        # Imported by need: numpy takes a tenth of a second to load.
        from holdfast.store.vectors import VectorTable

        return VectorTable(self.connection, self.space.name, self._matrices)
