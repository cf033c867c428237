"""Many callers at once: none is turned away, and nothing acknowledged is lost."""

from __future__ import annotations

import pytest

from bench.load import growth, put_under_load
from tests.doors.service.conftest import Service
from tests.requirements_ledger import requirement


@pytest.mark.slow
@requirement("sem.concurrent", "sem.tap.http")
def test_64_callers_with_10_requests_each_are_all_answered(service: Service) -> None:
    load = put_under_load([(service.url, service.token)], each=10)

    assert load.errors == []
    assert load.requests == 640
    assert load.acknowledged > 200
    assert (load.lost, load.displaced, load.briefs_changed) == (0, 0, 0)


def test_readings_of_memory_that_stay_are_no_growth_and_others_are() -> None:
    assert growth([90, 95, 100, 100, 100, 100, 100, 100, 100]) == 0
    assert growth([90, 95, 100, 100, 100, 100, 150, 150, 150]) == 0.5
    assert growth([100]) == 0
