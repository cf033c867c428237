"""Requests made from the OpenAPI document itself, sensible and not: each is answered as it describes."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from bench.load import growth
from holdfast import Memories
from tests.conftest import NewDatabase
from tests.held_memory import held
from tests.requirements_ledger import requirement
from tests.web.rest.test_matrix import Filled, World

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
described = pytest.importorskip("schemathesis.specs.openapi.checks")

#: They end or limit what the other requests are about.
LAST = {
    ("post", "/api/memory/{memory_id}/erase"),
    ("patch", "/api/spaces/{name}"),
    ("delete", "/api/spaces/{name}"),
    ("delete", "/api/tokens/{token_id}"),
}
MOST_GROWTH = 0.15  # of the process, from the middle third of the rounds to the last


@pytest.mark.slow
def test_requests_of_every_kind_are_answered_as_described(new_database: NewDatabase) -> None:
    _ask(new_database(), requests=80, rounds=1)


@pytest.mark.faults
@requirement("trust.spaces", "trust.fuzz")
def test_twenty_thousand_requests_are_answered_as_described(new_database: NewDatabase) -> None:
    """On each database. The memory of this process does not grow with them."""
    memory = _ask(new_database(), requests=20_000, rounds=6)

    assert growth(memory) < MOST_GROWTH


def _ask(database: str, *, requests: int, rounds: int) -> list[int]:
    """What the process held after each of the rounds, in which every operation has its turn."""
    world = World(database, Filled.into(database))
    headers = {"Authorization": f"Bearer {world.secrets['admin']}", "Host": "127.0.0.1"}
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", world.served.app, headers=headers)
    operations = [found.ok() for found in schema.get_all_operations()]
    each = requests // (2 * len(operations) * rounds) + 1
    modes = schemathesis.GenerationMode
    # Each is made once: what it has found out about its schema takes longer than a request.
    cases = [(one, one.as_strategy(generation_mode=mode)) for one, mode in product(operations, modes)]
    lasting = [case for one, case in cases if (one.method, one.path) not in LAST]
    ending = [case for one, case in cases if (one.method, one.path) in LAST]
    statuses: Counter[int] = Counter()
    outside, memory = _of_other_spaces(world), []
    for number in range(rounds):
        for case in lasting:
            statuses += _run(case, world, headers, each, number)
        memory.append(held())
    for case in ending:
        statuses += _run(case, world, headers, each * rounds, rounds)
    assert _of_other_spaces(world) == outside
    world.served.registry.close()
    print(database.partition(":")[0], dict(statuses), memory, f"{growth(memory):.1%}")  # noqa: T201  # with -s
    assert statuses.total() >= requests * 0.8  # some operations have fewer requests than asked for
    assert not [status for status in statuses if status >= 500]
    assert {200, 201, 404, 422} <= set(statuses)
    return memory


def _of_other_spaces(world: World) -> list[str]:
    """All rows of the space that the caller may not enter, and the spaces that there are besides."""
    store = world.served.registry.memories().store
    others = [space.name for space in store.spaces() if space.name != world.names.space]
    return [*others, *(line for name in others for line in Memories.of(store, name).export())]


def _run(cases: Any, world: World, headers: dict[str, str], each: int, number: int) -> Counter[int]:
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

    @seed(number)  # others in each round, and the same in each run
    @settings(
        max_examples=each, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None
    )
    @given(cases, st.booleans(), st.data())
    def ask(case: Any, about_something: bool, data: st.DataObject) -> None:
        if about_something:
            for name in set(case.path_parameters or ()) & set(known):
                case.path_parameters[name] = data.draw(known[name])
        answer = case.call(headers=headers, timeout=None)  # a busy machine is no failure
        statuses[answer.status_code] += 1
        case.validate_response(answer, checks=checks)

    ask()
    return statuses
