"""The real `holdfast-hook` command: what it asks, what it prints, and what it does without a service."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.agents.hooks import command
from holdfast.app import client_setup, paths
from tests.agents.hooks.conftest import PATIENCE, TOKEN, Hook, Service, announce, keep_brief, spooled
from tests.requirements_ledger import requirement

pytestmark = pytest.mark.slow  # a process for each run

START = "SessionStart"
PROMPT = "UserPromptSubmit"
BESIDE = command.BESIDE.format(file="CLAUDE.md")
CAPTURES = ["Stop", "PreCompact", "SessionEnd"]


# --------------------------------------------------------------------------------------- with a service


@requirement("sem.tap.hooks")
@pytest.mark.parametrize("event", [START, PROMPT])
def test_what_the_service_answers_is_added_to_the_conversation(
    hook: Hook, service: Service, event: str
) -> None:
    service.says("## Memory\n\n- Deploys run on Fridays 🎈")

    said = hook(event, prompt="When do deploys run?", source="startup")

    assert (said.code, said.err) == (0, b"")
    beside = f"\n\n{BESIDE}" if event == START else ""
    assert said.context == f"## Memory\n\n- Deploys run on Fridays 🎈{beside}"
    assert json.loads(said.out)["hookSpecificOutput"]["hookEventName"] == event


@requirement("sem.tap.hooks", "trust.local")
def test_the_service_is_told_what_the_host_said_where_it_is_and_until_when(
    hook: Hook, service: Service, tmp_path: Path
) -> None:
    (tmp_path / "website" / ".git").mkdir(parents=True)

    hook(PROMPT, "--client", "codex", "--space=work", prompt="Hello?", cwd=str(tmp_path / "website"))

    [(path, body, headers)] = service.asked
    assert path == "/hooks/UserPromptSubmit"
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert headers["Content-Type"] == "application/json"
    assert headers["Host"].startswith("127.0.0.1:")
    deadline = body.pop("deadline_ms")
    assert 0 < deadline <= 1_000 * PATIENCE
    assert command.FOR_THE_SERVICE < command.WHOLE < 1
    assert body == {
        "session_id": "s-1",
        "cwd": str(tmp_path / "website"),
        "hook_event_name": PROMPT,
        "prompt": "Hello?",
        "client": "codex",
        "space": "work",
        "project": "website",
        "quiet": False,
    }


@pytest.mark.parametrize(
    ("host_event", "meaning"),
    [("BeforeAgent", PROMPT), ("AfterAgent", "Stop"), ("PreCompress", "PreCompact")],
)
def test_hosts_with_other_names_for_the_same_are_understood(
    hook: Hook, service: Service, host_event: str, meaning: str
) -> None:
    service.says("a memory")

    said = hook(host_event, "--client", "gemini", prompt="Hello?")

    assert service.asked[0][0] == f"/hooks/{meaning}"
    if said.out:
        assert json.loads(said.out)["hookSpecificOutput"]["hookEventName"] == host_event


@pytest.mark.parametrize("event", CAPTURES)
def test_a_transcript_is_handed_to_the_service_with_its_length(
    hook: Hook, service: Service, tmp_path: Path, event: str
) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("{}\n" * 5)

    said = hook(event, transcript_path=str(transcript))

    [(path, body, _)] = service.asked
    assert (said.code, said.out, said.err) == (0, b"", b"")
    assert path == f"/hooks/{event}"
    assert (body["transcript_path"], body["offset"]) == (str(transcript), 15)
    assert spooled() == []


def test_a_prompt_of_megabytes_is_cut_to_its_ends(hook: Hook, service: Service) -> None:
    hook(PROMPT, prompt="begin " + "x" * 3_000_000 + " end")

    sent = service.asked[0][1]["prompt"]
    assert sent.startswith("begin ")
    assert sent.endswith(" end")
    assert len(sent) < 40_000


# ------------------------------------------------------------------------------------- without a service


@requirement("sem.hook.deadline")
def test_without_a_service_a_ready_made_brief_and_how_to_start_it(hook: Hook, tmp_path: Path) -> None:
    (tmp_path / "website" / ".git").mkdir(parents=True)
    keep_brief("- of no project")
    keep_brief("- of the website", project="website")

    here = hook(START, source="startup", cwd=str(tmp_path / "website"))
    elsewhere = hook(START, source="clear", cwd=str(tmp_path))

    assert here.context == f"- of the website\n\n{BESIDE}\n{command.NO_SERVICE}"
    assert elsewhere.context == f"- of no project\n\n{BESIDE}\n{command.NO_SERVICE}"
    assert "`holdfast up`" in command.NO_SERVICE


def test_a_project_without_a_brief_of_its_own_gets_what_holds_for_all(hook: Hook, tmp_path: Path) -> None:
    (tmp_path / "website" / ".git").mkdir(parents=True)
    keep_brief("- of no project")

    assert "- of no project" in hook(START, source="startup", cwd=str(tmp_path / "website")).context


def test_the_brief_of_another_space_is_not_shown(hook: Hook) -> None:
    keep_brief("- of the usual space")

    assert hook(START, "--space", "work", source="startup").context == command.NO_SERVICE
    assert hook(START, source="startup", env={"HOLDFAST_SPACE": "work"}).context == command.NO_SERVICE


def test_without_a_service_a_resumed_session_and_a_prompt_get_nothing(hook: Hook) -> None:
    keep_brief("- of no project")

    assert hook(START, source="resume").out == b""
    assert hook(PROMPT, prompt="When?").out == b""


@requirement("sem.hook.deadline")
@pytest.mark.parametrize("event", CAPTURES)
def test_without_a_service_the_transcript_is_noted_down_for_later(
    hook: Hook, tmp_path: Path, event: str
) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("{}\n")

    said = hook(event, transcript_path=str(transcript), last_assistant_message="a secret", reason="other")

    [entry] = spooled()
    assert (said.code, said.out, said.err) == (0, b"", b"")
    assert entry.pop("at") > 0
    assert entry == {
        "event": event,
        "session_id": "s-1",
        "transcript_path": str(transcript),
        "offset": 3,
        "cwd": str(tmp_path),
        "client": "claude-code",
        "reason": "other",
    }


def test_why_there_was_no_service_stands_in_a_short_log(hook: Hook) -> None:
    announce("http://127.0.0.1:1")
    Path(paths.hook_log()).write_text("x" * 100_000)

    hook(PROMPT, prompt="When?")

    assert "ConnectionRefusedError" in Path(paths.hook_log()).read_text()
    assert Path(paths.hook_log()).stat().st_size < 1_000


def test_a_machine_without_our_data_gets_no_folder_from_a_prompt(hook: Hook) -> None:
    hook(PROMPT, prompt="When?")

    assert not Path(paths.home()).exists()


@pytest.mark.parametrize("arguments", [[], ["Nonsense"], ["--client"], ["--space", "x"], ["PreToolUse"]])
def test_any_arguments_end_with_code_0(arguments: list[str]) -> None:
    done = subprocess.run(
        [client_setup.command_path("holdfast-hook"), *arguments], input=b"{}", capture_output=True
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_without_an_argument_the_host_says_which_event_it_is(service: Service) -> None:
    service.says("a memory")

    done = subprocess.run(
        [client_setup.command_path("holdfast-hook")],
        input=json.dumps({"hook_event_name": START, "source": "startup"}).encode(),
        capture_output=True,
    )

    assert b"a memory" in done.stdout


def test_a_host_that_leaves_the_input_open_is_answered_all_the_same(service: Service) -> None:
    service.says("a memory")
    process = subprocess.Popen(
        [client_setup.command_path("holdfast-hook"), START], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None

    process.stdin.write(b'{"source": "startup", "session_id": "s"}')
    process.stdin.flush()
    out = process.stdout.read()

    assert b"a memory" in out
    assert process.wait(timeout=60) == 0
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize("redirection", ["<&-", ">&-", "<&- >&- 2>&-", ">/dev/full"])
def test_closed_or_full_streams_are_survived(service: Service, redirection: str) -> None:
    service.says("a memory")
    line = f"echo '{{}}' | '{client_setup.command_path('holdfast-hook')}' SessionStart {redirection}"

    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE)

    assert (done.returncode, done.stderr) == (0, b"")


def test_only_the_standard_library_is_loaded_and_little_of_it() -> None:
    source = Path(command.__file__).parents[3]
    program = (
        f"import sys; sys.path.insert(0, {str(source)!r})\n"
        "import holdfast.agents.hooks.command\n"
        "print(*sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )

    loaded = set(done.stdout.split())
    ours = {name for name in loaded if name.split(".")[0] == "holdfast"}
    outer = {
        "holdfast",
        "holdfast.app.paths",
        "holdfast.agents.capture_off",
        "holdfast.agents",
        "holdfast.app",
        "holdfast.agents.hooks",
    }
    assert ours == outer | {
        f"holdfast.agents.hooks.{part}" for part in ("command", "events", "service", "spool")
    }
    assert {name.split(".")[0] for name in loaded - ours} <= sys.stdlib_module_names | {"__main__"}
    slow = {
        "typing",
        "dataclasses",
        "pathlib",
        "http.client",
        "urllib.request",
        "asyncio",
        "sqlite3",
        "logging",
    }
    assert not loaded & slow
