"""A full or read-only disk: the service starts and reads, agents get their brief, doctor says so."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from sqlalchemy import event

from holdfast import Memories, Unavailable
from holdfast.app.wiring import context_for
from holdfast.engine.brief import brief
from holdfast.engine.spaces import create_space
from holdfast.store.database import Database
from holdfast.testing import FixedClock
from tests.faults.mounts import run_on
from tests.requirements_ledger import requirement


@pytest.mark.slow
@requirement("trust.durable")
@pytest.mark.parametrize("how", ["read-only", "full", "tokenless"])
def test_a_service_on_a_disk_without_writes_serves_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    (folder := tmp_path / "small").mkdir()

    done = run_on(
        f"mount -t tmpfs -o size=2m tmpfs {folder}",
        folder,
        [sys.executable, "-m", "tests.faults.unwritable", str(folder), how],
    )

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["statuses"][:2] == [200, 200]
    assert told["statuses"][2] in (200, 503)
    assert "The router stands in the cellar" in told["brief"]
    assert told["write"] == 503
    assert told["listed"] == ["The router stands in the cellar"]
    assert told["doctor exit"] == 1
    assert f"problem: {folder} is not writable" in told["doctor"]


@requirement("trust.durable")
def test_brief_and_recall_answer_without_receipts_when_nothing_can_be_written(sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    memories = Memories.of(database, "default").speaking_as("assistant", session="s1")
    memories.remember("The router stands in the cellar", subject="router")

    @event.listens_for(database.engine, "checkout")
    def read_only(connection: object, *_: object) -> None:
        connection.execute("PRAGMA query_only = ON")  # type: ignore[attr-defined]

    brief = memories.brief()
    found = memories.recall("router cellar")
    context = Memories.of(database, "default").speaking_as("assistant", session="s2").context(["router?"])

    with pytest.raises(Unavailable, match="can't be written"):
        memories.remember("The boiler hums in the attic", subject="boiler")
    assert "The router stands in the cellar" in brief.text
    assert [hit.memory.subject for hit in found.memories] == ["router"]
    assert "The router stands in the cellar" in context.text
    memories.close()


def test_a_brief_that_can_not_be_noted_names_no_tool_that_its_reader_lacks(sqlite_url: str) -> None:
    clock = FixedClock()
    database = Database.open(sqlite_url)
    create_space("chat", store=database, clock=clock, profile="assistant")
    Memories.of(database, "chat").remember("Alec is the user's boss", category="person", subject="Alec")
    ctx = context_for("chat", database, clock=clock)

    @event.listens_for(database.engine, "checkout")
    def read_only(connection: object, *_: object) -> None:
        connection.execute("PRAGMA query_only = ON")  # type: ignore[attr-defined]

    with_tools = brief(ctx=ctx, session="s1")
    without = brief(ctx=ctx, session="s1", tools=False)

    assert "update_memory" in with_tools.text
    assert "update_memory" not in without.text
    database.close()
