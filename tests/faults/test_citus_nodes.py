"""A Citus cluster under load that loses a worker, moves shards and gets another node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import Engine, NullPool, create_engine, text

from holdfast import Memories
from holdfast.app.checkup import checkup
from holdfast.app.wiring import examine, open_store
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.citus import CitusDatabases
from tests.citus_nodes import LocalNode, OneMore
from tests.faults.test_server_outage import Series
from tests.requirements_ledger import requirement
from tests.web.service.conftest import Service

pytestmark = pytest.mark.timeout(900)  # the nodes are started again, and wait for one another

KILLS = 25
MOVES = 10
NODE_DOWN = "the cluster's node that holds this space is unreachable: start it, then try again"


class Cluster:
    """A distributed database, its workers, and a space on each of the two."""

    def __init__(self, url: str, databases: CitusDatabases) -> None:
        self.url = url
        self.owner: Engine = create_engine(
            databases.owner(url), isolation_level="AUTOCOMMIT", poolclass=NullPool
        )
        database = databases.owner(url).database
        self.workers = [LocalNode(node.set(database=database)) for node in databases.nodes[1:]]
        self.store: Store = open_store(url)
        for number in range(12):
            create_space(f"space-{number}", store=self.store, clock=FixedClock())
        self.spaces = [self.on(worker)[0] for worker in self.workers]

    def on(self, node: LocalNode) -> list[str]:
        """The spaces on a node."""
        health = examine(self.url)
        assert health.cluster is not None
        return sorted(space for space, place in health.cluster.places.items() if place == node.name)

    def memories(self, space: str) -> Memories:
        return Memories.of(self.store, space)

    def run(self, statement: str) -> None:
        with self.owner.connect() as connection:
            connection.execute(text(statement))

    def move(self, space: str, start: LocalNode, end: LocalNode) -> None:
        """Moves the shards with that space."""
        self.run(
            "SELECT citus_move_shard_placement(get_shard_id_for_distribution_column('heads', "
            f"'{space}'), '{start.url.host}', {start.url.port}, '{end.url.host}', {end.url.port}, "
            "shard_transfer_mode => 'force_logical')"
        )


@pytest.fixture
def cluster(citus_databases: CitusDatabases) -> Iterator[Cluster]:
    url = citus_databases.take()
    cluster = Cluster(url, citus_databases)
    yield cluster
    for worker in cluster.workers:
        if not worker.answers():
            worker.start()
    cluster.store.close()
    citus_databases.reconnect(url)
    citus_databases.give_back(url)


@contextmanager
def written_to(cluster: Cluster) -> Iterator[list[Series]]:
    """Writes into both spaces; nothing acknowledged is lost, nothing is there twice."""
    series = [Series(cluster.memories(space)) for space in cluster.spaces]
    try:
        yield series
    finally:
        for each in series:
            each.end()
    for space, each in zip(cluster.spaces, series, strict=True):
        with cluster.store.read(space) as tx:
            found = {row["id"]: row["content"] for row in tx.dump.rows("memories")}
        assert each.acked.items() <= found.items()
        assert len(found) <= len(each.acked) + 1  # the last one may be stored without an answer
        assert len(set(found.values())) == len(found)


def lose_and_go_on(cluster: Cluster, kills: int) -> list[Series]:
    with written_to(cluster) as series:
        for kill in range(kills):
            lost, well = series[kill % 2], series[(kill + 1) % 2]
            before = len(well.troubles)
            lost.wait_for(acked=len(lost.acked) + 10)
            cluster.workers[kill % 2].kill()
            lost.wait_for(troubles=len(lost.troubles) + 1)
            well.wait_for(acked=len(well.acked) + 10)
            assert len(well.troubles) == before
            cluster.workers[kill % 2].start()
            lost.wait_for(acked=len(lost.acked) + 10)
    return series


@requirement("scale.citus", "trust.durable")
@pytest.mark.parametrize("kills", [2, pytest.param(KILLS, marks=pytest.mark.faults)])
def test_a_worker_that_is_killed_stops_its_own_spaces_alone_and_loses_nothing_acknowledged(
    cluster: Cluster, kills: int
) -> None:
    series = lose_and_go_on(cluster, kills)

    for trouble in [trouble for each in series for trouble in each.troubles]:
        assert trouble.count("\n") == 0
        assert "start it, then try again; saved data is safe" in trouble
    assert sum(len(each.troubles) for each in series) >= kills


@requirement("scale.citus")
def test_a_service_answers_503_for_the_spaces_of_a_lost_worker_and_doctor_names_it(
    cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    lost, well = cluster.spaces
    service = Service(tmp_path / "home", "--db", cluster.url)
    request.addfinalizer(service.stop)

    def ask(space: str, content: str) -> httpx2.Response:
        return service.post(f"/api/memory/?space={space}", {"content": content})

    cluster.workers[0].kill()
    refused, taken = ask(lost, "Is not stored"), ask(well, "Is stored meanwhile")
    told = checkup(cluster.url, None)
    cluster.workers[0].start()
    again = ask(lost, "Is stored afterwards")

    assert (refused.status_code, taken.status_code, again.status_code) == (503, 201, 201)
    assert NODE_DOWN in refused.text
    assert any(
        finding.says.startswith(f"the node {cluster.workers[0].name} can't be reached")
        for finding in told.findings
    )


@requirement("scale.citus")
@pytest.mark.parametrize("moves", [1, pytest.param(MOVES, marks=pytest.mark.faults)])
def test_moving_the_shards_of_a_space_under_load_shows_no_error_that_a_retry_does_not_hide(
    cluster: Cluster, moves: int
) -> None:
    with written_to(cluster) as series:
        for number in range(moves):
            start, end = cluster.workers[:: -1 if number % 2 else 1]
            series[0].wait_for(acked=len(series[0].acked) + 10)
            cluster.move(cluster.spaces[0], start, end)
            for each in series:
                each.wait_for(acked=len(each.acked) + 10)

    assert cluster.spaces[0] in cluster.on(cluster.workers[moves % 2])


@pytest.mark.faults
@requirement("scale.citus")
def test_a_node_that_is_added_under_load_takes_its_share_and_can_be_taken_away_again(
    cluster: Cluster,
) -> None:
    new = OneMore(cluster.workers[0])
    host, port = new.url.host, new.url.port
    try:
        with written_to(cluster) as series:
            cluster.run(f"SELECT citus_add_node('{host}', {port})")
            cluster.run("SELECT rebalance_table_shards(shard_transfer_mode => 'force_logical')")
            for each in series:
                each.wait_for(acked=len(each.acked) + 10)
            taken = cluster.on(new)
            cluster.run(f"SELECT citus_drain_node('{host}', {port}, shard_transfer_mode => 'force_logical')")
            cluster.run(f"SELECT citus_remove_node('{host}', {port})")
            for each in series:
                each.wait_for(acked=len(each.acked) + 10)
    finally:
        new.close()

    assert taken
