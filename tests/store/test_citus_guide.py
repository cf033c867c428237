"""The guide's section on Citus, followed step by step on a real cluster."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.citus import GUIDE, CitusDatabases, grants_of_the_guide
from tests.citus_nodes import LocalNode
from tests.requirements_ledger import requirement

HOSTS = ("coordinator.example.com", "worker-1.example.com", "worker-2.example.com")


class Follower:
    """Carries out what the guide says, with this cluster's places and a database of its own."""

    def __init__(self, nodes: list[LocalNode], home: Path) -> None:
        self.nodes = nodes
        self._own = {"HOLDFAST_HOME": str(home), "HOME": str(home), "HOLDFAST_EMBEDDER": "none"}
        self.database = f"holdfast_guide_{uuid4().hex[:8]}"

    def console(self, command: str, node: LocalNode) -> str:
        """A command at the shell of a node."""
        for host, each in zip(HOSTS, self.nodes, strict=True):
            command = command.replace(host, each.name)
        command = command.replace("owner@", f"{node.url.username}@")
        command = re.sub("/holdfast$", f"/{self.database}", command)
        command = re.sub(r"^(createdb|psql|dropdb) holdfast", rf"\1 {self.database}", command)
        command = re.sub(r"^holdfast ", f"{sys.executable} -m holdfast ", command)
        places = {
            "PGHOST": str(node.url.host),
            "PGPORT": str(node.url.port),
            "PGUSER": str(node.url.username),
        }
        path = f"{Path(node.command[0]).parent}:/usr/bin:/bin"
        environment = {**node.environment, **places, **self._own, "PATH": path}
        done = subprocess.run(
            command, shell=True, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def sql(self, statements: str, node: LocalNode) -> None:
        for host, each in zip(HOSTS, self.nodes, strict=True):
            statements = statements.replace(f"'{host}', 5432", f"'{each.url.host}', {each.url.port}")
        self.console(f"psql holdfast -v ON_ERROR_STOP=1 <<'END'\n{statements}\nEND", node)


@pytest.fixture
def follower(citus_databases: CitusDatabases, tmp_path: Path) -> Iterator[Follower]:
    follower = Follower([LocalNode(url) for url in citus_databases.nodes], tmp_path)
    yield follower
    for node in follower.nodes:
        follower.console("dropdb holdfast --force", node)


@requirement("scale.citus")
def test_the_steps_of_the_guide_make_a_cluster_that_doctor_finds_well(follower: Follower) -> None:
    section = GUIDE.read_text(encoding="utf-8").partition("## A company: Citus")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```(console|sql)\n(.*?)^ *```", section, re.M | re.S)
    coordinator = follower.nodes[0]
    servers, nodes, migrate, sequential, doctor = (text for _, text in blocks)
    [*first] = re.findall(r"^ *\$ (.*)$", servers, re.M)
    [migrate], [doctor] = (re.findall(r"^ *\$ (.*)$", text, re.M) for text in (migrate, doctor))

    for node in follower.nodes:
        for command in first:
            follower.console(command, node)
    follower.sql(nodes, coordinator)
    distributed = follower.console(migrate, coordinator)
    again = follower.console(migrate, coordinator)
    known = follower.console("psql postgres -c '\\du holdfast_service'", coordinator)
    grants = grants_of_the_guide(again="holdfast_service" in known)
    follower.sql(sequential + ";\n".join(grants), coordinator)
    told = follower.console(doctor, coordinator)

    assert re.search(r"Distributed \d\d tables by space", distributed)
    assert again.startswith("Nothing to do")
    assert "32 shards a table, 3 nodes" in told
    assert "No problems found" in told
    assert "superuser" not in told
