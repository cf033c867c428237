"""The shared fixtures keep their promises: fresh databases, a clean environment, a clock that stays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import platformdirs
import pytest
from coverage import Coverage
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, inspect, make_url, text
from sqlalchemy.exc import OperationalError

from holdfast import Memories
from holdfast.engine.sessions import NewMessage
from holdfast.testing import FixedClock
from tests.conftest import COVERED, NewDatabase
from tests.postgres import Databases, OwnServer, Reused


def tables(url: str) -> list[str]:
    engine = create_engine(url)
    names = inspect(engine).get_table_names()
    engine.dispose()
    return names


def run(url: str, *statements: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def test_a_database_comes_with_the_schema(database_url: str, dialect: str) -> None:
    assert make_url(database_url).get_backend_name() == dialect
    assert tables(database_url)


def test_an_empty_database_has_no_tables(empty_database_url: str) -> None:
    assert tables(empty_database_url) == []


@pytest.mark.parametrize("turn", ["first", "second"])
def test_no_test_sees_the_table_of_another(database_url: str, turn: str) -> None:
    run(database_url, f"CREATE TABLE planted_by_{turn} (id INTEGER)")

    planted = [name for name in tables(database_url) if name.startswith("planted_by_")]

    assert planted == [f"planted_by_{turn}"]


def test_two_databases_of_one_test_are_apart(new_database: NewDatabase) -> None:
    one, two = new_database(), new_database()

    run(one, "CREATE TABLE planted (id INTEGER)")

    assert "planted" in tables(one)
    assert "planted" not in tables(two)


def content(url: str) -> dict[str, list[str]]:
    """Every row of every table, and where the sequences stand."""
    engine = create_engine(url)
    with engine.connect() as connection:
        asked = {name: f'SELECT each::text FROM "{name}" each ORDER BY 1' for name in tables(url)}
        asked["sequences"] = "SELECT each::text FROM pg_sequences each ORDER BY 1"
        found = {name: list(connection.execute(text(query)).scalars()) for name, query in asked.items()}
    engine.dispose()
    return found


@pytest.fixture
def reused(postgres_databases: Databases, postgres_template: str) -> Iterator[Reused]:
    made = Reused(postgres_databases, postgres_template)
    yield made
    made.close()


def test_a_database_that_is_given_to_the_next_test_is_as_empty_as_a_new_one(reused: Reused) -> None:
    url = reused.take()
    new = content(url)
    with Memories.open(url) as memories:
        memories.say_all("notes", [NewMessage(role="user", content=f"Backup {n} is slow") for n in range(9)])
        memories.remember("Backup 3 takes 60 minutes", subject="backup")
    assert sum(content(url)[name] != rows for name, rows in new.items()) > 5

    reused.give_back(url)

    assert reused.take() == url
    assert content(url) == new


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE planted (id INTEGER)",
        "CREATE SCHEMA planted",
        "CREATE INDEX planted ON memories (id)",
        "CREATE FUNCTION planted() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "DROP VIEW operational_memories",
        "ALTER TABLE memories ADD COLUMN planted INTEGER",
        "ALTER TABLE memories ALTER COLUMN content SET DEFAULT 'planted'",
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "CREATE POLICY planted ON memories USING (true)",
        "GRANT SELECT ON memories TO PUBLIC",
        "UPDATE alembic_version SET version_num = 'planted'",
        "ALTER DATABASE {database} SET work_mem = '5MB'",
        "ANALYZE memories",
        "INSERT INTO spaces SELECT n, '', '', '', true, now() FROM generate_series(1, 9999) n",
    ],
)
def test_a_database_that_was_changed_in_other_ways_is_given_to_nobody(reused: Reused, change: str) -> None:
    url = reused.take()
    run(url, change.format(database=make_url(url).database))

    reused.give_back(url)

    assert reused.take() != url


def test_a_database_to_which_somebody_is_connected_is_given_to_nobody(reused: Reused) -> None:
    url = reused.take()
    engine = create_engine(url)

    with engine.connect() as left:
        reused.give_back(url)
        with pytest.raises(OperationalError):
            left.execute(text("SELECT 1"))

    assert reused.take() != url
    engine.dispose()


@pytest.mark.slow
def test_what_a_killed_server_acknowledged_is_there_after_its_restart(own_postgres: OwnServer) -> None:
    url = own_postgres.url.render_as_string(hide_password=False)
    run(url, "CREATE TABLE planted (id INTEGER)", "INSERT INTO planted VALUES (1)")

    own_postgres.kill()
    with pytest.raises(OperationalError):
        tables(url)
    own_postgres.restart()

    assert tables(url) == ["planted"]


def test_the_environment_holds_no_setting_of_the_user(tmp_path: Path) -> None:
    settings = {name: value for name, value in os.environ.items() if name.startswith("HOLDFAST_")}
    assert settings == {"HOLDFAST_EMBEDDER": "none"}
    assert Path.home().is_relative_to(tmp_path)
    assert platformdirs.user_data_path("holdfast").is_relative_to(tmp_path)


@given(st.integers(0, 1_000))
def test_the_clock_moves_only_when_told(days: int) -> None:
    clock = FixedClock()
    start = clock.now()

    clock.advance(days=days, hours=1)

    assert clock() == clock.now() == start + timedelta(days=days, hours=1)


def test_the_clock_starts_at_a_known_moment_and_keeps_utc(clock: FixedClock) -> None:
    assert clock.now() == datetime(2026, 3, 1, 12, tzinfo=UTC)

    clock.set(datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=2))))

    assert clock.now().isoformat() == "2026-03-01T23:00:00+00:00"


def test_the_clock_refuses_a_moment_without_a_zone(clock: FixedClock) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        clock.set(datetime(2026, 3, 2))


@pytest.mark.slow
def test_coverage_is_not_taken_in_a_test_that_takes_seconds() -> None:
    assert Coverage.current() is None


@pytest.mark.parametrize("variant", ["first", "second"])
def test_coverage_is_taken_in_the_first_variant_of_a_test_that_is_chosen_for_it(
    request: pytest.FixtureRequest, variant: str
) -> None:
    asked_for = request.config.pluginmanager.hasplugin("_cov")
    chosen = request.node.nodeid in request.config.stash[COVERED]

    assert (Coverage.current() is not None) == (asked_for and chosen)
    assert variant == "first" or not chosen
