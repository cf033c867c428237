"""Revision 0002: what was said before it can be found after it, on both databases, and nothing is lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Boolean, Engine, MetaData, create_engine, insert, text

from holdfast import Memories
from holdfast.app.wiring import migrate as migrate_store
from holdfast.errors import Unavailable
from holdfast.store import migrate, sqlite
from holdfast.store.full_text import mark
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.store.make_fixture import load

# What a database of revision 0001 may hold besides what the fixture does.
MORE = (
    ("m-b", "run-1", 2, "assistant", None, "Tea it is, with marzipan", "2026-03-01T12:00:02.000000+00:00"),
    ("m-a", "run-1", 3, "tool", None, "marzipan: 3 found", "2026-03-01T12:00:03.000000+00:00"),
    ("m-c", "run-1", 4, "user", None, None, "2026-03-01T12:00:04.000000+00:00"),
    ("m-d", "run-1", 5, "guest", "Bo", "Ещё марципан", "2026-03-01T12:00:05.000000+00:00"),
    ("m-e", "run-1", 6, "guest", None, "marzipan by nobody", "2026-03-01T12:00:06.000000+00:00"),
    ("m-0", "run-1", 7, "user", None, "?", "2026-03-01T11:00:00.000000+00:00"),
)
NOT_COPIED = (
    "alembic_version", "embeddings", "memory_words", "message_words", "memory_vectors", "message_vectors"
)  # fmt: skip


def older_file(path: Path) -> str:
    load("0001", path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany("INSERT INTO messages VALUES ('default', ?, ?, ?, ?, ?, ?, ?)", MORE)
        connection.execute("INSERT INTO embeddings VALUES ('default', 'Id000002', 2, 'old', x'00', '2026')")
        connection.commit()
    return str(path)


def older_server(url: str, file: str, revision: str = "0001") -> str:
    """The same rows on a server, at the same revision; without vectors and the words of messages."""
    engine = create_engine(url)
    migrate.upgrade(engine, revision)
    metadata = MetaData()
    metadata.reflect(engine, only=lambda name, _: name not in NOT_COPIED)
    with closing(sqlite3.connect(file)) as source, engine.begin() as connection:
        source.row_factory = sqlite3.Row
        for table in metadata.sorted_tables:
            truths = {column.name for column in table.columns if isinstance(column.type, Boolean)}
            for row in source.execute(f'SELECT * FROM "{table.name}"'):
                values = {key: bool(row[key]) if key in truths else row[key] for key in row.keys()}  # noqa: SIM118
                connection.execute(insert(table).values(values))
        words = text(
            "INSERT INTO memory_words (space, memory_id, words) "
            "VALUES ('default', 'Id000002', array_to_tsvector(:words))"
        )
        connection.execute(words, {"words": [mark("default", "tea")]})
    engine.dispose()
    return url


@pytest.fixture
def older(dialect: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A database of revision 0001 with messages of all sorts."""
    file = older_file(tmp_path / "older.db")
    if dialect == "sqlite":
        return file
    made: NewDatabase = request.getfixturevalue("new_postgresql_database")
    return older_server(made(migrated=False), file)


@requirement("ops.schema", "asst.postgres")
def test_every_row_is_there_after_the_migration_and_messages_have_their_order(older: str) -> None:
    before, after = migrate_store(older)

    with Memories.open(older) as memories, memories.store.read("default") as tx:
        ids = [row["id"] for row in tx.dump.rows("messages")]
        texts = [message.content for message in tx.sessions.messages_by_id(ids)]
        counts = {table: len(list(tx.dump.rows(table))) for table in tx.dump.tables()}
        positions = tx.sessions.message_count()
        space = tx.space
    assert (before, after) == ("0001", migrate.HEAD)
    assert ids == ["m-0", "Id000001", "m-b", "m-a", "m-c", "m-d", "m-e"]
    assert texts[1:3] == ["I like tea with — honestly — no milk: 茶 🫖", "Tea it is, with marzipan"]
    assert positions == 7
    assert (counts["memories"], counts["versions"], counts["receipt_items"]) == (5, 6, 2)
    assert space.keeps_messages


@requirement("ops.schema", "sem.search")
def test_what_was_said_before_the_migration_is_found_by_its_words(older: str) -> None:
    migrate_store(older)

    with Memories.open(older) as memories, memories.store.read("default") as tx:
        assert tx.message_words.matching(["marzipan"], 9) == ["m-b"]
        assert tx.message_words.matching(["марципан"], 9) == ["m-d"]
        assert tx.message_words.matching(["tea"], 9) == ["m-b", "Id000001"]
        assert tx.words.matching(["tea"], 9) == ["Id000002"]
        assert tx.message_words.total() == 3


@requirement("ops.schema")
def test_it_goes_on_where_the_older_release_stopped(older: str) -> None:
    migrate_store(older)

    with Memories.open(older) as memories:
        said = memories.say("run-1", "user", "And now some marzipan again")
        with memories.store.read("default") as tx:
            last = list(tx.dump.rows("messages"))[-1]["id"]
            found = tx.message_words.matching(["marzipan"], 9)

    assert said.number == 8
    assert last == said.id
    assert found == [said.id, "m-b"]


@requirement("asst.postgres")
def test_a_server_without_pgvector_is_told_what_to_run(new_postgresql_database: NewDatabase) -> None:
    url = new_postgresql_database(migrated=False)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE ROLE somebody LOGIN"))
        connection.execute(text("GRANT ALL ON SCHEMA public TO somebody"))
    as_somebody(engine, "0001")
    before = revision(engine)

    with pytest.raises(Unavailable, match="run `CREATE EXTENSION vector` in this database"):
        as_somebody(engine)

    after = revision(engine)
    with engine.begin() as connection:
        connection.execute(text("CREATE EXTENSION vector"))
    as_somebody(engine)
    assert before == after == "0001"
    assert revision(engine) == migrate.HEAD
    with engine.begin() as connection:
        connection.execute(text("DROP OWNED BY somebody"))
        connection.execute(text("DROP ROLE somebody"))
    engine.dispose()


def as_somebody(engine: Engine, to: str = "head") -> None:
    """Migrates as a user who may make tables and no extensions."""
    from sqlalchemy import event

    def step_down(connection: object, _record: object) -> None:
        connection.cursor().execute("SET ROLE somebody")  # type: ignore[attr-defined]

    engine.dispose()
    event.listen(engine, "connect", step_down)
    try:
        migrate.upgrade(engine, to)
    finally:
        event.remove(engine, "connect", step_down)
        engine.dispose()


def revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return migrate.revision(connection)


def test_the_copy_before_the_migration_is_cleaned_of_what_is_erased_after_it(tmp_path: Path) -> None:
    older_file(tmp_path / "older.db")
    with Memories.open(str(tmp_path / "older.db")) as memories:
        report = memories.erase("Id000002")

    copy = tmp_path / "older.db.before-0001.bak"
    kept = copy.read_bytes() + (tmp_path / "older.db").read_bytes()
    assert report.left == ()
    assert b"likes green tea" not in kept
    assert b"honestly" not in kept
    assert sqlite.log_size(tmp_path / "older.db") == 0
