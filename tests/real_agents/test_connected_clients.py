"""Real clients, connected by our own command: what their models get to read."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memories
from holdfast.agents.hooks.command import NO_SERVICE
from holdfast.agents.mcp import INSTRUCTIONS
from holdfast.app import client_setup
from tests.real_agents import installed
from tests.real_agents.conftest import Environment, serving
from tests.real_agents.other_models import OtherModels
from tests.real_agents.scripted_model import ScriptedModel
from tests.real_agents.test_hooks import wait_for_message, wait_until
from tests.real_agents.test_other_agents import CODEX
from tests.requirements_ledger import requirement

pytestmark = [pytest.mark.agents, pytest.mark.slow]


SMALL_TALK = "Good morning! I hope your weekend was as sunny as mine."
FACT = "Our staging database runs on port 5433."
RULE = "Always answer in two sentences."
CORRECTION = "Staging moved to port 6543."


@dataclass(frozen=True)
class Agent:
    """A client with settings of its user's, and how to ask it something."""

    name: str
    command: list[str]
    again: list[str]  # the same, to go on with the last session
    settings: Path
    environment: dict[str, str]
    project: Path

    def holdfast(self, *words: str) -> None:
        program = client_setup.command_path("holdfast")
        subprocess.run(
            [program, *words], check=True, capture_output=True, cwd=self.project, env=self.environment
        )

    def ask(self, prompt: str, *, again: bool = False) -> None:
        done = subprocess.run(
            [*(self.again if again else self.command), prompt],
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
def agent(
    request: pytest.FixtureRequest, tmp_path: Path, models: OtherModels, agent_environment: Environment
) -> Agent:
    try:
        program = str(getattr(installed, request.param.replace("-", "_"))())
    except installed.NotInstallable as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))
    home, project = tmp_path / "agent-home", tmp_path / "website"
    (project / ".git").mkdir(parents=True)
    if request.param == "codex":
        settings = home / ".codex" / "config.toml"
        text = CODEX.format(url=models.url)
        first, last = [program, "exec"], ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        again = ["resume", "--last"]
    elif request.param == "gemini":
        settings = home / ".gemini" / "settings.json"
        text = '{\n  // signed in\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n'
        first, last = [program, "-m", "gemini-2.5-flash", "--skip-trust"], ["-p"]
        again = ["--resume", "latest"]
    else:
        settings, text = home / ".claude" / "settings.json", "{}\n"
        first, last, again = [program], ["-p"], ["--continue"]
    settings.parent.mkdir(parents=True)
    settings.write_text(text)
    environment = agent_environment(
        PYTHONPATH=str(Path(__file__).parents[2] / "src"),
        SCRIPTED_KEY="test",
        GEMINI_API_KEY="test",
        GOOGLE_GEMINI_BASE_URL=models.url,
        HOLDFAST_HOME=str(tmp_path / "holdfast"),
        HOLDFAST_EMBEDDER="none",
    )
    return Agent(request.param, [*first, *last], [*first, *again, *last], settings, environment, project)


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

    with serving(agent.environment):
        agent.ask("Which generator builds the website?")

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


@requirement("brief.rules", "context.block", "sem.tap.hooks")
@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini"], indirect=True)
def test_the_next_session_reads_the_corrected_fact_and_the_rule_once_and_no_small_talk(
    agent: Agent, models: OtherModels, scripted_model: ScriptedModel, memories: Memories
) -> None:
    agent.environment["HOLDFAST_EMBEDDER"] = "default"  # all built-in models, as users have them
    agent.holdfast("connect", agent.name)
    prompt = "Which port does the staging database use?"

    with serving(agent.environment):
        agent.ask(SMALL_TALK)
        agent.ask(FACT, again=True)
        agent.ask(RULE, again=True)
        capture(memories, FACT, RULE)
        agent.ask(CORRECTION)
        capture(memories, CORRECTION)
        agent.ask(prompt)

    asked = [request.body for request in scripted_model.requests] + [*map(json.loads, models.requests)]
    request = next(text for body in asked if prompt in (text := "\n".join(texts(body))))
    print(request)  # noqa: T201  # shown when the test fails
    block = request.partition("## Holdfast")[2].partition("(These lines come from")[0]
    rules = block.partition("### Follow these")[2].partition("###")[0]
    assert RULE in rules
    assert CORRECTION in block.replace(rules, "")
    for line in (RULE, CORRECTION, *filter(None, block.splitlines()[1:])):
        assert request.count(line) == 1, line
    assert "port 5433" not in request
    assert "sunny" not in request


def capture(memories: Memories, *texts: str) -> None:
    """Until each of the texts, which a session holds, is a memory."""
    for text in texts:
        wait_for_message(memories, text)
    memories.capture()  # which the service does later, and at the end of a session of some clients
    wait_until(lambda: set(texts) <= {memory.content for memory in memories.find(limit=100).memories})


def texts(value: Any) -> list[str]:
    """All texts in a request, whatever it is made of."""
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inside for text in texts(each)]
