"""The way back after an upgrade on PostgreSQL: which dump has everything, and what it brings back."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from holdfast import Memories
from holdfast.app.wiring import migrate, open_store
from holdfast.engine.administration import Administration
from holdfast.engine.tokens import grant_of
from tests.postgres import OwnServer
from tests.requirements_ledger import requirement
from tests.store.service_role import service_role

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "operations.md").read_text(encoding="utf-8")
DUMP = "before.dump"


def options(program: str) -> list[str]:
    """What the guide gives a program of PostgreSQL, without the database and the file."""
    found = re.search(rf"^{program} (.*)$", GUIDE, re.MULTILINE)
    assert found is not None
    return [word for word in found.group(1).split() if "://" not in word and word not in (DUMP, "-f", "-d")]


def ask(server: OwnServer, database: str, *statements: str) -> None:
    engine = create_engine(server.url.set(database=database), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def place(server: OwnServer, database: str, role: str = "postgres", driver: str = "+psycopg") -> str:
    url = server.url.set(database=database, username=role, drivername=f"postgresql{driver}")
    return url.render_as_string(hide_password=False)


@pytest.fixture
def dump(own_postgres: OwnServer) -> Iterator[str]:
    """A file that the server's user may write."""
    folder = own_postgres.beside("dump")
    yield str(folder / DUMP)
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.postgres
@requirement("trust.point-in-time")
def test_the_dump_of_a_superuser_brings_everything_back_and_the_owner_gets_none(
    own_postgres: OwnServer, dump: str
) -> None:
    server = own_postgres
    ask(server, "postgres", "CREATE ROLE owner LOGIN", "CREATE DATABASE holdfast OWNER owner")
    ask(server, "holdfast", "CREATE EXTENSION vector")
    migrate(place(server, "holdfast", "owner"))
    with service_role(place(server, "holdfast")) as url:
        with Memories.open(url) as memories:
            memories.remember("Written before the upgrade")
            office = Administration(memories.store)
            office.change_space("default", access_log=True, max_memories=100)
            secret, expected = office.create_token("read").secret, list(memories.export())

        by_owner = place(server, "holdfast", "owner", driver="")
        with pytest.raises(AssertionError, match="row-level security"):
            server.program("pg_dump", *options("pg_dump"), "-f", dump, "-d", by_owner)
        by_superuser = place(server, "holdfast", driver="")
        server.program("pg_dump", *options("pg_dump"), "-f", dump, "-d", by_superuser)
        ask(server, "postgres", "CREATE DATABASE restored OWNER owner")
        server.program("pg_restore", *options("pg_restore"), "-d", place(server, "restored", driver=""), dump)

        there = url.replace("/holdfast?", "/restored?")
        with Memories.open(there) as memories:
            found = list(memories.export())
        store = open_store(there)
        grant = grant_of(secret, store=store, now=datetime.now(UTC))
        space = store.space("default")
        store.close()
        ask(server, "postgres", "DROP DATABASE restored")

    assert found == expected
    assert grant is not None
    assert space is not None
    assert (space.access_log, space.quota.max_memories) == (True, 100)
