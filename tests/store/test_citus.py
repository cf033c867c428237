"""A real Citus cluster: every verb, as a role without special rights behind row-level security.

Needs one: `HOLDFAST_TEST_CITUS=postgresql://postgres@127.0.0.1:15500/holdfast`, a superuser's URL of a
database with the extensions citus and vector. Its tables in `public` are dropped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, NullPool, create_engine, make_url, text

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.administration import Administration
from holdfast.engine.backup import backup_lines
from holdfast.engine.spaces import create_space
from holdfast.errors import Unavailable
from holdfast.store import postgres
from holdfast.store.migrate import upgrade
from holdfast.store.schema import metadata
from holdfast.testing import FixedClock
from tests.store.full_space import fill
from tests.store.some_vectors import Hashing

URL = os.environ.get("HOLDFAST_TEST_CITUS", "")
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "postgres.md"
ROLE = "holdfast_service"
SPREAD = [table.name for table in metadata.sorted_tables if "space" in table.columns]
WORDS = ["memory_words", "message_words"]

pytestmark = pytest.mark.skipif(
    not URL, reason="HOLDFAST_TEST_CITUS is not set: nothing was tried on a Citus cluster"
)


@pytest.fixture
def citus_url() -> Iterator[str]:
    """A fresh schema, spread over the workers by space, for a role as the guide makes it."""
    owner = create_engine(make_url(URL).set(drivername="postgresql+psycopg"), poolclass=NullPool)
    names = [*WORDS, *reversed([table.name for table in metadata.sorted_tables]), "alembic_version"]
    with owner.begin() as connection:
        connection.execute(text("DROP VIEW IF EXISTS operational_memories"))
        for name in names:
            connection.execute(text(f'DROP TABLE IF EXISTS "{name}" CASCADE'))
    upgrade(owner)
    found = re.search(r"^ *```sql\n *(CREATE ROLE.*?)^ *```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    with owner.begin() as connection:
        _spread(connection)
    with owner.begin() as connection:
        known = connection.execute(text(f"SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}'")).scalar()
        for statement in found.group(1).split(";\n"):
            if statement.strip() and not (known and "CREATE ROLE" in statement):
                connection.execute(text(statement))
    yield make_url(URL).set(username=ROLE).render_as_string(hide_password=False)
    owner.dispose()


def _spread(connection: Connection) -> None:
    """Distributes the tables; keys between them can't be there meanwhile."""
    connection.execute(text("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"))
    connection.execute(text("SET LOCAL citus.shard_count TO 4"))
    keys = connection.execute(
        text("SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
             "WHERE contype = 'f' AND connamespace = 'public'::regnamespace")
    ).all()  # fmt: skip
    for table, name, _ in keys:
        connection.execute(text(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'))
    for table in ("spaces", "tokens"):
        connection.execute(text(f"SELECT create_reference_table('{table}')"))
    for table in (*SPREAD, *WORDS):
        connection.execute(text(f"SELECT create_distributed_table('{table}', 'space')"))
    for table, name, key in keys:
        connection.execute(text(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {key}'))


def test_every_verb_works_on_a_cluster_behind_row_level_security(citus_url: str, clock: FixedClock) -> None:
    fill(citus_url)
    store = open_store(citus_url)
    create_space("other", store=store, clock=clock)
    other = Memories.of(store, "other", clock=clock, embedder=Hashing())
    other.remember("The router stands in the cellar", subject="router")
    other.say("s1", "user", "Where did I put the marzipan?")
    other.tend()

    found = other.recall("router cellar").memories
    brief = other.speaking_as("assistant", session="s1").brief()
    archive = list(other.export())
    [again] = other.import_archive(archive)
    erased = other.erase(found[0].memory.id)

    assert [hit.memory.subject for hit in found] == ["router"]
    assert "The router stands in the cellar" in brief.text
    assert again.known == 1
    assert len(erased.memories) == 1
    assert Memories.of(store, "default").find().total > 2
    assert sum('"table":"memories"' in line for line in backup_lines(store)) > 2
    Administration(store).delete_space("other")
    assert [space.name for space in store.spaces()] == ["default"]
    store.close()


def test_a_backup_fails_when_the_workers_do_not_know_the_space(
    citus_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(citus_url)
    store = open_store(citus_url)
    monkeypatch.setattr(postgres, "_SPREAD", dict.fromkeys([store.engine], False))  # type: ignore[attr-defined]

    with pytest.raises(Unavailable, match="row-level security hides the rows"):
        list(backup_lines(store))

    store.close()
