"""The shared fixtures keep their promises: fresh databases, a clean environment, a clock that stays."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, inspect, make_url, text
from sqlalchemy.exc import OperationalError

from holdfast.testing import FixedClock
from tests.conftest import NewDatabase
from tests.postgres import OwnServer


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
