"""The plugin for Claude Code: valid in the client's own eyes, and it does what `connect` does."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from holdfast.app import client_setup
from tests.real_agents.conftest import Environment
from tests.real_agents.scripted_model import ScriptedModel

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin"


@pytest.mark.slow
@pytest.mark.parametrize("folder", [PLUGIN, ROOT], ids=["plugin", "marketplace"])
def test_the_client_finds_nothing_to_complain_about(
    claude_code: Path, agent_environment: Environment, folder: Path
) -> None:
    done = subprocess.run(
        [claude_code, "plugin", "validate", "--strict", "--json", str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env=agent_environment(),
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_client_installs_it_from_a_clone_and_removes_it(
    claude_code: Path, agent_environment: Environment
) -> None:
    environment = agent_environment()

    def plugin(*arguments: str) -> str:
        done = subprocess.run(
            [claude_code, "plugin", *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            cwd=ROOT,
            env=environment,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    plugin("marketplace", "add", "./")
    plugin("install", "holdfast@holdfast")
    there = json.loads(plugin("list", "--json"))
    plugin("uninstall", "holdfast@holdfast")

    assert [each["id"] for each in there] == ["holdfast@holdfast"]
    assert json.loads(plugin("list", "--json")) == []


def test_the_plugin_has_the_version_of_the_package() -> None:
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    plugin = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())

    assert (plugin["version"], plugin["license"]) == (package["version"], package["license"])


def test_the_plugin_hooks_the_same_events_as_connect_and_offers_the_same_server(tmp_path: Path) -> None:
    hooks, servers = (change.after or b"" for change in client_setup.connection("claude-code").connecting())
    plugin = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    plugged = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]

    assert list(plugged) == list(json.loads(hooks)["hooks"])
    for event, [group] in plugged.items():
        [hook] = group["hooks"]
        assert hook["command"].endswith(f"exec holdfast-hook {event}; fi")
    server = json.loads(servers)["mcpServers"]["holdfast"]
    assert plugin["mcpServers"]["holdfast"] == {**server, "command": "holdfast"}


@pytest.mark.slow
@pytest.mark.parametrize("installed", [True, False])
def test_a_session_with_the_plugin_runs_with_and_without_the_program(
    claude_code: Path,
    scripted_model: ScriptedModel,
    agent_environment: Environment,
    tmp_path: Path,
    installed: bool,
) -> None:
    programs = Path(client_setup.command_path("holdfast")).parent
    extra = {"PATH": f"{programs}:/usr/bin:/bin" if installed else "/usr/bin:/bin"}
    environment = agent_environment(
        **extra, HOLDFAST_HOME=str(tmp_path / "holdfast"), HOLDFAST_EMBEDDER="none"
    )
    scripted_model.say("All is well.")

    done = subprocess.run(
        [
            claude_code,
            "-p",
            "Hello",
            "--plugin-dir",
            str(PLUGIN),
            "--output-format",
            "stream-json",
            "--verbose",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        cwd=tmp_path,
        env=environment,
    )

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    [request] = scripted_model.requests
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[-1]["result"] == "All is well."
    assert {line["outcome"] for line in lines if line.get("subtype") == "hook_response"} <= {"success"}
    assert ("is not running" in request.text) == installed
    assert bool([tool for tool in request.tools if tool.endswith("memory_search")]) == installed
