"""One space of each style, on both databases."""

from collections.abc import Callable, Iterator

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    store = open_store(database_url)
    yield store
    store.close()


@pytest.fixture
def space(store: Store, clock: FixedClock) -> Callable[[str], Memories]:
    """Makes a space with the profile of that name and opens it."""

    def made(profile: str, name: str | None = None) -> Memories:
        create_space(name or profile, store=store, clock=clock, profile=profile)
        return Memories.of(store, name or profile, clock=clock)

    return made


@pytest.fixture
def ops(space: Callable[[str], Memories]) -> Memories:
    return space("ops")


@pytest.fixture
def assistant(space: Callable[[str], Memories]) -> Memories:
    return space("assistant")


@pytest.fixture
def semantic(space: Callable[[str], Memories]) -> Memories:
    return space("semantic")


@pytest.fixture
def notes(space: Callable[[str], Memories]) -> Memories:
    """A space with the profile `files`."""
    return space("files")


@pytest.fixture
def memories(store: Store, clock: FixedClock) -> Memories:
    """The space that exists from first use."""
    return Memories.of(store, "default", clock=clock)
