"""`python -m bench citus`: it fills and measures a real cluster and one server at a tiny size."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from bench.__main__ import bench
from holdfast import Memories
from holdfast.domain.health import damage_findings
from holdfast.domain.query import Filter
from tests.citus import CitusDatabases
from tests.conftest import NewDatabase

SIZES = (
    "--spaces",
    "8",
    "--memories",
    "4",
    "--large",
    "6",
    "--calls",
    "8",
    "--callers",
    "1",
    "--callers",
    "2",
)


def measured(cluster: str, plain: str, *words: str) -> Result:
    runner = CliRunner(env={"HOLDFAST_DEBUG": "1"}, catch_exceptions=False)
    servers = ("--cluster", cluster, "--plain", plain)
    return runner.invoke(bench, ["citus", *servers, *SIZES, *words], prog_name="bench")


def test_a_cluster_and_one_server_are_filled_alike_and_measured_in_turn(
    citus_databases: CitusDatabases, new_postgresql_database: NewDatabase, tmp_path: Path
) -> None:
    cluster, plain = citus_databases.take_bare(), new_postgresql_database(migrated=False)
    drawn = tmp_path / "growth.svg"

    done = measured(cluster, plain, "--plot", str(drawn), "--json", "-")
    again = measured(cluster, plain)

    rows = json.loads(done.stdout)["rows"]
    assert [row["where"] for row in rows[::3]][:3] == [f"{n} spaces of 4" for n in (1, 2, 4)]
    assert {row["callers"] for row in rows if row["where"] == "a space of 6"} == {1, 2}
    assert all(row[name]["server_cpu_ms"] >= 0 for row in rows for name in ("cluster", "plain"))
    assert "recall, cluster" in drawn.read_text(encoding="utf-8")
    assert "8 spaces of 4" in again.stdout  # which were there
    with Memories.open(plain, "space-000007") as memories, memories.store.read("space-000007") as tx:
        assert damage_findings(tx.integrity.damage()) == []
        assert tx.usage.total().memories == tx.memories.count(Filter()) >= 4
    citus_databases.give_back_bare(cluster)
