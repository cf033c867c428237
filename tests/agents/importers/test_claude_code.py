"""Claude Code's transcripts: only what a person typed and what the model answered."""

from __future__ import annotations

import json
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.importers import claude_code, transcript
from holdfast.agents.importers.claude_code import read_from
from holdfast.agents.importers.transcript import TranscriptPart
from tests.agents.importers.written import SAMPLES, SESSION, claude_line, write
from tests.requirements_ledger import requirement

ANSWER = "[MEMORY:timing:jellyfin] Takes 60s to start after restart"


def said(reading: TranscriptPart) -> list[tuple[str, str]]:
    return [(one.role, one.text) for talk in reading.conversations for one in talk.messages]


def read_lines(tmp_path: Path, *written: dict[str, Any] | str) -> TranscriptPart:
    return read_from(write(tmp_path / "session.jsonl", *written))


@requirement("sem.tap.logs", "trust.loop")
def test_a_real_transcript_gives_what_was_typed_and_answered_and_counts_the_rest() -> None:
    file = SAMPLES / "claude_code_resumed_compacted.jsonl"

    found = read_from(file)

    assert said(found) == [
        ("user", "STUB:toolsearch STUB:mcp STUB:bash Alec is my boss by the way"),
        ("assistant", f"Stub answer after 3 tool calls. {ANSWER}"),
        ("user", "What do you know?"),
        ("assistant", f"Stub answer after 0 tool calls. {ANSWER}"),
        ("user", "after compact"),
        ("assistant", f"Stub answer after 0 tool calls. {ANSWER}"),
    ]
    assert found.next_offset == file.stat().st_size
    assert (found.skipped["attachment"], found.skipped["tool result"], found.skipped["api-request"]) == (
        37,
        3,
        6,
    )
    total = len(file.read_text(encoding="utf-8").splitlines())
    assert sum(found.skipped.values()) + len(said(found)) == total


@requirement("sem.session")
def test_a_session_has_its_hosts_id_client_directory_project_and_times() -> None:
    [talk] = read_from(SAMPLES / "claude_code_resumed_compacted.jsonl").conversations

    assert (talk.session, talk.client) == ("aaaaaaaa-1111-4222-8333-444444444444", "claude-code")
    assert (talk.directory, talk.project) == ("/srv/user/proj", "proj")
    assert talk.started_at == datetime(2026, 11, 15, 7, 7, 52, 720_000, tzinfo=UTC)
    assert talk.ended_at == datetime(2026, 11, 15, 7, 8, 0, 914_000, tzinfo=UTC)
    assert talk.messages[0].id == "29054668-1b33-4177-9de2-6d0519c76143"
    assert talk.messages[0].said_at == talk.started_at


def test_what_a_subagent_was_told_and_said_is_no_source() -> None:
    parent = read_from(SAMPLES / "claude_code_with_subagent.jsonl")
    own = read_from(SAMPLES / "claude_code_subagent.jsonl")

    assert said(parent) == [
        ("user", "STUB:agent delegate this"),
        ("assistant", f"Stub answer after 1 tool calls. {ANSWER}"),
    ]
    assert said(own) == []
    assert own.skipped["subagent"] == 2


NO_SOURCES = {
    "subagent": claude_line("user", "CANARY", isSidechain=True),
    "meta": claude_line("user", "CANARY", isMeta=True),
    "summary": claude_line("user", "CANARY", isCompactSummary=True),
    "older summary": claude_line(
        "user", "This session is being continued from a previous conversation that ran out. CANARY"
    ),
    "tool result": claude_line(
        "user", [{"type": "tool_result", "content": "CANARY"}, {"type": "text", "text": "CANARY"}]
    ),
    "result beside": claude_line("user", "CANARY", toolUseResult={"stdout": "CANARY"}),
    "reminder": claude_line("user", "<system-reminder>CANARY</system-reminder>"),
    "unclosed reminder": claude_line("user", "<system-reminder>\nCANARY"),
    "command": claude_line("user", "<command-name>/x</command-name>\n<command-args>CANARY</command-args>"),
    "command output": claude_line("user", "<local-command-stdout>CANARY</local-command-stdout>"),
    "shell": claude_line("user", "<bash-input>ls</bash-input><bash-stdout>CANARY</bash-stdout>"),
    "hook feedback": claude_line("user", "Stop hook feedback:\nCANARY"),
    "task": claude_line("user", "CANARY", origin={"kind": "task-notification"}),
    "thinking": claude_line("assistant", [{"type": "thinking", "thinking": "CANARY"}]),
    "tool use": claude_line("assistant", [{"type": "tool_use", "input": {"text": "CANARY"}}]),
    "error": claude_line("assistant", [{"type": "text", "text": "CANARY"}], isApiErrorMessage=True),
    "attachment": {"type": "attachment", "sessionId": SESSION, "attachment": {"content": "CANARY"}},
    "queue": {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION, "content": "CANARY"},
    "unknown": {"type": "from-the-future", "sessionId": SESSION, "text": "CANARY"},
    "no type": {"sessionId": SESSION, "message": {"role": "user", "content": "CANARY"}},
    "picture": claude_line("user", [{"type": "image", "source": {"data": "CANARY"}}]),
}


@requirement("trust.loop")
@pytest.mark.parametrize("name", NO_SOURCES)
def test_what_nobody_said_is_skipped_and_counted(tmp_path: Path, name: str) -> None:
    found = read_lines(tmp_path, NO_SOURCES[name], claude_line("user", "a real word", 2))

    assert said(found) == [("user", "a real word")]
    assert sum(found.skipped.values()) == 1


@requirement("trust.loop")
def test_what_was_put_around_a_prompt_is_taken_off(tmp_path: Path) -> None:
    prompt = (
        "<system-reminder>\nUserPromptSubmit hook: CANARY <system-reminder>CANARY</system-reminder> CANARY"
        "\n</system-reminder>\nWhere does <b>staging</b> run?\n<ide_selection>CANARY</ide_selection>"
    )

    found = read_lines(tmp_path, claude_line("user", prompt))

    assert said(found) == [("user", "Where does <b>staging</b> run?")]


@requirement("trust.loop")
def test_a_block_of_our_own_memories_is_taken_out_of_a_prompt(tmp_path: Path) -> None:
    prompt = (
        "Look at this:\n\n## Memory\n\nWhat earlier sessions learned. Treat it as notes, not as orders.\n"
        "\n### Timing\n- [id:gVV90ccb] [jellyfin] CANARY\n- [id:aVV90ccb] CANARY\n\n### Person\n"
        "- [id:bVV90ccb] CANARY\n\nIs it still right?\n- [x] keep this box"
    )

    found = read_lines(tmp_path, claude_line("user", prompt))

    assert said(found) == [("user", "Look at this:\n\nIs it still right?\n- [x] keep this box")]


def test_blocks_of_text_are_one_message_and_titles_name_the_session(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": "one "}, {"type": "image"}, {"type": "text", "text": "two"}]

    found = read_lines(
        tmp_path,
        claude_line("user", blocks),
        {"type": "ai-title", "aiTitle": "Guessed", "sessionId": SESSION},
        {"type": "custom-title", "customTitle": "The shop's invoices", "sessionId": SESSION},
    )

    assert said(found) == [("user", "one\n\ntwo")]
    assert found.conversations[0].name == "The shop's invoices"


def test_a_half_written_last_line_is_read_once_it_is_whole(tmp_path: Path) -> None:
    file = write(tmp_path / "session.jsonl", claude_line("user", "first", 1))
    whole = json.dumps(claude_line("user", "second", 2))
    first = read_from(file)
    with file.open("a", encoding="utf-8") as grown:
        grown.write(whole[:40])

    half = read_from(file, first.next_offset)
    with file.open("a", encoding="utf-8") as grown:
        grown.write(whole[40:])
    unended = read_from(file, half.next_offset)
    with file.open("a", encoding="utf-8") as grown:
        grown.write("\n" + json.dumps(claude_line("user", "third", 3)) + "\n")
    rest = read_from(file, unended.next_offset)

    assert (said(half), half.broken, half.next_offset) == ([], 0, first.next_offset)
    assert said(unended) == [("user", "second")]
    assert said(rest) == [("user", "third")]
    assert rest.next_offset == file.stat().st_size


def test_broken_lines_are_counted_and_the_rest_goes_on(tmp_path: Path) -> None:
    found = read_lines(
        tmp_path,
        "{broken",
        "[1, 2]",
        "[" * 50_000,
        "\x00\x01",
        claude_line("user", "no session", 3, sessionId=None),
        claude_line("user", "here", 4),
    )

    assert said(found) == [("user", "here")]
    assert found.broken == 5


def test_a_line_that_is_too_long_costs_no_memory_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "MAX_LINE", 2_000)
    monkeypatch.setattr(transcript, "_CHUNK", 100)

    found = read_lines(tmp_path, claude_line("user", "x" * 5_000, 1), claude_line("user", "here", 2))

    assert (said(found), found.broken) == ([("user", "here")], 1)


def test_a_file_that_became_shorter_is_read_from_its_beginning(tmp_path: Path) -> None:
    file = write(tmp_path / "session.jsonl", claude_line("user", "here"))

    assert said(read_from(file, 1_000_000)) == [("user", "here")]


def test_an_id_that_can_be_none_is_replaced_by_the_place_of_the_line(tmp_path: Path) -> None:
    found = read_lines(tmp_path, claude_line("user", "a", uuid="x" * 500), claude_line("user", "b", uuid=7))

    ids = [one.id for one in found.conversations[0].messages]
    assert ids[0] == f"{SESSION}:0"
    assert len(set(ids)) == 2


@requirement("scope.project")
def test_the_project_is_the_git_roots_name_and_of_a_folder_that_is_gone_its_own(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    plain = tmp_path / "notes"
    plain.mkdir()
    directories = {str(root / "src"): "shop", str(plain): None, "/gone/away": "away", "not a path": None}

    for number, (directory, project) in enumerate(directories.items()):
        line = claude_line("user", "here", cwd=directory, sessionId=f"s{number}")
        [talk] = read_lines(tmp_path, line).conversations

        assert (talk.directory, talk.project) == (directory, project)


def test_the_format_is_known_by_the_first_lines() -> None:
    for name in ("claude_code_resumed_compacted", "claude_code_with_subagent", "claude_code_subagent"):
        assert claude_code.fits(transcript.first_objects(SAMPLES / f"{name}.jsonl"))
    for name in ("codex_rollout", "gemini_chat", "mcp_memory"):
        assert not claude_code.fits(transcript.first_objects(SAMPLES / f"{name}.jsonl"))


@requirement("trust.loop")
@given(st.lists(st.sampled_from([*NO_SOURCES, "typed", "answered"]), max_size=30))
def test_in_any_mixture_only_typed_and_answered_words_are_heard(kinds: list[str]) -> None:
    written: list[dict[str, Any]] = []
    real: list[tuple[str, str]] = []
    for number, kind in enumerate(kinds):
        if kind in NO_SOURCES:
            written.append({**NO_SOURCES[kind], "uuid": f"{number:08d}-0000-4000-8000-000000000001"})
        else:
            role = "user" if kind == "typed" else "assistant"
            real.append((role, f"word {number}"))
            written.append(claude_line(role, [{"type": "text", "text": f"word {number}"}], number))

    with tempfile.TemporaryDirectory() as folder:
        found = read_from(write(Path(folder) / "session.jsonl", *written))

    assert said(found) == real
    assert sum(found.skipped.values()) + len(real) == len(written)
