"""What tests of the engine share: an open store on each database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from holdfast.app.wiring import open_store
from holdfast.engine.ports import Store


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with closing(open_store(database_url)) as opened:
        yield opened
