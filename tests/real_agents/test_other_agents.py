"""`holdfast run` around the real Codex and the real Gemini CLI, where they can be had."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memories
from tests.real_agents import installed
from tests.real_agents.other_models import OtherModels
from tests.requirements_ledger import requirement

pytestmark = [pytest.mark.agents, pytest.mark.slow]

SLOW_START = "[MEMORY:timing:jellyfin] Takes 60s to start after restart"
CODEX = """
model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
"""


@pytest.fixture
def models() -> Iterator[OtherModels]:
    models = OtherModels()
    yield models
    models.close()


@pytest.fixture(params=["codex", "gemini"])
def agent(request: pytest.FixtureRequest, tmp_path: Path, models: OtherModels) -> list[str]:
    """The command of an agent that talks to the scripted model."""
    home = tmp_path / "agent-home"
    try:
        program = getattr(installed, request.param)()
    except installed.NotInstallable as missing:
        pytest.skip(str(missing))
    if request.param == "codex":
        (home / ".codex").mkdir(parents=True)
        (home / ".codex" / "config.toml").write_text(CODEX.format(url=models.url))
        return [str(program), "exec", "--skip-git-repo-check", "Check all"]
    (home / ".gemini").mkdir(parents=True)
    signed_in = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (home / ".gemini" / "settings.json").write_text(json.dumps(signed_in))
    return [str(program), "-m", "gemini-2.5-flash", "--skip-trust", "-p", "Check all"]


@requirement("ops.run")
def test_a_run_keeps_its_markers_and_the_next_one_is_told(
    agent: list[str], models: OtherModels, tmp_path: Path
) -> None:
    db = tmp_path / "ops.db"
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
        "HOME": str(tmp_path / "agent-home"),
        "TERM": "dumb",
        "SCRIPTED_KEY": "test",
        "GEMINI_API_KEY": "test",
        "GOOGLE_GEMINI_BASE_URL": models.url,
        "HOLDFAST_DB": str(db),
        "HOLDFAST_EMBEDDER": "none",
    }

    def holdfast(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    holdfast("space", "create", "ops", "--profile", "ops")
    models.say(f"All is up.\n{SLOW_START}")

    first = holdfast("run", "--space", "ops", "--tier", "2", "--", *agent)
    second = holdfast("run", "--space", "ops", "--tier", "2", "--", *agent)

    assert (first, second) == (f"All is up.\n{SLOW_START}\n", "Done.\n")
    before, after = models.requests[0], models.requests[-1]
    assert "# Your task: investigate" in before
    assert "Operational Memory" not in before
    assert "Takes 60s to start after restart (confidence: 0.7)" in after
    with Memories.open(str(db), "ops") as memories:
        session = memories.why(memories.find().memories[0].id).session
    assert session is not None
    assert session.usage is not None
    assert session.usage["output_tokens"] == 10
