"""Fixtures for tests with real agents: the programs, a scripted model, and a clean place to run in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real_agents import installed
from tests.real_agents.scripted_model import ScriptedModel

#: Makes the environment of an agent's process: nothing of the developer's, nothing that calls home.
Environment = Callable[..., dict[str, str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for a real agent can be chosen, or left out, by `-m agents`."""
    for item in items:
        if "claude_code" in getattr(item, "fixturenames", ()):
            item.add_marker("agents")
            item.add_marker("slow")


@contextmanager
def serving(environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """The real service in an agent's environment."""
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["url"]
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.fixture(scope="session")
def claude_code() -> Path:
    """The path of the real Claude Code binary, installed when the first test asks for it."""
    try:
        return installed.claude_code()
    except installed.NotInstallable as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))


@pytest.fixture
def scripted_model() -> Iterator[ScriptedModel]:
    """A model on loopback that answers what the test queued with `say`, and keeps the requests."""
    model = ScriptedModel()
    yield model
    model.close()


@pytest.fixture
def agent_environment(tmp_path: Path, scripted_model: ScriptedModel) -> Environment:
    """Called with extra variables, gives all that an agent needs to talk to the scripted model."""
    home = tmp_path / "agent-home"
    home.mkdir()

    def made(**extra: str) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home),
            "TMPDIR": str(tmp_path),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": scripted_model.url,
            "ANTHROPIC_API_KEY": "test",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **extra,
        }

    return made
