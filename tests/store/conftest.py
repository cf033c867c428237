"""A store on each database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.app.wiring import open_store
from holdfast.engine.ports import Store


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    store = open_store(database_url)
    yield store
    store.close()
