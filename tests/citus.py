"""Databases on a real Citus cluster for the tests: one that `HOLDFAST_TEST_CITUS` names by a superuser's URL.

Each has its tables spread over the workers, and tests get it as the role that the guide makes, behind
row-level security.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import URL, Engine, NullPool, create_engine, inspect, make_url, text

from holdfast.app.wiring import distribute

# Read once, before any test cleans the environment.
CITUS_FROM_ENVIRONMENT = os.environ.get("HOLDFAST_TEST_CITUS", "")
GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "postgres.md"
ROLE = "holdfast_service"
SHARDS = 4
_SHARD = re.compile(r"_\d{6}$")
_NODES = text("SELECT nodename, nodeport, groupid FROM pg_dist_node WHERE isactive ORDER BY groupid")


class CitusDatabases:
    """Databases on every node of a cluster; each is used by one test after another, emptied in between.

    Few at a time: each takes one of the background processes that a node may have.
    """

    def __init__(self) -> None:
        self._given = make_url(CITUS_FROM_ENVIRONMENT).set(drivername="postgresql+psycopg")
        with _owner(self._given).connect() as connection:
            nodes = connection.execute(_NODES).all()
        self.nodes = [self._given.set(host=row.nodename, port=row.nodeport) for row in nodes]
        self._idle: list[str] = []
        self._bare: list[str] = []
        self._engines: dict[str, Engine] = {}  # a new connection takes as long as a test
        self._made: list[str] = []

    def take_bare(self) -> str:
        """The URL, as a superuser, of a database without tables on all nodes."""
        if self._bare:
            return self._bare.pop()
        name = f"holdfast_test_{uuid4().hex[:8]}"
        coordinator, *workers = [node.set(database=name) for node in self.nodes]
        with one_at_a_time():
            for node in self.nodes:
                _run(node, f"CREATE DATABASE {name}")
                _run(node.set(database=name), "CREATE EXTENSION citus", "CREATE EXTENSION vector")
            self._made.append(name)
            _run(coordinator, f"SELECT citus_set_coordinator_host('{coordinator.host}', {coordinator.port})")
            for worker in workers:
                _run(coordinator, f"SELECT citus_add_node('{worker.host}', {worker.port})")
        return coordinator.render_as_string(hide_password=False)

    def take(self) -> str:
        """The URL, as the service's role, of a distributed database without rows."""
        if self._idle:
            return self._idle.pop()
        owner = self.take_bare()
        distribute(owner, SHARDS)
        grant(owner)
        url = make_url(owner).set(username=ROLE, password=None).render_as_string(hide_password=False)
        self._engines[url] = create_engine(self.owner(url), isolation_level="AUTOCOMMIT")
        return url

    def give_back(self, url: str) -> None:
        """Empties it for the next test."""
        with self._engines[url].connect() as connection:
            connection.execute(text("DELETE FROM spaces"))
            connection.execute(text("DELETE FROM tokens"))
        self._idle.append(url)

    def reconnect(self, url: str) -> None:
        """Leaves the connections that remember a worker which was restarted."""
        self._engines[url].dispose()

    def owner(self, url: str) -> URL:
        """The superuser's URL of the same database."""
        return self._given.set(database=make_url(url).database)

    def give_back_bare(self, url: str) -> None:
        """Drops its tables, for the next test."""
        engine = _owner(make_url(url))
        with engine.connect() as connection:
            named = [f'"{name}"' for name in inspect(connection).get_table_names() if not _SHARD.search(name)]
            connection.execute(text("SET citus.multi_shard_modify_mode TO 'sequential'"))
            connection.execute(text("DROP VIEW IF EXISTS operational_memories"))
            if named:
                connection.execute(text(f"DROP TABLE {', '.join(named)} CASCADE"))
        engine.dispose()
        self._bare.append(url)

    def close(self) -> None:
        for engine in self._engines.values():
            engine.dispose()
        for name in self._made:
            for node in self.nodes:
                _run(node, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def grants_of_the_guide(*, again: bool) -> list[str]:
    """The statements that make the role; without the first, of all databases, where it is there already."""
    found = re.search(r"^ *```sql\n *(CREATE ROLE.*?)^ *```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    statements = [statement.strip() for statement in found.group(1).split(";\n") if statement.strip()]
    return statements[1:] if again else statements


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Nobody else makes a database or the role meanwhile: both are the cluster's, not of one database."""
    engine = _owner(make_url(CITUS_FROM_ENVIRONMENT))
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(7437)"))
        yield
    engine.dispose()


def grant(owner_url: str) -> None:
    """Makes the role of the guide, as the guide does."""
    engine = _owner(make_url(owner_url))
    with one_at_a_time(), engine.connect() as connection:
        connection.execute(text("SET citus.multi_shard_modify_mode TO 'sequential'"))
        known = connection.execute(text(f"SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}'")).scalar()
        for statement in grants_of_the_guide(again=bool(known)):
            connection.execute(text(statement))
    engine.dispose()


def _run(url: URL, *statements: str) -> None:
    engine = _owner(url)
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def _owner(url: URL) -> Engine:
    return create_engine(
        url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT", poolclass=NullPool
    )
