"""A space with the profile ops, and one who listens for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.agents.run.listening import Listener


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    store = open_store(database_url)
    yield store
    store.close()


@pytest.fixture
def space(store: Store, clock: FixedClock) -> Callable[[str], Memories]:
    """Makes a space with the profile ops and opens it."""

    def made(name: str) -> Memories:
        create_space(name, store=store, clock=clock, profile="ops")
        return Memories.of(store, name, clock=clock)

    return made


@pytest.fixture
def ops(space: Callable[[str], Memories]) -> Memories:
    return space("ops")


@pytest.fixture
def agent(ops: Memories) -> Listener:
    """An agent whose output is taken into the space ops."""
    return Listener(ops)
