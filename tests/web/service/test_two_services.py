"""Two services on one PostgreSQL, each with a home of its own, as the role that the guide makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.load import put_under_load
from holdfast import Memories
from holdfast.app.wiring import context_for, utc_now
from holdfast.engine import jobs
from tests.requirements_ledger import requirement
from tests.store.test_row_security import service_url  # noqa: F401  # a fixture
from tests.web.service.conftest import Service
from tests.web.service.two_services import (
    FACTS,
    end_leases,
    get,
    kill_holding_a_job,
    tell,
    tries,
    two,
    unfinished,
    until,
)

pytestmark = pytest.mark.slow


@requirement("asst.postgres", "sem.concurrent", "asst.brief.frozen", "trust.spaces")
def test_callers_find_the_same_at_both_and_lose_nothing(
    service_url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    with two(service_url, tmp_path) as (one, other):
        load = put_under_load([(each.url, each.token) for each in (one, other)], clients=4, each=10)
        counted = [get(each, "/api/stats") for each in (one, other)]
        first = get(one, "/api/sessions/chat/brief")
        other.post("/api/memory/", {"content": "Backups run at night", "subject": "chat"})
        again = [get(each, "/api/sessions/chat/brief") for each in (other, one)]
        made = one.post("/api/tokens", {"scopes": ["read"], "spaces": ["default"]}).json()
        known = other.post("/api/recall", {"query": "backups"}, Authorization=f"Bearer {made['token']}")
        of_a_home = other.post("/api/recall", {"query": "backups"}, Authorization=f"Bearer {one.token}")
        with Memories.open(service_url) as memories:
            memories.store.tokens.revoke(made["id"], utc_now())
        ended = other.post("/api/recall", {"query": "backups"}, Authorization=f"Bearer {made['token']}")

    assert load.errors == []
    assert load.requests == 40
    assert load.acknowledged > 10
    assert (load.lost, load.displaced, load.briefs_changed) == (0, 0, 0)
    assert counted[0] == counted[1]
    assert "load-0" in first["text"]
    assert {(brief["text"], brief["sha256"]) for brief in again} == {(first["text"], first["sha256"])}
    assert (known.status_code, ended.status_code) == (200, 401)
    assert of_a_home.status_code == 401  # the token of a home is for the service of that home


@requirement("asst.postgres", "sem.concurrent")
def test_each_session_is_read_once_whoever_does_it_and_whoever_dies(
    service_url: str,  # noqa: F811
    postgres_url: str,
    tmp_path: Path,
) -> None:
    with Memories.open(service_url) as dying:  # an instance that ends with a job in its hands
        dying.say("held", "user", FACTS[0])
        dying.close_session("held")
        held = jobs.take("capture", ctx=context_for("default", dying.store))
    with two(service_url, tmp_path) as (one, other):
        for number, fact in enumerate(FACTS[1:13]):
            tell((one, other)[number % 2], f"talk-{number}", fact)
        until(lambda: unfinished(postgres_url) == 1)
        begun = tries(postgres_url)
        for number, fact in enumerate(FACTS[13:]):
            tell((one, other)[number % 2], f"later-{number}", fact)
        one.process.kill()
        one.process.wait()
        until(lambda: _done_without_waiting(postgres_url))
        found = get(other, "/api/memory/", limit="100")["memories"]
        histories = [get(other, f"/api/memory/{memory['id']}/history") for memory in found]

    assert held is not None
    assert begun == [1] * 12
    assert sorted(memory["content"] for memory in found) == sorted(FACTS)
    assert {memory["confidence"] for memory in found} == {0.7}  # once more would have made it 0.8
    assert {len(history["versions"]) for history in histories} == {1}


@requirement("scale.services", "sem.concurrent")
def test_the_job_of_a_killed_service_is_done_once_by_another_one_after_its_lease(
    service_url: str,  # noqa: F811
    postgres_url: str,
    tmp_path: Path,
) -> None:
    victim = Service(tmp_path / "victim", "--db", service_url)
    for number, fact in enumerate(FACTS[:8]):
        tell(victim, f"talk-{number}", fact)
    held = kill_holding_a_job(victim, postgres_url)
    survivor = Service(tmp_path / "survivor", "--db", service_url)
    until(lambda: unfinished(postgres_url) == 1)
    [left] = get(survivor, "/api/jobs", state="running")["jobs"]
    until(lambda: _done_without_waiting(postgres_url))
    found = get(survivor, "/api/memory/", limit="100")["memories"]
    histories = [get(survivor, f"/api/memory/{memory['id']}/history") for memory in found]
    survivor.stop()

    assert (left["id"], left["attempts"]) == (held, 1)  # within the lease nobody else took it
    assert sorted(tries(postgres_url)) == [1] * 7 + [2]
    assert sorted(memory["content"] for memory in found) == sorted(FACTS[:8])
    assert {memory["confidence"] for memory in found} == {0.7}  # once more would have made it 0.8
    assert {len(history["versions"]) for history in histories} == {1}


def _done_without_waiting(owner_url: str) -> bool:
    end_leases(owner_url)
    return unfinished(owner_url) == 0
