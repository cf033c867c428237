"""Migrations: every database reaches this release's schema, and one that is there already stays as it is."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError

from holdfast import Memories
from holdfast.app.wiring import migrate as migrate_store
from holdfast.store import migrate, sqlite
from holdfast.store.database import Database
from holdfast.store.schema import metadata
from holdfast.store.types import ServerVector
from tests.requirements_ledger import requirement
from tests.store.full_space import fill

MIGRATIONS = Path(migrate.__file__).parent / "migrations"
REVISIONS = sorted(file.name[:4] for file in (MIGRATIONS / "versions").glob("0*.py"))
#: Tables that are written in plain SQL, because the two databases need different ones.
IN_PLAIN_SQL = (
    *(f"{index}_{table}" for index in ("memory", "message") for table in ("docs", "words", "terms")),
    "alembic_version",
)


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def all_rows(connection: Connection) -> dict[str, list[str]]:
    """Every row of every table; on PostgreSQL with the transaction that wrote it."""
    stamp = "xmin::text, " if connection.dialect.name == "postgresql" else ""
    return {
        name: sorted(map(repr, connection.execute(text(f'SELECT {stamp}* FROM "{name}"'))))
        for name in (*metadata.tables, "alembic_version", "memory_words", "message_words")
    }


# -------------------------------------------------------------------------------------- reaching the schema


@requirement("ops.schema", "asst.postgres")
def test_an_empty_database_is_brought_to_the_current_schema(empty_database_url: str) -> None:
    before, after = migrate_store(empty_database_url)

    database = Database.open(empty_database_url)
    with database.engine.connect() as connection:
        found = migrate.revision(connection)
        tables = set(inspect(connection).get_table_names())
    database.close()
    assert (before, after, found) == (None, migrate.HEAD, migrate.HEAD)
    assert set(metadata.tables) <= tables


@requirement("ops.schema")
def test_the_migrations_and_the_tables_in_the_code_are_the_same(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgresql.base.ischema_names, "vector", ServerVector)  # or it would not be known
    engine = create_engine(database_url)

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "include_name": lambda name, kind, _: (
                    kind != "table" or not str(name).startswith(IN_PLAIN_SQL)
                ),
            },
        )
        differences = compare_metadata(context, metadata)

    engine.dispose()
    assert differences == []


def test_the_comparison_would_find_a_difference(sqlite_url: str) -> None:
    engine = create_engine(sqlite_url)

    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE memories ADD COLUMN mood TEXT"))
        connection.execute(text("DROP INDEX ix_memories_space_importance"))
        differences = compare_metadata(MigrationContext.configure(connection), metadata)

    engine.dispose()
    kinds = {difference[0] for difference in differences if isinstance(difference, tuple)}
    assert {"remove_column", "add_index"} <= kinds


@requirement("ops.schema")
def test_the_newest_revision_is_the_one_that_the_release_names() -> None:
    heads = ScriptDirectory(str(MIGRATIONS)).get_heads()

    assert heads == [migrate.HEAD] == REVISIONS[-1:]


@requirement("ops.schema")
def test_the_operational_view_has_the_columns_of_the_document_in_their_order(database_url: str) -> None:
    Memories.open(database_url).close()
    engine = create_engine(database_url)

    with engine.connect() as connection:
        columns = list(connection.execute(text("SELECT * FROM operational_memories")).keys())

    engine.dispose()
    documented = "id service category observation confidence active created_at updated_at session_id tier"
    assert columns == ["space", *documented.split()]


@requirement("ops.schema")
@pytest.mark.not_on_citus("asks past row-level security")
def test_the_operational_view_shows_what_was_remembered(database_url: str) -> None:
    with Memories.open(database_url) as memories:
        memory = memories.remember("Takes 60s to start", subject="jellyfin", confidence=0.6).memory  # type: ignore[union-attr]
        weak = memories.remember("Restarts by itself", subject="mail", confidence=0.1).memory  # type: ignore[union-attr]
    engine = create_engine(database_url)

    with engine.connect() as connection:
        rows = connection.execute(text("SELECT * FROM operational_memories ORDER BY active DESC")).all()

    engine.dispose()
    shown = [(row.space, row.id, row.service, row.observation, row.confidence, row.active) for row in rows]
    assert shown == [
        ("default", memory.id, "jellyfin", "Takes 60s to start", 0.6, 1),
        ("default", weak.id, "mail", "Restarts by itself", 0.1, 0),
    ]


@requirement("ops.schema")
@pytest.mark.parametrize(
    "change", ["UPDATE operational_memories SET tier = 1", "DELETE FROM operational_memories"]
)
def test_the_operational_view_can_not_be_written(database_url: str, change: str) -> None:
    with Memories.open(database_url) as memories:
        memories.remember("Takes 60s to start", subject="jellyfin")
    engine = create_engine(database_url)

    with pytest.raises(DBAPIError), engine.begin() as connection:
        connection.execute(text(change))

    engine.dispose()


# ----------------------------------------------------------------------------------------- nothing to do


@requirement("ops.schema.idempotent")
@pytest.mark.not_on_citus("asks past row-level security")
def test_opening_an_up_to_date_database_runs_no_migration_and_changes_no_row(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database_url)
    engine = create_engine(database_url)
    with engine.connect() as connection:
        before = all_rows(connection)
    monkeypatch.setattr(migrate, "upgrade", lambda _: pytest.fail("a migration was run"))

    for _ in range(3):
        Memories.open(database_url).close()
        Database.migrated(database_url)[0].close()

    with engine.connect() as connection:
        after = all_rows(connection)
    engine.dispose()
    assert after == before
    assert sum(map(len, before.values())) > 30


@requirement("ops.schema.idempotent")
def test_opening_an_up_to_date_file_changes_no_byte_of_it(sqlite_url: str) -> None:
    fill(sqlite_url)
    file = file_of(sqlite_url)
    before = hashlib.sha256(file.read_bytes()).hexdigest()

    for _ in range(3):
        Memories.open(sqlite_url).close()

    assert hashlib.sha256(file.read_bytes()).hexdigest() == before
    assert sqlite.log_size(file) == 0
