"""What holds whatever happens: quiet where it was asked for, the token stays here, and an end in time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest

from holdfast.agents import capture_off
from holdfast.agents.hooks import command
from holdfast.agents.hooks.command import HookCall, respond
from holdfast.app import client_setup, paths
from tests.agents.hooks.conftest import Hook, Service, announce, spooled
from tests.requirements_ledger import requirement

START = "SessionStart"
PROMPT = "UserPromptSubmit"
CAPTURES = ["Stop", "PreCompact", "SessionEnd"]


def run(event: str, **given: object) -> str:
    """What the command prints, without a process for it."""
    return respond(HookCall([event], {"session_id": "s-1", **given}), monotonic() + 60)


@requirement("trust.quiet")
@pytest.mark.parametrize("how", ["project", "session", "everywhere", "environment", "damaged"])
def test_where_it_is_quiet_nothing_is_handed_over_and_the_session_says_so(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    (tmp_path / "website" / ".git").mkdir(parents=True)
    service.says("- what is known")
    match how:
        case "project":
            capture_off.switch(off=True, project="website")
        case "session":
            capture_off.switch(off=True, session="s-1")
        case "everywhere":
            capture_off.switch(off=True, everywhere=True)
        case "environment":
            monkeypatch.setenv("HOLDFAST_QUIET", "1")
        case _:
            paths.write_private(paths.quiet_file(), b"{")

    started = run(START, source="startup", cwd=str(tmp_path / "website"))
    for event in CAPTURES:
        run(event, cwd=str(tmp_path / "website"), transcript_path="/nowhere")

    [(_, body, _)] = service.asked
    assert body["quiet"] is True
    assert "- what is known" in started
    assert ": nothing from this session is stored.)" in started
    assert spooled() == []


@requirement("trust.quiet")
def test_what_is_switched_on_again_is_captured() -> None:
    capture_off.switch(off=True, session="s-1")
    capture_off.switch(off=False, session="s-1")

    run("Stop", transcript_path="/nowhere")

    assert len(spooled()) == 1


def test_nothing_that_was_said_goes_to_disk() -> None:
    run(PROMPT, prompt="my password is hunter2-hunter2")
    run("Stop", last_assistant_message="your password is hunter2-hunter2", transcript_path="/nowhere")

    kept = b"".join(file.read_bytes() for file in Path(paths.home()).rglob("*") if file.is_file())
    assert b"/nowhere" in kept
    assert b"hunter2" not in kept


@requirement("trust.local")
@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.1:80",
        "https://127.0.0.1:443",
        "http://127.0.0.1.example.com:80",
        "http://user@127.0.0.1:80",
        "http://127.0.0.1",
        "ftp://127.0.0.1:80",
        "",
    ],
)
def test_the_token_goes_nowhere_but_to_loopback(url: str) -> None:
    announce(url)

    run(PROMPT, prompt="When?")

    assert "has no loopback address" in Path(paths.hook_log()).read_text()


@requirement("trust.local")
def test_the_token_does_not_go_to_whoever_took_a_dead_services_port(service: Service) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    announce(f"http://127.0.0.1:{service._server.server_port}", pid=dead.pid)

    assert run(PROMPT, prompt="When?") == ""
    assert service.asked == []


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"rubbish",
        b"[1, 2]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"cwd": 5, "session_id": ["x"]}',
        b"{}",
    ],
)
@pytest.mark.parametrize(
    "event",
    [
        "Stop",
        pytest.param(START, marks=pytest.mark.slow),
        pytest.param(PROMPT, marks=pytest.mark.slow),
        pytest.param("SessionEnd", marks=pytest.mark.slow),
    ],
)
def test_any_input_ends_with_code_0_and_valid_output(hook: Hook, event: str, stdin: bytes) -> None:
    said = hook(event, stdin=stdin)

    assert (said.code, said.err) == (0, b"")
    assert said.context in ("", command.NO_SERVICE)


def test_a_host_that_says_nothing_is_not_waited_for() -> None:
    process = subprocess.Popen(
        [client_setup.command_path("holdfast-hook"), START], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.wait(timeout=60) == 0  # though its input stays open
        assert process.stdout is not None
        assert process.stdout.read() == b""
    finally:
        process.kill()
        process.communicate()
