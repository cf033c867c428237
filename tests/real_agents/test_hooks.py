"""The real Claude Code, connected by our own command, against a scripted model: what the model gets to read.

The service is the real one. What the client sends to the model is the proof: not what a hook printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.agents.hooks.command import NO_SERVICE
from holdfast.app import client_setup
from tests.real_agents.conftest import Environment, serving
from tests.real_agents.scripted_model import Request, ScriptedModel, Tool
from tests.requirements_ledger import requirement

pytestmark = pytest.mark.slow

Run = Callable[..., Request]
BRIEFED = 300  # memories that fill a brief, so that one is left to be recalled
PATIENCE = 60.0  # seconds until background work that does not come counts as lost


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "website"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def environment(agent_environment: Environment, tmp_path: Path) -> dict[str, str]:
    return agent_environment(HOLDFAST_HOME=str(tmp_path / "holdfast"), HOLDFAST_EMBEDDER="none")


@pytest.fixture
def memories(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Memories]:
    """The memories that the agent's service and tools work with."""
    monkeypatch.setenv("HOLDFAST_HOME", environment["HOLDFAST_HOME"])
    with Memories.open() as opened:
        yield opened


@pytest.fixture
def service(environment: dict[str, str], memories: Memories) -> Iterator[subprocess.Popen[str]]:
    with serving(environment) as process:
        yield process


@pytest.fixture
def run(claude_code: Path, scripted_model: ScriptedModel, environment: dict[str, str], project: Path) -> Run:
    """Has a conversation of one prompt and gives the request that the model got for it."""

    def conversation(
        prompt: str, *options: str, first: Sequence[Tool] = (), answer: str = "All is well."
    ) -> Request:
        scripted_model.requests.clear()
        scripted_model.say(*first, answer)
        done = subprocess.run(
            [claude_code, "-p", prompt, "--output-format", "stream-json", "--verbose", *options],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            cwd=project,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert lines[-1]["result"] == answer
        failed = [
            line for line in lines if line.get("subtype") == "hook_response" and line["outcome"] != "success"
        ]
        assert failed == []
        return scripted_model.requests[0]

    return conversation


def connect(environment: dict[str, str], project: Path, command: str = "connect") -> None:
    subprocess.run(
        [client_setup.command_path("holdfast"), command, "claude-code"],
        check=True,
        capture_output=True,
        cwd=project,
        env=environment,
    )


def injected(request: Request, event: str) -> str:
    """What the hook of an event added to the conversation, up to what the client itself adds after it."""
    begin = f"{event} hook additional context: "
    for role, text in request.messages:
        if begin in text:
            assert role == "system"
            return text.partition(begin)[2]
    return ""


def wait_for_message(memories: Memories, text: str) -> None:
    """Until the service has read a transcript that holds `text`."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with memories.store.read("default") as tx:
            if tx.sessions.saying([text]):
                return
        time.sleep(0.05)  # another process can't be awaited otherwise
    raise AssertionError(f"{text!r} was not taken in")


@requirement("sem.tap.hooks")
def test_the_model_reads_the_brief_the_recalled_memory_and_the_tools(
    run: Run, environment: dict[str, str], project: Path, memories: Memories, service: object
) -> None:
    for number in range(BRIEFED):
        memories.remember(f"Rule {number} holds", subject=f"thing {number}", importance=5, project="website")
    memories.remember("The website is built with Hugo", project="website", importance=1)
    memories.remember("The app is built with Gradle", project="app")
    connect(environment, project)

    request = run("What is the website built with?")

    brief, recalled = injected(request, "SessionStart"), injected(request, "UserPromptSubmit")
    assert "holds" in brief
    assert "The website is built with Hugo" not in brief.partition("UserPromptSubmit hook")[0]
    assert "The website is built with Hugo" in recalled
    assert "Gradle" not in request.text
    assert "mcp__holdfast__memory_search" in request.tools


@requirement("sem.session")
def test_what_the_model_remembers_by_a_tool_belongs_to_its_session_and_project(
    run: Run, environment: dict[str, str], project: Path, memories: Memories, service: object
) -> None:
    connect(environment, project)
    session = "11111111-2222-4333-8444-555555555555"
    tool = Tool(
        "mcp__holdfast__memory_remember", {"content": "Deploys run on Fridays", "category": "decision"}
    )

    run("Remember that", "--session-id", session, "--allowedTools", tool.name, first=[tool])

    [memory] = memories.find().memories
    assert (memory.content, memory.project) == ("Deploys run on Fridays", "website")
    told = memories.why(memory.id).session
    assert told is not None
    assert (told.id, told.client, told.directory) == (session, "claude-code", str(project))


@requirement("sem.tap.hooks", "sem.session")
def test_a_fact_said_in_one_session_is_told_in_the_next(
    run: Run, environment: dict[str, str], project: Path, memories: Memories, service: object
) -> None:
    connect(environment, project)

    run("By the way, our staging server is called Blue Heron", answer="Good to know.")
    wait_for_message(memories, "By the way, our staging server is called Blue Heron")
    request = run("What did I say about our staging server?")

    # As a quotation, or as a memory in the brief if it was captured by then.
    assert "Blue Heron" in injected(request, "SessionStart") + injected(request, "UserPromptSubmit")


@requirement("sem.hook.deadline")
def test_with_the_service_killed_the_session_runs_without_memory(
    run: Run, environment: dict[str, str], project: Path, memories: Memories, service: subprocess.Popen[str]
) -> None:
    memories.remember("The website is built with Hugo", project="website")
    connect(environment, project)
    service.kill()
    service.wait()

    request = run("Which generator builds the website?")

    assert injected(request, "SessionStart").startswith(NO_SERVICE)
    assert injected(request, "UserPromptSubmit") == ""
    assert "Hugo" not in request.text
    assert len(list(Path(environment["HOLDFAST_HOME"], "spool").glob("*.json"))) == 1


@requirement("sem.tap.hooks")
def test_with_the_service_killed_the_brief_that_it_left_is_there(
    run: Run, environment: dict[str, str], project: Path, memories: Memories, service: subprocess.Popen[str]
) -> None:
    memories.remember("The website is built with Hugo", project="website")
    connect(environment, project)
    ready = Path(environment["HOLDFAST_HOME"], "briefs", "default", "website.md")
    # So that the service knows the project: on a busy machine a hook may be too late to tell it.
    wait_until(lambda: bool(run("Hello")) and ready.exists() and "Hugo" in ready.read_text())
    service.kill()
    service.wait()

    brief = injected(run("Which generator builds the website?"), "SessionStart")

    assert "The website is built with Hugo" in brief
    assert NO_SERVICE in brief


def test_a_resumed_session_gets_the_news_and_not_the_brief_again(
    run: Run, environment: dict[str, str], project: Path, memories: Memories, service: object
) -> None:
    memories.remember("The website is built with Hugo", project="website")
    connect(environment, project)
    session = "11111111-2222-4333-8444-555555555555"
    run("Hello", "--session-id", session)
    memories.remember("The cat is called Tom")

    request = run("Go on", "--resume", session)

    told = "\n".join(text for _, text in request.messages)
    assert told.count("The website is built with Hugo") == 1
    assert told.count("The cat is called Tom") == 1


@requirement("sem.tap.hooks")
def test_after_disconnecting_nothing_of_ours_reaches_the_model(
    run: Run, environment: dict[str, str], project: Path, memories: Memories, service: object
) -> None:
    memories.remember("The website is built with Hugo", project="website")
    connect(environment, project)
    connect(environment, project, "disconnect")

    request = run("Which generator builds the website?")

    assert "Hugo" not in request.text
    assert not [tool for tool in request.tools if "holdfast" in tool]


def test_a_package_that_was_removed_does_not_break_sessions(
    claude_code: Path, scripted_model: ScriptedModel, environment: dict[str, str], project: Path
) -> None:
    connect(environment, project)
    for file in (
        Path(environment["HOME"], ".claude", "settings.json"),
        Path(environment["HOME"], ".claude.json"),
    ):
        file.write_text(file.read_text().replace(os.path.dirname(sys.executable), "/nowhere"))
    scripted_model.say("All is well.")

    done = subprocess.run(
        [claude_code, "-p", "Hello", "--output-format", "json"],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        cwd=project,
        env=environment,
    )

    assert done.returncode == 0
    assert json.loads(done.stdout)["result"] == "All is well."


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)  # another process can't be awaited otherwise
