"""A space of named files, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock


@pytest.fixture
def notes(database_url: str, clock: FixedClock) -> Iterator[Memories]:
    """Spoken to by its owner."""
    store = open_store(database_url)
    create_space("notes", store=store, clock=clock, profile="files")
    yield Memories.of(store, "notes", clock=clock)
    store.close()


@pytest.fixture
def model(notes: Memories) -> Memories:
    """The same, spoken to by a model."""
    return notes.speaking_as("assistant", session="talk-1")
