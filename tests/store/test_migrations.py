"""Migrations: every database reaches this release's schema, and one that is there already stays as it is."""

from __future__ import annotations

import hashlib
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text

from holdfast import Memories
from holdfast.domain.memory import Memory, Source
from holdfast.store import database as databases
from holdfast.store import migrate, sqlite
from holdfast.store.database import Database
from holdfast.store.schema import metadata
from holdfast.wiring import migrate as migrate_store
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.store.full_space import fill
from tests.store.make_fixture import FIXTURES, load

MIGRATIONS = Path(migrate.__file__).parent / "migrations"
REVISIONS = sorted(file.name[:4] for file in (MIGRATIONS / "versions").glob("0*.py"))
#: Tables that are written in plain SQL, because the two databases need different ones.
IN_PLAIN_SQL = ("memory_docs", "memory_words", "memory_terms", "alembic_version")


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def all_rows(connection: Connection) -> dict[str, list[str]]:
    """Every row of every table; on PostgreSQL with the transaction that wrote it."""
    stamp = "xmin::text, " if connection.dialect.name == "postgresql" else ""
    return {
        name: sorted(map(repr, connection.execute(text(f'SELECT {stamp}* FROM "{name}"'))))
        for name in (*metadata.tables, "alembic_version", "memory_words")
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
def test_the_migrations_and_the_tables_in_the_code_are_the_same(database_url: str) -> None:
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
    assert columns == (
        "space id service category observation confidence active created_at updated_at session_id tier".split()
    )


@requirement("ops.schema")
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


# ----------------------------------------------------------------------------------------- nothing to do


@requirement("ops.schema.idempotent")
def test_opening_an_up_to_date_database_runs_no_migration_and_changes_no_row(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database_url)
    engine = create_engine(database_url)
    with engine.connect() as connection:
        before = all_rows(connection)
    monkeypatch.setattr(databases.migrate, "upgrade", lambda _: pytest.fail("a migration was run"))

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


# ------------------------------------------------------------------------------------------ older databases


@requirement("ops.schema")
def test_there_is_a_fixture_of_every_revision() -> None:
    assert sorted(file.stem for file in FIXTURES.glob("*.sql")) == REVISIONS


@requirement("ops.schema")
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_database_of_an_older_release_opens_and_every_field_is_there(tmp_path: Path, revision: str) -> None:
    file = tmp_path / "holdfast.db"
    load(revision, file)

    with Memories.open(str(file)) as memories:
        found = {memory.id: memory for memory in memories.find().memories}
        story = memories.why("Id000002")
        waiting = [item.memory.id for item in memories.inbox()]
        hits = [hit.memory.id for hit in memories.recall("green tea").hits]

    assert found["Id000002"] == Memory(
        id="Id000002",
        space="default",
        category="general",
        content="Ada likes green tea without milk 茶 🫖",
        subject="Ada",
        summary="tea",
        project=None,
        confidence=0.9,
        importance=5,
        tags=("drink", 'quo"te'),
        state="active",
        waiting_for=None,
        pinned=True,
        version=2,
        source=Source(origin="assistant", session="run-1", message="Id000001", tier=2),
        created_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        updated_at=datetime(2026, 3, 2, 12, 0, 0, 500_000, tzinfo=UTC),
        confirmed_at=datetime(2026, 3, 2, 12, 0, 0, 500_000, tzinfo=UTC),
        decayed_weeks=0,
        accessed_at=datetime(2026, 3, 2, 12, 0, 0, 500_000, tzinfo=UTC),
        accesses=1,
    )
    assert [found[f"Id00000{n}"].content for n in (3, 4)] == [
        "Takes 60s to start after restart",
        "Takes 30s to start after restart",
    ]
    assert [version.content for version in story.versions] == [
        "Ada likes tea without milk 茶 🫖",
        "Ada likes green tea without milk 茶 🫖",
    ]
    assert [entry.action for entry in story.entries] == ["added", "revised", "linked"]
    assert story.session is not None
    assert (story.session.name, story.session.exit_code) == ("A run", 0)
    assert [message.content for message in story.messages] == ["I like tea with — honestly — no milk: 茶 🫖"]
    assert [use.kind for use in story.uses] == ["recall", "brief"]
    assert waiting == ["Id000005"]
    assert hits == ["Id000002"]


NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "9001"
down_revision = "{previous}"


def upgrade() -> None:
    op.add_column("memories", sa.Column("mood", sa.Text()))
    op.execute("UPDATE memories SET mood = 'calm'")
"""


@pytest.fixture
def next_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The release after this one, with one revision more."""
    folder = tmp_path / "next_release"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "9001_mood.py").write_text(NEXT.format(previous=migrate.HEAD))
    monkeypatch.setattr(migrate, "_HERE", folder)
    monkeypatch.setattr(migrate, "HEAD", "9001")
    return "9001"


@requirement("ops.schema")
def test_a_file_is_copied_before_a_migration_changes_it(
    sqlite_url: str, next_release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = file_of(sqlite_url)
    with monkeypatch.context() as this_release:
        this_release.setattr(migrate, "HEAD", REVISIONS[-1])
        fill(sqlite_url)
        reader = Database.open(sqlite_url)  # keeps the log in use, so that it can't be emptied first
        with reader.read("default") as tx, Memories.open(sqlite_url) as memories:
            tx.memories.get("nobody")
            memories.remember("A late note that stands in the log alone", subject="late")
            before = list(memories.export())
    reader.close()

    with Memories.open(sqlite_url) as memories:
        after = list(memories.export())

    copy = file.with_name(f"{file.name}.before-{REVISIONS[-1]}.bak")
    monkeypatch.setattr(migrate, "HEAD", REVISIONS[-1])
    with Memories.open(str(copy)) as memories:
        copied = list(memories.export())
    assert after == copied == before
    assert copy.stat().st_mode & 0o777 == 0o600
    assert not list(file.parent.glob("*.part*"))


@requirement("ops.schema")
def test_a_migrated_file_is_refused_by_the_release_before(
    sqlite_url: str, next_release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memories.open(sqlite_url).close()
    before = file_of(sqlite_url).read_bytes()
    monkeypatch.setattr(migrate, "HEAD", REVISIONS[-1])

    with pytest.raises(Exception, match="upgrade with `pip install -U holdfast`; nothing was changed"):
        Memories.open(sqlite_url)

    assert file_of(sqlite_url).read_bytes() == before


@requirement("ops.schema", "asst.postgres")
def test_a_server_is_migrated_by_command_only(
    new_postgresql_database: NewDatabase, next_release: str
) -> None:
    url = new_postgresql_database()
    with pytest.raises(Exception, match="run `holdfast migrate`"):
        Memories.open(url)

    assert migrate_store(url) == (REVISIONS[-1], next_release)

    Memories.open(url).close()
