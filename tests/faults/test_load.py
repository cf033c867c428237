"""64 callers for a minute: no error, no lost message, the slowest hundredth within ten times the median."""

from __future__ import annotations

import pytest

from bench.load import growth, put_under_load
from tests.requirements_ledger import requirement
from tests.web.service.conftest import Service, service  # noqa: F401  # a fixture

MINUTE = 60.0
MOST_TIMES_THE_MEDIAN = 10
MOST_GROWTH = 0.15  # of the process, while a space grows by thousands of messages and caches fill


@pytest.mark.faults
@requirement("sem.concurrent", "sem.tap.http")
def test_64_callers_for_a_minute_lose_nothing_and_wait_evenly(service: Service) -> None:  # noqa: F811
    load = put_under_load([(service.url, service.token)], clients=64, seconds=MINUTE)

    assert load.errors == []
    assert load.acknowledged > 500
    assert (load.lost, load.displaced, load.briefs_changed) == (0, 0, 0)
    assert load.wait(0.99) < MOST_TIMES_THE_MEDIAN * load.wait(0.5)
    assert len(load.memory) >= 6
    assert growth(load.memory) < MOST_GROWTH
