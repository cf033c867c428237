"""Row-level security on PostgreSQL: the server itself shows a transaction no row of another space."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

from holdfast import Memories
from holdfast.app.checkup import checkup
from holdfast.app.wiring import open_store
from holdfast.domain.terms import stems
from holdfast.engine.administration import Administration
from holdfast.engine.backup import backup_lines
from holdfast.errors import Unavailable
from holdfast.store.schema import metadata
from tests.requirements_ledger import requirement
from tests.store.full_space import fill
from tests.store.service_role import service_role

INSIDE = [name for name, table in metadata.tables.items() if "space" in table.columns]
WORDS = ["memory_words", "message_words"]


@pytest.fixture
def service_url(postgres_url: str) -> Iterator[str]:
    """The same database for a role as the guide makes it."""
    with service_role(postgres_url) as url:
        yield url


def _rows(connection: Connection, table: str) -> int:
    return int(connection.execute(text(f'SELECT count(*) FROM "{table}"')).scalar_one())


def _enter(connection: Connection, space: str) -> None:
    connection.execute(text("SELECT set_config('holdfast.space', :space, true)"), {"space": space})


@requirement("trust.spaces", "asst.postgres")
def test_every_table_of_a_space_has_row_level_security(postgres_url: str) -> None:
    engine = create_engine(postgres_url)
    with engine.connect() as connection:
        walled = connection.execute(
            text("SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity")
        ).scalars()

        assert set(walled) == {*INSIDE, *WORDS}
    engine.dispose()


@requirement("trust.spaces", "asst.postgres")
def test_the_product_works_as_a_role_without_special_rights(service_url: str) -> None:
    fill(service_url)
    store = open_store(service_url)
    Administration(store).create_space("other")
    other = Memories.of(store, "other")
    other.remember("A note of the other space", subject="note")

    assert [memory.subject for memory in other.find().memories] == ["note"]
    assert Memories.of(store, "default").find().total > 2
    [gone] = [memory.id for memory in other.find().memories]
    erased = other.erase(gone)
    other.remember("Another note of the other space", subject="note")
    [again] = other.import_archive(list(other.export()))
    Administration(store).delete_space("other")

    assert erased.memories == (gone,)
    assert any("VACUUM" in left for left in erased.left)
    assert again.known == 1
    assert [space.name for space in store.spaces()] == ["default"]
    store.close()


@requirement("trust.spaces")
def test_a_transaction_sees_the_rows_of_its_space_alone(service_url: str) -> None:
    fill(service_url)
    store = open_store(service_url)
    Administration(store).create_space("other")
    store.close()
    engine = create_engine(service_url)

    with engine.connect() as connection:
        nowhere = {table: _rows(connection, table) for table in (*INSIDE, *WORDS, "operational_memories")}
    with engine.begin() as connection:
        _enter(connection, "other")
        elsewhere = {table: _rows(connection, table) for table in (*INSIDE, *WORDS) if table != "heads"}
    with engine.begin() as connection:
        _enter(connection, "default")
        here = {table: _rows(connection, table) for table in INSIDE}
    with engine.connect() as connection:  # on the same connection, after its transaction
        after = _rows(connection, "memories")

    engine.dispose()
    assert set(nowhere.values()) == {0}
    assert set(elsewhere.values()) == {0}
    assert min(here[table] for table in ("memories", "versions", "journal", "sessions", "messages")) > 0
    assert after == 0


@requirement("trust.spaces")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memories SET space = 'other'",
        "INSERT INTO calls VALUES ('other', 'k', 'f', '{}', now())",
    ],
)
def test_nothing_can_be_put_into_another_space(service_url: str, statement: str) -> None:
    fill(service_url)
    store = open_store(service_url)
    Administration(store).create_space("other")
    store.close()
    engine = create_engine(service_url)

    with engine.connect() as connection:
        _enter(connection, "default")
        with pytest.raises(DBAPIError, match="row-level security"):
            connection.execute(text(statement))

    engine.dispose()


@requirement("trust.spaces")
def test_a_change_of_everything_changes_nothing_elsewhere(service_url: str) -> None:
    fill(service_url)
    store = open_store(service_url)
    Administration(store).create_space("other")
    engine = create_engine(service_url)

    with engine.begin() as connection:
        _enter(connection, "other")
        changed = connection.execute(text("DELETE FROM memories")).rowcount

    engine.dispose()
    assert changed == 0
    assert Memories.of(store, "default").find().total > 2
    store.close()


@requirement("trust.spaces", "asst.postgres")
def test_behind_row_level_security_the_same_is_found_in_the_same_order(
    service_url: str, postgres_url: str
) -> None:
    words = "router cellar attic hums marzipan friday backup disk".split()
    with Memories.open(postgres_url) as memories:
        for number in range(40):
            chosen = [word for place, word in enumerate(words) if (number * 7 + place) % (place + 2) == 0]
            memories.say("s1", "user", f"Number {number}: {' '.join(chosen)}")

    found = []
    for url in (postgres_url, service_url):
        store = open_store(url)
        with store.read("default") as tx:
            asked = (stems(" ".join(words)), stems("cellar attic hums"), stems("disk"))
            found.append([tx.message_words.matching(one, 12) for one in asked])
        store.close()

    assert found[0] == found[1]
    assert [len(one) for one in found[0]] == [12, 12, 4]


def test_a_migration_by_a_superuser_lets_the_wall_use_the_index_of_words(service_url: str) -> None:
    engine = create_engine(service_url)
    with engine.connect() as connection:
        marked = connection.execute(text("SELECT proleakproof FROM pg_proc WHERE proname = 'ts_match_vq'"))
        assert marked.scalar_one() is True
    engine.dispose()


@requirement("asst.postgres")
def test_doctor_says_so_where_the_role_is_beyond_the_wall(postgres_url: str, service_url: str) -> None:
    told = [
        " ".join(finding.says for finding in checkup(url, None).findings)
        for url in (postgres_url, service_url)
    ]

    assert "the database role is a superuser or has BYPASSRLS" in told[0]
    assert "superuser" not in told[1]


@requirement("trust.export-erase")
def test_an_export_or_backup_from_which_the_server_hides_rows_fails(
    postgres_url: str, service_url: str
) -> None:
    fill(service_url)
    role = make_url(service_url).username
    owner = create_engine(postgres_url)
    with owner.begin() as connection:
        for table in ("memories", "versions", "journal"):
            connection.execute(
                text(f"CREATE POLICY hidden_{table} ON {table} AS RESTRICTIVE TO {role} USING (false)")
            )
    owner.dispose()
    store = open_store(service_url)

    with pytest.raises(Unavailable, match="row-level security hides the rows of space 'default'"):
        list(Memories.of(store, "default").export())
    with pytest.raises(Unavailable, match="row-level security hides the rows"):
        list(backup_lines(store))

    store.close()
