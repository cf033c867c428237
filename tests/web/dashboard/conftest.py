"""The dashboard in this process on both databases, and in a real browser against a real service."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.real_agents.installed import NotInstallable, npm_packages
from tests.web.dashboard.browsing import Watched, installed_chromium, launched
from tests.web.dashboard.serving import Board, Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

AXE = "4.14.0"


@pytest.fixture
def board(database_url: str) -> Iterator[Board]:
    """The pages without a port: requests go straight into the application, on SQLite and on PostgreSQL."""
    made = Board(database_url)
    yield made
    made.registry.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A `holdfast serve` of its own process, for a browser; its spaces are `ops` and `helper`."""
    service = Running(tmp_path_factory.mktemp("dashboard"))
    yield service
    service.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a file: while it runs, nothing else in this process can be awaited."""
    with launched(installed_chromium()) as browser:
        yield browser


@pytest.fixture(scope="session")
def axe() -> Path:
    """The accessibility checker, from npm, once a machine."""
    try:
        return npm_packages(f"axe-core@{AXE}") / "axe-core" / "axe.min.js"
    except NotInstallable as why:
        if os.environ.get("CI") == "true":
            pytest.fail(f"axe-core can't be had: {why}", pytrace=False)
        pytest.skip(f"axe-core can't be had: {why}")


@pytest.fixture
def watched(chromium: Browser, running: Running) -> Iterator[Watched]:
    """A signed-in window in which nothing may go to another machine or against the policy."""
    window = Watched(chromium, running)
    yield window
    window.close()


@pytest.fixture
def page(watched: Watched) -> Page:
    return watched.page
