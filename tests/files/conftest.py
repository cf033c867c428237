"""A space bound to a directory, on both databases, with a home of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock

Bind = Callable[..., Memories]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the files stand; made by binding."""
    return tmp_path / "memory"


@pytest.fixture
def store(database_url: str, clock: FixedClock) -> Iterator[Store]:
    store = open_store(database_url, clock=clock)
    yield store
    store.close()


@pytest.fixture
def bind(store: Store, clock: FixedClock, folder: Path) -> Bind:
    """Makes a space with a profile and binds it to the folder."""

    def made(profile: str = "files", name: str = "notes", layout: str | None = None) -> Memories:
        create_space(name, store=store, clock=clock, profile=profile)
        memories = Memories.of(store, name, clock=clock)
        memories.bind_directory(str(folder), layout=layout)
        return memories

    return made


@pytest.fixture
def notes(bind: Bind) -> Memories:
    """A space with the profile `files`, bound to the folder."""
    return bind()


@pytest.fixture
def sqlite_notes(sqlite_url: str, clock: FixedClock, folder: Path) -> Iterator[Memories]:
    """The same on SQLite alone, for what does not depend on the database."""
    store = open_store(sqlite_url, clock=clock)
    create_space("notes", store=store, clock=clock, profile="files")
    memories = Memories.of(store, "notes", clock=clock)
    memories.bind_directory(str(folder))
    yield memories
    store.close()
