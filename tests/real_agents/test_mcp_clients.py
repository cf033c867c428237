"""The MCP server as real clients start it: the official SDK's over a pipe, and the Inspector."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.real_agents import installed
from tests.requirements_ledger import requirement

INSPECTOR = "0.15.0"  # the last that runs on Node 20

COMMAND = [sys.executable, "-m", "holdfast", "mcp"]


def _environment(tmp_path: Path) -> dict[str, str]:
    wanted = ("PATH", "HOME", "LANG", "XDG_DATA_HOME", "HOLDFAST_EMBEDDER")
    kept = {name: os.environ[name] for name in wanted if name in os.environ}
    return {**kept, "HOLDFAST_HOME": str(tmp_path / "holdfast"), "HOLDFAST_SESSION": "run-1"}


@requirement("sem.mcp")
@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_the_official_client_lists_and_calls_every_tool_over_a_pipe(tmp_path: Path, era: str) -> None:
    started = StdioServerParameters(
        command=COMMAND[0], args=COMMAND[1:], env=_environment(tmp_path), cwd=tmp_path
    )

    async def conversation() -> tuple[list[str], dict[str, str]]:
        async with Client(started, mode=era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            said = {}

            async def call(name: str, **arguments: Any) -> Any:
                answer = await client.call_tool(name, arguments)
                said[name] = answer.content[0].text  # type: ignore[union-attr]
                assert not answer.is_error, said[name]
                return answer.structured_content

            kept = await call("memory_remember", content="Deploys run on Fridays at noon")
            await call("memory_search", query="when do deploys run")
            await call("memory_list")
            await call("memory_revise", id=kept["id"], content="Deploys run on Mondays at noon")
            await call("memory_why", id=kept["id"])
            await call("memory_feedback", id=kept["id"])
            await call("memory_forget", id=kept["id"])
            return names, said

    names, said = anyio.run(conversation)

    assert set(names) == set(said)
    assert "Deploys run on Fridays at noon" in said["memory_search"]
    assert "when do deploys run" in said["memory_feedback"]
    assert said["memory_forget"] == "Deleted: Deploys run on Mondays at noon"


@requirement("sem.mcp")
@pytest.mark.agents
def test_the_inspector_lists_and_calls_tools(tmp_path: Path) -> None:
    try:
        packages = installed.npm_packages(f"@modelcontextprotocol/inspector@{INSPECTOR}")
    except installed.NotInstallable as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))
    inspector = [shutil.which("node") or "node", str(packages / ".bin" / "mcp-inspector"), "--cli", *COMMAND]

    def ask(*words: str) -> Any:
        done = subprocess.run(
            [*inspector, *words],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            env=_environment(tmp_path),
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def call(tool: str, **arguments: str) -> Any:
        given = [f"{name}={value}" for name, value in arguments.items()]
        options = ["--tool-arg", *given] if given else []
        return ask("--method", "tools/call", "--tool-name", tool, *options)

    listed = ask("--method", "tools/list")
    kept = call("memory_remember", content="Deploys run on Fridays")
    memory = kept["structuredContent"]["id"]
    said = {
        "memory_remember": kept["content"][0]["text"],
        "memory_search": call("memory_search", query="deploys")["content"][0]["text"],
        "memory_list": call("memory_list")["content"][0]["text"],
        "memory_revise": call("memory_revise", id=memory, content="Deploys run on Mondays")["content"][0][
            "text"
        ],
        "memory_why": call("memory_why", id=memory)["content"][0]["text"],
        "memory_feedback": call("memory_feedback", id=memory)["content"][0]["text"],
        "memory_forget": call("memory_forget", id=memory)["content"][0]["text"],
    }

    assert {tool["name"] for tool in listed["tools"]} == set(said)
    assert said["memory_remember"] == f"Remembered as {memory}."
    assert "Deploys run on Fridays" in said["memory_search"]
    assert "Deploys run on Fridays" in said["memory_list"]
    assert "Deploys run on Mondays" in said["memory_why"]
    assert "deploys" in said["memory_feedback"]
    assert said["memory_forget"] == "Deleted: Deploys run on Mondays"
