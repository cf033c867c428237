"""Many callers at once: none is turned away, and nothing acknowledged is lost."""

from __future__ import annotations

import pytest

from bench.load import growth, put_under_load
from tests.requirements_ledger import requirement
from tests.web.service.conftest import Service


@requirement("sem.concurrent", "sem.tap.http")
@pytest.mark.parametrize(
    ("callers", "each"),
    [pytest.param(16, 8, marks=pytest.mark.slow), pytest.param(64, 10, marks=pytest.mark.faults)],
)
def test_callers_at_once_are_all_answered(service: Service, callers: int, each: int) -> None:
    load = put_under_load([(service.url, service.token)], clients=callers, each=each)

    assert load.errors == []
    assert load.requests == callers * each
    assert load.acknowledged > callers * each // 4
    assert (load.lost, load.displaced, load.briefs_changed) == (0, 0, 0)


def test_readings_of_memory_that_stay_are_no_growth_and_others_are() -> None:
    assert growth([90, 95, 100, 100, 100, 100, 100, 100, 100]) == 0
    assert growth([90, 95, 100, 100, 100, 100, 150, 150, 150]) == 0.5
    assert growth([100]) == 0
