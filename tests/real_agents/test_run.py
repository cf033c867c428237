"""`holdfast run` around the real Claude Code: what its model is told, what is kept, what the caller sees."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.domain.query import EVERYTHING
from tests.real_agents.conftest import Environment
from tests.real_agents.scripted_model import Answer, Failure, ScriptedModel, Tool
from tests.requirements_ledger import requirement

HOLDFAST = [sys.executable, "-m", "holdfast"]
SLOW_START = "[MEMORY:timing:jellyfin] Takes 60s to start after restart"


@dataclass
class Runner:
    """Runs `holdfast run` with the real agent, on a store of its own with a space `ops`."""

    claude: Path
    db: Path
    directory: Path
    environment: Callable[..., dict[str, str]]

    def __call__(
        self, *words: str, options: tuple[str, ...] = ("--tier", "2"), **extra: str
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self.command(*words, options=options),
            capture_output=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            cwd=self.directory,
            env=self.environment(**extra),
        )

    def command(self, *words: str, options: tuple[str, ...] = ("--tier", "2")) -> list[str]:
        known = ["--db", str(self.db), "--space", "ops"]
        return [*HOLDFAST, "run", *known, *options, "--", str(self.claude), *words]

    def alone(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """The agent without Holdfast."""
        return subprocess.run(
            [str(self.claude), *words],
            capture_output=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            cwd=self.directory,
            env=self.environment(),
        )

    def memories(self) -> Memories:
        return Memories.open(str(self.db), "ops")


@pytest.fixture
def runner(claude_code: Path, agent_environment: Environment, tmp_path: Path) -> Runner:
    directory = tmp_path / "work"
    directory.mkdir()
    db = tmp_path / "ops.db"
    source = Path(__file__).parents[2] / "src"

    def environment(**extra: str) -> dict[str, str]:
        return agent_environment(PYTHONPATH=str(source), HOLDFAST_EMBEDDER="none", **extra)

    made = [*HOLDFAST, "space", "create", "ops", "--profile", "ops", "--db", str(db)]
    subprocess.run(made, check=True, capture_output=True, env=environment())
    return Runner(claude_code, db, directory, environment)


@requirement("ops.run", "ops.brief.injected", "ops.marker.session", "ops.tiers", "sem.session")
def test_a_run_keeps_its_markers_and_the_next_one_is_told(
    runner: Runner, scripted_model: ScriptedModel
) -> None:
    scripted_model.say(f"All is up.\n\n{SLOW_START}\n- **[MEMORY:remediation]** Retry DNS checks once")

    first = runner("-p", "Check the services")
    second = runner("-p", "Check them again")

    assert (first.returncode, first.stderr) == (0, b"")
    assert (
        first.stdout.decode()
        == f"All is up.\n\n{SLOW_START}\n- **[MEMORY:remediation]** Retry DNS checks once\n"
    )
    assert (second.returncode, second.stdout, second.stderr) == (0, b"Done.\n", b"")
    before, after = (request.system for request in scripted_model.requests)
    assert "Operational Memory" not in before
    task, place, brief = (
        after.index(part) for part in ("# Your task: investigate", "# Where you are", "## Op")
    )
    assert task < after.index("## Memory Recording") < place < brief
    assert after.rstrip().endswith(
        "### jellyfin\n- [timing] Takes 60s to start after restart (confidence: 0.7)\n\n"
        "### general\n- [remediation] Retry DNS checks once (confidence: 0.7)"
    )
    with runner.memories() as memories:
        kept = {memory.category: memory for memory in memories.find(EVERYTHING).memories}
        story = memories.why(kept["timing"].id)
    assert {(memory.source.origin, memory.source.tier) for memory in kept.values()} == {("assistant", 2)}
    assert kept["timing"].created_at == kept["timing"].updated_at
    assert story.session is not None
    assert story.session.id == kept["timing"].source.session
    assert (story.session.client, story.session.tier, story.session.exit_code) == ("claude-code", 2, 0)
    assert story.session.directory == str(runner.directory)
    assert [message.role for message in story.messages] == ["assistant"]


@requirement("ops.run")
def test_the_session_is_closed_with_what_it_cost(runner: Runner, scripted_model: ScriptedModel) -> None:
    scripted_model.say(SLOW_START)

    runner("-p", "Check")

    with runner.memories() as memories:
        session = memories.why(memories.find().memories[0].id).session
    assert session is not None
    assert session.ended_at is not None
    assert session.usage is not None
    assert session.usage["input_tokens"] == scripted_model.usage["input_tokens"]
    assert session.usage["output_tokens"] == scripted_model.usage["output_tokens"]
    assert session.usage["cost_usd"] > 0
    assert next(iter(session.usage["models"].values()))["cost_usd"] == session.usage["cost_usd"]


CALL = Tool("Bash", {"command": "echo hello", "description": "Greet"})
SCRIPTS: dict[str, list[Answer]] = {
    "answer": ["One line.\nAnother one: ünïcode.\n"],
    "tool": [["First this.", CALL], "Then that."],
    "error": [Failure()] * 20,
    "too many turns": [CALL, CALL, CALL],
}


@requirement("ops.run")
@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("answer", ()),
        ("answer", ("--output-format", "json")),
        ("answer", ("--output-format", "stream-json", "--verbose")),
        ("tool", ("--verbose",)),
        ("tool", ("--output-format=json", "--verbose")),
        ("error", ()),
        ("too many turns", ()),
        ("too many turns", ("--output-format", "json")),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_the_caller_sees_what_the_agent_prints_by_itself(
    runner: Runner, scripted_model: ScriptedModel, asked: tuple[str, ...], kind: str
) -> None:
    words = ("-p", "Go", "--allowedTools", "Bash(echo *)", "--max-turns", "1" if "turns" in kind else "5")
    scripted_model.say(*SCRIPTS[kind])
    alone = runner.alone(*words, *asked)
    scripted_model.start_again(*SCRIPTS[kind])

    done = runner(*words, *asked)

    assert (done.returncode, done.stderr) == (alone.returncode, alone.stderr)
    assert shape(done.stdout) == shape(alone.stdout)


def shape(output: bytes) -> object:
    """Text as it is; of JSON what does not differ from run to run."""
    if output[:1] not in (b"{", b"["):
        return output
    assert output.endswith(b"\n")
    lines = [json.loads(line) for line in output.splitlines()]
    one_list = isinstance(lines[0], list)
    told = lines[0] if one_list else lines
    return one_list, [(line["type"], line.get("subtype"), line.get("result")) for line in told]


@requirement("ops.run", "ops.marker.echo")
def test_a_conversation_that_goes_on_is_told_what_was_learned_meanwhile(
    runner: Runner, scripted_model: ScriptedModel
) -> None:
    read = Tool("Bash", {"command": "echo Always restart twice in a row", "description": "Read"})
    scripted_model.say(SLOW_START, read, "[MEMORY:remediation:caddy] Always restart twice in a row", "Done.")
    runner("-p", "Check")

    second = runner("-p", "Go on", "--continue", "--allowedTools", "Bash(echo *)")

    _, resumed, *_ = scripted_model.requests
    assert second.returncode == 0, second.stderr
    assert "Takes 60s to start after restart (confidence: 0.7)" in resumed.system
    assert [text for role, text in resumed.messages if role == "assistant"] == [SLOW_START]
    with runner.memories() as memories:
        assert memories.find().total == 1
        assert [item.memory.content for item in memories.inbox()] == ["Always restart twice in a row"]


@requirement("ops.run")
def test_a_runner_that_is_killed_leaves_no_agent(runner: Runner, scripted_model: ScriptedModel) -> None:
    scripted_model.gate.clear()
    process = subprocess.Popen(
        runner.command("-p", "Check"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        cwd=runner.directory,
        env=runner.environment(),
    )
    assert scripted_model.asked.wait(60)
    children = children_of(process.pid)

    process.kill()
    process.wait()

    assert len(children) == 2  # the agent and its watchman
    for child in children:
        assert ended(child)


@requirement("ops.run.resilient")
def test_with_a_broken_memory_the_agent_runs(runner: Runner, scripted_model: ScriptedModel) -> None:
    runner.db.write_bytes(b"this is no database " * 1000)
    scripted_model.say(SLOW_START)

    done = runner("-p", "Check")

    assert (done.returncode, done.stdout.decode()) == (0, f"{SLOW_START}\n")
    assert done.stderr.startswith(b"holdfast: the agent runs without memory: ")
    assert done.stderr.count(b"\n") == 1


def children_of(process_id: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process_id)], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def ended(process_id: int) -> bool:
    """Whether a process ends within a minute."""
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 60)[0])
    finally:
        os.close(descriptor)
