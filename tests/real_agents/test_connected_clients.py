"""The real Codex and the real Gemini CLI, connected by our own command: what their models get to read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.agents.hooks.command import NO_SERVICE
from holdfast.agents.mcp import INSTRUCTIONS
from holdfast.app import client_setup
from tests.real_agents import installed
from tests.real_agents.other_models import OtherModels
from tests.real_agents.test_other_agents import CODEX
from tests.requirements_ledger import requirement

pytestmark = [pytest.mark.agents, pytest.mark.slow]


@dataclass(frozen=True)
class Agent:
    """A client with settings of its user's, and how to ask it something."""

    name: str
    command: list[str]
    settings: Path
    environment: dict[str, str]
    project: Path

    def holdfast(self, *words: str) -> None:
        program = client_setup.command_path("holdfast")
        subprocess.run(
            [program, *words], check=True, capture_output=True, cwd=self.project, env=self.environment
        )

    def ask(self, prompt: str) -> None:
        done = subprocess.run(
            [*self.command, prompt],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            cwd=self.project,
            env=self.environment,
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture
def models() -> Iterator[OtherModels]:
    models = OtherModels()
    yield models
    models.close()


@pytest.fixture(params=["codex", "gemini"])
def agent(request: pytest.FixtureRequest, tmp_path: Path, models: OtherModels) -> Agent:
    try:
        program = str(getattr(installed, request.param)())
    except installed.NotInstallable as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))
    home, project = tmp_path / "agent-home", tmp_path / "website"
    (project / ".git").mkdir(parents=True)
    if request.param == "codex":
        settings = home / ".codex" / "config.toml"
        text = CODEX.format(url=models.url)
        command = [program, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    else:
        settings = home / ".gemini" / "settings.json"
        text = '{\n  // signed in\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n'
        command = [program, "-m", "gemini-2.5-flash", "--skip-trust", "-p"]
    settings.parent.mkdir(parents=True)
    settings.write_text(text)
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "SCRIPTED_KEY": "test",
        "GEMINI_API_KEY": "test",
        "GOOGLE_GEMINI_BASE_URL": models.url,
        "HOLDFAST_HOME": str(tmp_path / "holdfast"),
        "HOLDFAST_EMBEDDER": "none",
    }
    return Agent(request.param, command, settings, environment, project)


@pytest.fixture
def memories(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memories]:
    monkeypatch.setenv("HOLDFAST_HOME", agent.environment["HOLDFAST_HOME"])
    with Memories.open() as opened:
        yield opened


@requirement("sem.tap.hooks")
def test_the_model_reads_the_brief_and_disconnecting_leaves_no_trace(
    agent: Agent, models: OtherModels, memories: Memories
) -> None:
    memories.remember("The website is built with Hugo", project="website")
    before = agent.settings.read_bytes()
    agent.holdfast("connect", agent.name)
    service = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env=agent.environment,
    )
    assert service.stdout is not None
    assert json.loads(service.stdout.readline())["url"]

    agent.ask("Which generator builds the website?")
    service.send_signal(signal.SIGTERM)
    service.communicate(timeout=60)

    assert "The website is built with Hugo" in models.requests[0]
    # Its own words about the tools: the server had answered before the first turn began.
    assert INSTRUCTIONS[:60] in models.requests[0]
    agent.holdfast("disconnect", agent.name)
    assert agent.settings.read_bytes() == before


@requirement("sem.hook.deadline")
def test_without_a_service_the_session_runs(agent: Agent, models: OtherModels, memories: Memories) -> None:
    memories.remember("The website is built with Hugo", project="website")
    agent.holdfast("connect", agent.name)

    agent.ask("Which generator builds the website?")

    assert NO_SERVICE[:60] in models.requests[0]
    assert "built with Hugo" not in models.requests[0]
    [entry] = Path(agent.environment["HOLDFAST_HOME"], "spool").glob("*.json")
    assert json.loads(entry.read_text())["client"] == agent.name
