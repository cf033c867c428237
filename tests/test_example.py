"""The example data: two stories that leave something real to see everywhere, and leave a user's own alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store, utc_now
from holdfast.domain.memory import LINK_KINDS, ORIGINS, STATES
from holdfast.domain.query import Filter
from holdfast.errors import Conflict
from holdfast.example_data import STORIES, fill
from tests.conftest import clean

EVERY = Filter(states=STATES)


class Served(NamedTuple):
    """The example as it is served."""

    process: subprocess.Popen[str]
    told: dict[str, Any]
    own: Path  # a home of the user's that it must not make


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`holdfast serve --example`, once for all: to fill it takes seconds."""
    folder = tmp_path_factory.mktemp("example")
    with pytest.MonkeyPatch.context() as patch:
        clean(folder, patch)
        environment = {**os.environ, "HOLDFAST_HOME": str(folder / "own"), "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "holdfast", "serve", "--example", "--port", "0", "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    yield Served(process, json.loads(process.stdout.readline()), folder / "own")
    if process.poll() is None:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_it_leaves_something_to_see_on_every_page(served: Served) -> None:
    store = open_store(f"sqlite:///{served.told['home']}/holdfast.db")
    spaces = [Memories.of(store, name) for name in STORIES]
    memories = [memory for space in spaces for memory in space.find(EVERY).memories]
    runs = [run for space in spaces for run in space.sessions()]
    details = [space.show(memory.id) for space in spaces for memory in space.find(EVERY).memories]
    stories = [space.why(memory.id) for space in spaces for memory in space.find(EVERY).memories]
    ops = spaces[0]

    assert len(memories) >= 60
    assert {memory.state for memory in memories} == set(STATES)
    assert {memory.source.origin for memory in memories} >= set(ORIGINS) - {"file"}
    assert {memory.version for memory in memories} >= {1, 2}
    assert len({memory.confidence for memory in memories}) >= 6
    assert {link.kind for one in details for link in one.links} >= set(LINK_KINDS) - {"supersedes"}
    assert {entry.action for story in stories for entry in story.entries} >= {
        "added", "reinforced", "contradicted", "decayed", "revised", "waiting", "rejected", "forgotten",
        "restored",
    }  # fmt: skip
    assert {use.kind for story in stories for use in story.uses} == {"brief", "recall"}
    assert len(runs) >= 12
    assert max(run.started_at for run in runs) - min(run.started_at for run in runs) > timedelta(days=30)
    assert any(run.ended_at is None for run in runs)
    assert all(run.usage for run in runs if run.exit_code is not None)
    assert {event.level for event in ops.events()} == {"info", "warning", "critical"}
    assert [(one.service, one.allowed) for one in ops.cooldowns()] == [
        ("jellyfin", False),
        ("nextcloud", False),
    ]
    assert all(space.inbox() for space in spaces)
    assert all(space.spend().total.micro_dollars > 0 for space in spaces)
    assert min(memory.confidence for memory in memories if memory.state == "inactive") < 0.3
    _check_that_it_is_over(spaces)
    with pytest.raises(Conflict):  # twice in one store it would be no story any more
        fill(store)
    store.close()


def _check_that_it_is_over(spaces: list[Memories]) -> None:
    """Nothing lies in the future, and no work is left but for the session that still runs."""
    for space in spaces:
        moments = [memory.updated_at for memory in space.find(EVERY).memories]
        moments += [run.started_at for run in space.sessions()]
        moments += [event.created_at for event in space.events()]
        waiting = {job.payload.get("session") for job in space.jobs("queued") if job.kind == "capture"}
        running = {run.id for run in space.sessions() if run.ended_at is None}
        assert max(moments) <= utc_now()
        assert waiting <= running
        assert space.jobs("failed") == []


@pytest.mark.slow
def test_serve_example_shows_it_and_leaves_nothing_behind(served: Served) -> None:
    told = served.told
    bearer = {"Authorization": f"Bearer {told['token']}"}

    spaces = httpx2.get(f"{told['url']}/api/spaces", headers=bearer, timeout=60).json()
    hits = httpx2.get(
        f"{told['url']}/api/recall",
        params={"space": "homelab", "query": "films stutter"},
        headers=bearer,
        timeout=60,
    ).json()
    served.process.send_signal(signal.SIGINT)
    said = served.process.communicate(timeout=60)[1]

    assert [space["name"] for space in spaces["spaces"]] == list(STORIES)
    assert "graphics device" in hits["hits"][0]["memory"]["content"]
    assert (served.process.returncode, said) == (0, "")
    assert not served.own.exists()
    assert not Path(told["home"]).exists()


def test_the_example_takes_no_place_of_the_users(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holdfast", "serve", "--example", "--db", str(tmp_path / "own.db")]

    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 2
    assert "--example can't be combined with" in done.stderr
    assert not (tmp_path / "own.db").exists()
