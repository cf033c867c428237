"""The decisions of the hook command, without a process for each: what it asks for and what it does alone."""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from holdfast.agents.hooks import command
from holdfast.agents.hooks.command import (
    BESIDE,
    BROKEN_SERVICE,
    NO_SERVICE,
    SLOW_SERVICE,
    HookCall,
    respond,
)
from holdfast.agents.hooks.service import NoAnswer, ask
from holdfast.app import paths
from tests.agents.hooks.conftest import Service, announce, keep_brief, spooled
from tests.requirements_ledger import requirement

BESIDE_CLAUDE = BESIDE.format(file="CLAUDE.md")


def told(event: str, *options: str, **given: Any) -> str:
    """The text for the conversation."""
    printed = respond(HookCall([event, *options], given), monotonic() + 60)
    return json.loads(printed)["hookSpecificOutput"]["additionalContext"] if printed else ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["Stop"], ("Stop", "claude-code", "")),
        (["Stop", "--client", "codex", "--space", "work"], ("Stop", "codex", "work")),
        (["--space=work", "Stop"], ("Stop", "claude-code", "work")),
        (["--client"], ("PreCompact", "", "")),
        ([], ("PreCompact", "claude-code", "")),
    ],
)
def test_arguments_are_read_in_any_order(arguments: list[str], expected: tuple[str, str, str]) -> None:
    asked = HookCall(arguments, {"hook_event_name": "PreCompact"})

    assert (asked.host_event, asked.client, asked.space) == expected


def test_the_answer_of_the_service_is_told(service: Service) -> None:
    service.says("- a memory")

    assert told("SessionStart", source="startup") == f"- a memory\n\n{BESIDE_CLAUDE}"
    assert told("SessionStart", source="resume") == "- a memory"
    assert told("UserPromptSubmit", prompt="When?") == "- a memory"
    assert told("Stop", session_id="s") == ""
    assert told("PostToolUse") == ""
    assert [path for path, _, _ in service.asked] == [
        "/hooks/SessionStart",
        "/hooks/SessionStart",
        "/hooks/UserPromptSubmit",
        "/hooks/Stop",
    ]


@requirement("brief.rules")
@pytest.mark.parametrize(
    ("client", "file"), [("claude-code", "CLAUDE.md"), ("codex", "AGENTS.md"), ("gemini", "GEMINI.md")]
)
def test_a_client_is_told_how_the_brief_stands_beside_its_own_files(
    service: Service, client: str, file: str
) -> None:
    service.says("- a memory")
    beside = BESIDE.format(file=file)

    assert told("SessionStart", "--client", client, source="startup") == f"- a memory\n\n{beside}"
    assert file not in told("SessionStart", "--client", "another", source="startup")
    service.says("")
    assert told("SessionStart", "--client", client, source="startup") == ""


def test_a_session_that_the_runner_has_briefed_is_not_briefed_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.says("- a memory")
    monkeypatch.setenv("HOLDFAST_SESSION", "run-1")

    assert told("SessionStart", source="startup", session_id="run-1") == ""
    assert told("UserPromptSubmit", prompt="When?", session_id="run-1") == "- a memory"
    assert told("SessionStart", source="startup", session_id="another").startswith("- a memory\n")


@pytest.mark.parametrize(
    ("status", "answer"),
    [(500, b"{}"), (200, b"no json"), (200, b"[]"), (200, b'{"context": null}'), (404, b'{"context": "x"}')],
)
def test_an_answer_that_cannot_be_used_is_none(service: Service, status: int, answer: bytes) -> None:
    service.answers = lambda event, body: (status, answer)
    keep_brief("- the brief")

    assert told("SessionStart", source="startup") == f"- the brief\n\n{BESIDE_CLAUDE}\n{BROKEN_SERVICE}"
    assert told("UserPromptSubmit", prompt="When?") == ""
    told("SessionEnd", session_id="s-9", reason="exit")
    assert [entry["session_id"] for entry in spooled()] == ["s-9"]


def test_an_answer_that_comes_too_late_is_none(service: Service) -> None:
    service.says("- too late")

    printed = respond(HookCall(["UserPromptSubmit"], {"prompt": "When?"}), monotonic() - 1)

    assert printed == ""
    assert "TimeoutError" in Path(paths.hook_log()).read_text()


def test_a_service_of_another_database_is_not_asked_and_the_note_waits_for_the_right_one(
    service: Service,
) -> None:
    service.says("- of the other database")
    keep_brief("- of the other database too")
    paths.write_private(paths.briefs_database(), b"/srv/holdfast.db")

    def runs(db: str, event: str) -> str:
        given: dict[str, object] = {"session_id": "s-1", "source": "startup"}
        return respond(HookCall([event, "--db", db], given), monotonic() + 60)

    assert NO_SERVICE in runs("/srv/team.db", "SessionStart")
    assert "of the other database" not in runs("/srv/team.db", "SessionStart")
    runs("/srv/team.db", "Stop")
    assert service.asked == []
    assert [entry["db"] for entry in spooled()] == ["/srv/team.db"]
    assert "of the other database" in runs("/srv/holdfast.db", "SessionStart")


def test_a_slow_service_is_not_called_one_that_does_not_run(service: Service) -> None:
    service.says("- too late")

    printed = respond(HookCall(["SessionStart"], {"source": "startup"}), monotonic() - 1)

    assert json.loads(printed)["hookSpecificOutput"]["additionalContext"] == SLOW_SERVICE
    assert "not running" not in printed


def test_the_log_tells_a_missing_a_slow_and_a_failing_service_apart(service: Service) -> None:
    service.answers = lambda event, body: (503, b"{}")
    respond(HookCall(["SessionStart"], {}), monotonic() + 60)
    respond(HookCall(["SessionStart"], {}), monotonic() - 1)
    os.unlink(paths.service_file())
    absent = told("SessionStart", source="startup")

    log = Path(paths.hook_log()).read_text().splitlines()
    assert [line.split()[2] for line in log] == ["Unusable:", "Slow:", "NotRunning:"]
    assert absent == NO_SERVICE


@pytest.mark.parametrize(
    "file", [b"", b"[]", b"{}", b"\xff", b'{"url": 5, "pid": 1}', b'{"url": "http://[::1]:x"}']
)
def test_a_damaged_announcement_means_a_service_that_cannot_be_asked(file: bytes) -> None:
    announce("http://127.0.0.1:9")
    paths.write_private(paths.service_file(), file)

    assert told("SessionStart", source="startup") == BROKEN_SERVICE


def test_a_token_that_cannot_be_read_means_a_service_that_cannot_be_asked(service: Service) -> None:
    os.unlink(paths.token_file())

    assert told("SessionStart", source="startup") == BROKEN_SERVICE
    assert service.asked == []


def test_the_service_may_listen_on_the_other_loopback() -> None:
    announce("http://[::1]:9")

    with pytest.raises(NoAnswer, match=r"Connection refused|Cannot assign|not supported"):
        ask("Stop", {}, monotonic() + 60)


def test_the_age_of_the_process_is_known() -> None:
    assert 0 <= command._age() < command.WHOLE
