"""`holdfast run` with agents that are scripts: what they are told, what is kept, what the caller sees."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from holdfast import Memories
from holdfast.testing import FixedClock
from tests.agents.run.script import Script, stream
from tests.cli.conftest import Shell
from tests.requirements_ledger import requirement

SLOW_START = "[MEMORY:timing:jellyfin] Takes 60s to start after restart"


@pytest.fixture
def shell(database_url: str, clock: FixedClock) -> Shell:
    """A space with the profile ops."""
    return Shell(database_url, clock).in_space("ops", "ops")


@pytest.fixture
def agent(tmp_path: Path) -> Script:
    return Script(tmp_path / "agent")


def memories(shell: Shell) -> Memories:
    return Memories.open(shell.db, "ops", clock=shell.clock)


@requirement("ops.run", "ops.brief.injected")
def test_a_run_keeps_what_it_learned_and_the_next_one_is_told(shell: Shell, agent: Script) -> None:
    shell.says("run", "--tier", "1", "--", agent.says("Looking.", f"All is up.\n{SLOW_START}"), "-p", "Check")
    first = agent.was_told()

    shown = shell.says("run", "--tier", "3", "--", agent.says("Fine."), "-p", "Check again")

    second = agent.was_told()
    assert shown == "Fine.\n"
    assert first.startswith("# Your task: observe (tier 1 of 3)")
    assert "Operational Memory" not in first
    assert second.startswith("# Your task: remediate (tier 3 of 3)")
    task, place, brief = (
        second.index(title) for title in ("## Memory Rec", "# Where you are", "## Operational")
    )
    assert task < place < brief
    assert "- [timing] Takes 60s to start after restart (confidence: 0.7)" in second[brief:]


@requirement("ops.brief.empty")
def test_without_a_memory_nothing_is_said_of_memory(shell: Shell, agent: Script) -> None:
    shell.says("run", "--tier", "2", "--", agent.says("x"), "-p", "Check")

    assert agent.was_told().endswith(f"- Directory: {Path.cwd()}")


@requirement("ops.run", "ops.decay.idempotent")
def test_what_nobody_confirmed_fades_before_the_agent_is_told(
    shell: Shell, agent: Script, clock: FixedClock
) -> None:
    shell.says("run", "--tier", "1", "--", agent.says(SLOW_START), "-p", "Check")
    clock.advance(days=44)

    shell.says("run", "--tier", "1", "--", agent.says("x"), "-p", "Check")

    assert "(confidence: 0.5)" in agent.was_told()


@requirement("ops.brief.service")
def test_the_service_that_is_asked_for_comes_first(shell: Shell, agent: Script) -> None:
    shell.remembers("Takes 60s", "-c", "timing", "-s", "adguard", "--confidence", "0.9")
    shell.remembers("Needs the disk", "-c", "dependency", "-s", "zigbee")

    shell.says("run", "--tier", "2", "--service", "zigbee", "--", agent.says("x"), "-p", "Check")

    told = agent.was_told()
    assert told.index("### zigbee") < told.index("### adguard")
    assert "- Service to look at first: zigbee" in told


@requirement("ops.cooldowns")
def test_an_action_that_was_taken_too_often_is_named(shell: Shell, agent: Script, clock: FixedClock) -> None:
    restarted = "[COOLDOWN:restart:caddy] failure - still down"
    shell.says("run", "--tier", "3", "--", agent.says(restarted, restarted), "-p", "Repair")

    shell.says("run", "--tier", "3", "--", agent.says("x"), "-p", "Repair")

    until = clock.now() + timedelta(hours=4)
    assert (
        f"- restart of caddy (2 within 4 hours, at most 2), until {until:%Y-%m-%d %H:%M} UTC"
        in agent.was_told()
    )


@requirement("ops.run")
@pytest.mark.parametrize("code", [0, 1, 2, 42, 255])
def test_the_exit_code_is_the_agents_and_is_kept(shell: Shell, agent: Script, code: int) -> None:
    result = shell("run", "--", agent.says(SLOW_START, code=code), "-p", "Check")

    assert result.exit_code == code
    with memories(shell) as opened:
        session = opened.why(opened.find().memories[0].id).session
    assert session is not None
    assert session.exit_code == code
    assert session.ended_at is not None
    assert session.usage == {"cost_usd": 0.25, "input_tokens": 10, "output_tokens": 5}


@requirement("ops.run")
@pytest.mark.parametrize(
    "output",
    [
        stream("One", SLOW_START),
        stream("One").removesuffix(b"\n"),
        stream("One").replace(b"\n", b"\r\n"),
        b"\xff\xfe\x00 no json at all \n\n\n",
        b"",
        b"\n" * 1000,
        stream("x" * 300_000),
        b"no line end",
    ],
)
def test_a_stream_that_the_caller_asked_for_passes_byte_for_byte(
    shell: Shell, agent: Script, output: bytes
) -> None:
    command = (agent.prints(output), "-p", "x", "--output-format", "stream-json", "--verbose")

    result = shell("run", "--tier", "1", "--", *command)

    assert result.stdout_bytes == output
    assert result.stderr == ""


def test_the_agent_finds_the_same_memory_in_its_environment(shell: Shell, agent: Script) -> None:
    shell.says("run", "--name", "nightly", "--", agent.says(SLOW_START), "-p", "Check")

    found = agent.variables()
    with memories(shell) as opened:
        session = opened.why(opened.find().memories[0].id).session
    assert session is not None
    assert (found["HOLDFAST_DB"], found["HOLDFAST_SPACE"]) == (shell.db, "ops")
    assert found["HOLDFAST_SESSION"] == session.id == agent.words()[-1]
    assert session.name == "nightly"


@requirement("scope.project")
def test_the_project_is_the_git_roots_name(
    shell: Shell, agent: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "website" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "website")

    shell.says("run", "--", agent.says(SLOW_START), "-p", "Check")

    with memories(shell) as opened:
        memory = opened.find().memories[0]
        session = opened.why(memory.id).session
    assert session is not None
    assert (session.project, session.directory) == ("website", str(tmp_path / "website"))
    assert memory.project is None  # what is known of a service holds everywhere


@requirement("trust.quiet")
def test_capture_can_be_left_out(shell: Shell, agent: Script) -> None:
    shell.remembers("Takes 60s", "-c", "timing", "-s", "loki")

    by_option = shell("run", "--tier", "1", "--no-capture", "--", agent.says(SLOW_START), "-p", "Check")
    told = agent.was_told()

    assert by_option.exit_code == 0
    assert "Takes 60s" in told
    assert "Memory Recording" not in told
    assert shell.json("list")["total"] == 1


@requirement("trust.quiet")
def test_where_capture_is_off_nothing_is_kept_and_it_is_said(
    shell: Shell, agent: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_QUIET", "1")

    result = shell("run", "--tier", "1", "--", agent.says(SLOW_START), "-p", "Check")

    assert result.exit_code == 0
    assert result.stderr == "holdfast: nothing is recorded: HOLDFAST_QUIET is set\n"
    assert shell.json("list")["total"] == 0


def test_claude_is_the_agent_where_only_options_are_given(
    shell: Shell, agent: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.says("Here.")
    monkeypatch.setenv("PATH", f"{agent.folder}:/usr/bin:/bin")

    assert shell.says("run", "--tier", "1", "--", "-p", "Check") == "Here.\n"
    assert agent.words()[:2] == ["-p", "Check"]


def test_the_two_dashes_may_be_left_out(shell: Shell, agent: Script) -> None:
    assert (
        shell.says("run", "--tier", "1", agent.says("Here."), "-p", "Check", "--model", "opus") == "Here.\n"
    )
    assert agent.words()[:4] == ["-p", "Check", "--model", "opus"]


@pytest.mark.parametrize("name", ["agent.sh", "claude"])
def test_an_agent_may_print_plain_text(shell: Shell, tmp_path: Path, name: str) -> None:
    plain = Script(tmp_path / "plain", name)
    output = f"All is up.\n```\n[MEMORY:timing] in code\n```\n{SLOW_START}".encode()

    result = shell("run", "--tier", "1", "--agent", "plain", "--", plain.prints(output))

    assert result.stdout_bytes == output
    assert [memory["subject"] for memory in shell.json("list")["memories"]] == ["jellyfin"]
    assert plain.variables()["HOLDFAST_PROMPT"].startswith("# Your task: observe")


def test_codex_is_read_by_its_own_format(shell: Shell, tmp_path: Path) -> None:
    codex = Script(tmp_path / "bin", "codex")
    output = (
        b'{"type":"thread.started","thread_id":"t"}\n'
        b'{"type":"item.completed","item":{"type":"command_execution","aggregated_output":"Runs at 3 am"}}\n'
        b'{"type":"item.completed","item":{"type":"agent_message","text":"[MEMORY:timing] Runs at 3 am"}}\n'
        b'{"type":"item.completed","item":{"type":"agent_message","text":"[MEMORY:timing:x] Is slow"}}\n'
        b'{"type":"turn.completed","usage":{"input_tokens":3,"output_tokens":2}}\n'
    )

    shown = shell.says("run", "--tier", "1", "--", codex.prints(output), "exec", "Check")

    assert shown == "[MEMORY:timing:x] Is slow\n"
    assert [memory["content"] for memory in shell.json("list")["memories"]] == ["Is slow"]
    assert [item["memory"]["content"] for item in shell.json("inbox")["waiting"]] == ["Runs at 3 am"]
    assert codex.words()[:3] == ["exec", "--json", "-c"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--", "claude", "Check"), "add -p"),
        (("run", "--", "vim"), "unknown agent 'vim'"),
        (("run", "--tier", "4", "--", "claude", "-p", "x"), "4 is not in the range"),
        (("run", "--prompts", "nowhere", "--", "claude", "-p", "x"), "there is no folder 'nowhere'"),
        (("run", "--agent", "vim", "--", "claude", "-p", "x"), "is not one of"),
    ],
)
def test_wrong_usage_is_told_before_anything_runs(
    shell: Shell, arguments: tuple[str, ...], said: str
) -> None:
    result = shell(*arguments)

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_agent_that_is_not_there_has_a_shells_exit_code(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "claude"
    folder.mkdir()

    missing = shell("run", "--", str(tmp_path / "nowhere" / "claude"), "-p", "x")
    no_program = shell("run", "--", str(folder), "-p", "x")

    assert (missing.exit_code, no_program.exit_code) == (127, 126)
    assert "can't be run: No such file or directory" in missing.stderr
