"""Two services on one PostgreSQL: callers for a minute, and one or the other killed again and again."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from bench.load import put_under_load
from tests.requirements_ledger import requirement
from tests.store.test_row_security import service_url  # noqa: F401  # a fixture
from tests.web.service.conftest import Service
from tests.web.service.two_services import FACTS, end_leases, get, tell, two, unfinished, until

KILLS = 20
MOST_TIMES_THE_MEDIAN = 10


@pytest.mark.faults
@requirement("asst.postgres", "sem.concurrent")
def test_64_callers_for_a_minute_over_two_services_lose_nothing(
    service_url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    with two(service_url, tmp_path) as services:
        load = put_under_load([(each.url, each.token) for each in services], clients=64, seconds=60)

    assert load.errors == []
    assert load.acknowledged > 500
    assert (load.lost, load.displaced, load.briefs_changed) == (0, 0, 0)
    assert load.wait(0.99) < MOST_TIMES_THE_MEDIAN * load.wait(0.5)


@pytest.mark.faults
@requirement("asst.postgres", "sem.concurrent")
def test_one_or_the_other_killed_20_times_leaves_no_session_unread_and_reads_none_twice(
    service_url: str,  # noqa: F811
    postgres_url: str,
    tmp_path: Path,
) -> None:
    with two(service_url, tmp_path) as services:
        for kill in range(KILLS):
            fact = FACTS[kill % len(FACTS)]
            survivor, victim = services[(kill + 1) % 2], kill % 2
            tell(services[victim], f"talk-{kill}", fact)
            services[victim].process.send_signal(signal.SIGKILL)
            services[victim].process.communicate()
            tell(survivor, f"beside-{kill}", f"On day {kill} the number was {kill + 100}.")
            services[victim] = Service(services[victim].home, "--db", service_url)

        def done() -> bool:
            end_leases(postgres_url)
            return unfinished(postgres_url) == 0

        until(done)
        found = get(services[0], "/api/memory/", limit="1000")["memories"]
        said = [
            len(get(services[1], f"/api/sessions/{name}-{kill}/messages")["messages"])
            for kill in range(KILLS)
            for name in ("talk", "beside")
        ]

    kept = [memory for memory in found if memory["content"] in FACTS]
    assert sorted(memory["content"] for memory in kept) == sorted(FACTS[:KILLS])
    assert {memory["confidence"] for memory in kept} == {0.7}
    assert said == [1] * (2 * KILLS)
