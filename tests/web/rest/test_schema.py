"""Requests made from the OpenAPI document itself, sensible and not: each is answered as it describes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bench.load import growth
from bench.speed.measuring import resident
from holdfast import Memories
from tests.conftest import NewDatabase
from tests.requirements_ledger import requirement
from tests.web.rest.test_matrix import Filled, World

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
described = pytest.importorskip("schemathesis.specs.openapi.checks")

#: They end or limit what the other requests are about.
LAST = {
    ("patch", "/api/spaces/{name}"),
    ("delete", "/api/spaces/{name}"),
    ("delete", "/api/tokens/{token_id}"),
}
MOST_GROWTH = 0.15  # of the process, from the middle third of the requests to the last


@pytest.mark.slow
def test_requests_of_every_kind_are_answered_as_described(new_database: NewDatabase) -> None:
    _ask(new_database(), requests=80)


@pytest.mark.faults
@requirement("trust.spaces", "trust.fuzz")
def test_twenty_thousand_requests_are_answered_as_described(new_database: NewDatabase) -> None:
    """On each database. The memory of this process does not grow with them."""
    memory = _ask(new_database(), requests=20_000)

    assert growth(memory) < MOST_GROWTH


def _ask(database: str, *, requests: int) -> list[int]:
    """What the process held after each of the operations."""
    world = World(database, Filled.into(database))
    headers = {"Authorization": f"Bearer {world.secrets['admin']}", "Host": "127.0.0.1"}
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", world.served.app, headers=headers)
    operations = [found.ok() for found in schema.get_all_operations()]
    operations.sort(key=lambda one: (one.method, one.path) in LAST)
    each = requests // (2 * len(operations)) + 1
    statuses: Counter[int] = Counter()
    outside, memory = _of_other_spaces(world), []
    for operation in operations:
        for mode in schemathesis.GenerationMode:
            statuses += _run(operation, mode, world, headers, each)
        memory.append(round(resident()))
    assert _of_other_spaces(world) == outside
    world.served.registry.close()
    print(database.partition(":")[0], dict(statuses), f"{growth(memory):.1%}")  # noqa: T201  # with -s
    assert statuses.total() >= requests * 0.8  # some operations have fewer requests than asked for
    assert not [status for status in statuses if status >= 500]
    assert {200, 201, 404, 422} <= set(statuses)
    return memory


def _of_other_spaces(world: World) -> list[str]:
    """All rows of the space that the caller may not enter, and the spaces that there are besides."""
    store = world.served.registry.memories().store
    others = [space.name for space in store.spaces() if space.name != world.names.space]
    return [*others, *(line for name in others for line in Memories.of(store, name).export())]


def _run(operation: Any, mode: Any, world: World, headers: dict[str, str], each: int) -> Counter[int]:
    checks = [
        schemathesis.checks.not_a_server_error,
        described.status_code_conformance,
        described.content_type_conformance,
        described.response_schema_conformance,
    ]
    names = world.names
    known = {
        "memory_id": st.sampled_from([names.memory, names.waiting, names.forgotten]),
        "to": st.just(names.other),
        "session_id": st.just(names.session),
        "message_id": st.just(names.message),
        "token": st.just(world.secrets["write"]),
        "name": st.just(names.space),
    }
    statuses: Counter[int] = Counter()

    @settings(
        max_examples=each,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
    )
    @given(operation.as_strategy(generation_mode=mode), st.booleans(), st.data())
    def ask(case: Any, about_something: bool, data: st.DataObject) -> None:
        if about_something:
            for name in set(case.path_parameters or ()) & set(known):
                case.path_parameters[name] = data.draw(known[name])
        answer = case.call(headers=headers)
        statuses[answer.status_code] += 1
        case.validate_response(answer, checks=checks)

    ask()
    return statuses
