"""The harness itself: the real agent runs in it, and what the model was asked can be looked at."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.real_agents.conftest import Environment
from tests.real_agents.scripted_model import ScriptedModel, Tool


def test_the_real_client_talks_to_the_scripted_model(
    claude_code: Path, scripted_model: ScriptedModel, agent_environment: Environment, tmp_path: Path
) -> None:
    call = Tool("Bash", {"command": "echo from-the-tool", "description": "Print"})
    scripted_model.say(call, "All is well.")
    asked = ["-p", "How are you?", "--output-format", "stream-json", "--verbose"]

    done = subprocess.run(
        [str(claude_code), *asked, "--allowedTools", "Bash(echo *)"],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        cwd=tmp_path,
        env=agent_environment(),
    )

    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1]["result"] == "All is well."
    first, second = scripted_model.requests
    assert "How are you?" in first.text
    assert "from-the-tool" in second.messages[-1][1]
    assert "Bash" in first.tools
