"""A stateful test: random calls, the engine against a plain Python model, on SQLite and on PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import cast

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from holdfast.engine import candidates
from holdfast.profiles import BUILT_IN
from tests.conftest import NewDatabase
from tests.engine.machine import MemoriesMachine
from tests.requirements_ledger import requirement

# Without shrinking: a failure is reported at once with its steps, instead of after many minutes with fewer.
USUAL = settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
QUICK = {
    "sqlite": settings(USUAL, max_examples=1, stateful_step_count=40),
    "postgresql": settings(USUAL, max_examples=1, stateful_step_count=25),  # each call takes longer there
}
LONG = settings(USUAL, max_examples=300, stateful_step_count=80)


@pytest.fixture(autouse=True)
def everything_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain model holds a draft against all that there is; the engine against the few nearest."""
    for name, value in {"FEW": 500, "_CANDIDATES": 500, "LEAST": 0.0}.items():
        monkeypatch.setattr(candidates, name, value)


def machine(url: str, profile: str) -> type[MemoriesMachine]:
    """What Hypothesis calls for a new machine: one database, one profile."""
    return cast(type[MemoriesMachine], partial(MemoriesMachine, url, profile))


@requirement("asst.postgres", "asst.versions", "asst.ids", "trust.tombstone", "trust.as-of")
@pytest.mark.slow
@pytest.mark.parametrize("profile", BUILT_IN)
def test_the_engine_does_what_the_plain_model_does(
    new_database: NewDatabase, dialect: str, profile: str
) -> None:
    url = new_database()

    run_state_machine_as_test(machine(url, profile), settings=QUICK[dialect])


@pytest.mark.faults
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("profile", BUILT_IN)
def test_the_engine_does_what_the_plain_model_does_for_long(new_database: NewDatabase, profile: str) -> None:
    url = new_database()

    run_state_machine_as_test(machine(url, profile), settings=LONG)
