"""The real Claude Code with nothing but an address: the proxy gives it a memory, and keeps what was said."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from holdfast import Memories
from tests.agents.proxy.conftest import SPACE, Running
from tests.real_agents.conftest import Environment
from tests.real_agents.scripted_model import ScriptedModel, Tool
from tests.requirements_ledger import requirement

FACT = "Jellyfin needs 60 seconds to start after a restart"


@requirement("sem.inject.proxy")
def test_the_real_client_is_given_memories_and_its_cache_holds(
    claude_code: Path,
    scripted_model: ScriptedModel,
    agent_environment: Environment,
    sqlite_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOLDFAST_ANTHROPIC_UPSTREAM", scripted_model.url)
    service = Running(sqlite_url)
    service.memories.remember(FACT, category="timing", subject="jellyfin")
    scripted_model.say(
        Tool("Bash", {"command": "echo from-the-tool", "description": "Print"}), "It takes a minute.", "Fine."
    )
    environment = agent_environment(ANTHROPIC_BASE_URL=f"{service.url}/proxy/{service.token}/anthropic")

    def ask(*arguments: str) -> str:
        done = subprocess.run(
            [str(claude_code), "-p", *arguments, "--output-format", "json", "--allowedTools", "Bash(echo *)"],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            cwd=tmp_path,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        told: str = json.loads(done.stdout)["session_id"]
        return told

    session = ask("How long does jellyfin need to start?")
    ask("Thank you", "--resume", session)
    service.stop()
    service.registry.close()

    first, second, third = scripted_model.requests
    assert FACT in first.body["system"][-1]["text"]
    assert all(request.body["system"][-1] == first.body["system"][-1] for request in (second, third))
    begun = len(first.body["messages"])
    assert _unmarked(second.body["messages"][: begun - 1]) == _unmarked(first.body["messages"][: begun - 1])
    with Memories.open(sqlite_url, SPACE) as memories:
        [one] = memories.sessions()
        assert one.id == session
        assert [message.content for message in memories.session(session).messages] == [
            "How long does jellyfin need to start?",
            "It takes a minute.",
            "Thank you",
            "Fine.",
        ]


def _unmarked(messages: list[dict[str, object]]) -> str:
    """Without the marks of how far to cache, which move on with every turn."""

    def bare(pairs: list[tuple[str, object]]) -> dict[str, object]:
        return {name: value for name, value in pairs if name != "cache_control"}

    return json.dumps(json.loads(json.dumps(messages), object_pairs_hook=bare))
