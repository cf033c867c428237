"""A store of the service's role on a server with a streaming replica."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from holdfast import Memories
from holdfast.app.wiring import migrate, open_store
from holdfast.engine.ports import Store
from holdfast.store.replica import Replica
from tests.postgres import Databases, OwnServer, StreamingReplica
from tests.store.service_role import service_role


class Team:
    """A database at `url`, with a replica at `replica_url`; each `memories` is a process of its own."""

    def __init__(self, primary: OwnServer, replica: StreamingReplica, url: str, opened: ExitStack) -> None:
        self.primary = primary
        self.replica = replica
        self.url = url
        self.replica_url = replica.of(url)
        self._opened = opened

    def store(self) -> Store:
        store = open_store(self.url)
        self._opened.callback(store.close)
        return store

    def memories(self, space: str = "default") -> Memories:
        return Memories.of(self.store(), space)

    def catch_up(self) -> None:
        self.replica.catch_up(self.primary)


@contextmanager
def team_on(servers: tuple[OwnServer, StreamingReplica], patch: pytest.MonkeyPatch) -> Iterator[Team]:
    """A migrated database with the role of the guide, and HOLDFAST_DB_READ."""
    primary, replica = servers
    databases = Databases(primary.url, strategy="WAL_LOG")
    owner = databases.create()
    migrate(owner)
    with service_role(owner) as url, ExitStack() as opened:
        team = Team(primary, replica, url, opened)
        team.catch_up()
        patch.setenv("HOLDFAST_DB_READ", team.replica_url)
        yield team
        replica.resume()
    databases.drop(owner)
    databases.close()


def answered(memories: Memories) -> dict[str, int]:
    """How many reads each server answered since the last call."""
    replica = memories.store.replica
    assert isinstance(replica, Replica)
    found = dict(replica.reads)
    replica.reads.clear()
    return found
