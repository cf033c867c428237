"""Codex's rollouts and Gemini CLI's chats: only what a person typed and what the model answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.agents.importers import codex, gemini, transcript_format
from holdfast.agents.importers.transcript import TranscriptPart
from tests.agents.importers.written import (
    SAMPLES,
    SESSION,
    codex_heading,
    codex_message,
    gemini_heading,
    write,
)
from tests.requirements_ledger import requirement


def said(reading: TranscriptPart) -> list[tuple[str, str]]:
    return [(one.role, one.text) for talk in reading.conversations for one in talk.messages]


# ------------------------------------------------------------------------------------------------------ codex


@requirement("sem.tap.logs", "trust.loop")
def test_a_real_rollout_gives_what_was_typed_and_answered() -> None:
    file = SAMPLES / "codex_rollout.jsonl"

    found = codex.read_from(file)

    [talk] = found.conversations
    assert said(found) == [
        ("user", "STUBMCP hello codex"),
        ("assistant", "Stub says hello. [MEMORY:behavior] noted"),
    ]
    assert (talk.session, talk.client) == ("01a1de07-1cbc-7941-8973-dda43cdbc0d8", "codex")
    assert (talk.directory, talk.project) == ("/srv/user/proj", "proj")
    # The service's own ids are unique everywhere; a short one only in its session.
    assert [one.id for one in talk.messages] == [
        "msg_01a1de07-219e-7222-b2d9-6584caba64a3",
        f"{talk.session}:msg_1",
    ]
    assert sum(found.skipped.values()) + 2 == len(file.read_text(encoding="utf-8").splitlines())


def test_a_rollout_is_read_on_with_the_session_of_its_first_line(tmp_path: Path) -> None:
    file = write(tmp_path / "rollout.jsonl", codex_heading(), codex_message("user", "one"))
    first = codex.read_from(file)
    with file.open("a", encoding="utf-8") as grown:
        grown.write(json.dumps(codex_message("assistant", "two")) + "\n")

    second = codex.read_from(file, first.next_offset)

    assert said(second) == [("assistant", "two")]
    assert second.conversations[0].session == SESSION
    assert second.conversations[0].project == "shop"


@pytest.mark.parametrize(
    "message",
    [
        codex_message("developer", "CANARY"),
        codex_message("system", "CANARY"),
        codex_message("user", "CANARY", kinds=["hooks.additional_context"]),
        codex_message("user", "<environment_context>CANARY</environment_context>"),
        codex_message("user", "<user_instructions>CANARY</user_instructions>"),
        codex_message("user", "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>CANARY"),
        codex_message("user", "<skill>\n<name>x</name>CANARY</skill>"),
        codex_message("user", "Another language model started to solve this problem. CANARY"),
        {"type": "compacted", "payload": {"message": "CANARY"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "CANARY"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "output": "CANARY"}},
        {"type": "response_item", "payload": {"type": "reasoning", "summary": ["CANARY"]}},
        {"type": "response_item", "payload": "CANARY"},
        {"from": "the future"},
    ],
    ids=lambda message: json.dumps(message)[-60:],
)
@requirement("trust.loop")
def test_what_nobody_said_to_codex_is_skipped(tmp_path: Path, message: dict[str, Any]) -> None:
    file = write(tmp_path / "rollout.jsonl", codex_heading(), message, codex_message("user", "a real word"))

    found = codex.read_from(file)

    assert said(found) == [("user", "a real word")]
    assert sum(found.skipped.values()) == 2


def test_of_a_mixed_message_only_the_typed_part_counts(tmp_path: Path) -> None:
    mixed = codex_message("user", "CANARY", "a real word", kinds=["harness.note", "user.text"])
    file = write(tmp_path / "rollout.jsonl", codex_heading(), mixed)

    assert said(codex.read_from(file)) == [("user", "a real word")]


@pytest.mark.parametrize("more", [{"source": {"subagent": "review"}}, {"thread_source": "subagent"}])
def test_a_subagents_rollout_is_no_source(tmp_path: Path, more: dict[str, Any]) -> None:
    file = write(tmp_path / "rollout.jsonl", codex_heading(**more), codex_message("user", "CANARY"))

    assert said(codex.read_from(file)) == []


def test_a_rollout_of_an_older_version_is_read(tmp_path: Path) -> None:
    heading: dict[str, Any] = {"id": SESSION, "timestamp": "2025-07-01T10:00:00Z", "instructions": None}
    bare = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    file = write(tmp_path / "rollout.jsonl", heading, bare)

    found = codex.read_from(file)

    assert transcript_format(file) == "codex"
    assert said(found) == [("user", "hello")]
    assert codex.read_from(file).conversations[0].messages == found.conversations[0].messages


# ----------------------------------------------------------------------------------------------------- gemini


@requirement("sem.tap.logs", "trust.loop")
def test_a_real_chat_gives_what_was_typed_and_answered() -> None:
    found = gemini.read_from(SAMPLES / "gemini_chat.jsonl")

    [talk] = found.conversations
    assert said(found) == [
        ("user", "hello gemini"),
        ("assistant", "Stub says hello. [MEMORY:behavior] noted"),
    ]
    assert (talk.session, talk.client) == ("1d7fdca2-f06c-4c2e-8529-d77ce71bbccb", "gemini")
    assert found.skipped == {"$set": 3, "heading": 1, "injected": 1}


def test_a_message_that_is_written_again_counts_once_with_its_last_words(tmp_path: Path) -> None:
    first = {"id": "m1", "type": "gemini", "content": "half", "timestamp": "2026-05-04T10:00:00Z"}
    file = write(tmp_path / "c.jsonl", gemini_heading(), first, {**first, "content": "half and whole"})

    assert said(gemini.read_from(file)) == [("assistant", "half and whole")]


def test_a_chat_whose_messages_stand_in_changes_only_is_read_without_its_summaries(tmp_path: Path) -> None:
    user = {"id": "m1", "type": "user", "content": [{"text": "hello"}]}
    compressed = {
        "id": "m2",
        "type": "user",
        "content": [{"text": "<state_snapshot>CANARY</state_snapshot>"}],
    }
    canned = {"id": "m3", "type": "gemini", "content": "CANARY"}
    changes = (
        {"$set": {"messages": [user]}},
        {"$set": {"messages": [compressed, canned]}},
        {"$rewindTo": "m1"},
    )
    file = write(tmp_path / "c.jsonl", gemini_heading(), *changes)

    assert said(gemini.read_from(file)) == [("user", "hello")]


def test_a_chat_of_an_older_version_is_one_object(tmp_path: Path) -> None:
    messages = [
        {"id": "1", "type": "user", "content": "hello", "timestamp": "2025-10-01T10:00:00Z"},
        {"id": "2", "type": "info", "content": "CANARY"},
        {"id": "3", "type": "gemini", "content": "hi", "toolCalls": [{"result": "CANARY"}]},
    ]
    file = tmp_path / "session-1.json"
    file.write_text(json.dumps(gemini_heading(messages=messages), indent=2), encoding="utf-8")

    assert transcript_format(file) == "gemini"
    assert said(gemini.read_from(file)) == [("user", "hello"), ("assistant", "hi")]


def test_nothing_is_read_of_a_chat_that_has_not_grown(tmp_path: Path) -> None:
    file = write(tmp_path / "c.jsonl", gemini_heading(), {"id": "m1", "type": "user", "content": "hello"})
    first = gemini.read_from(file)

    again = gemini.read_from(file, first.next_offset)

    assert (said(again), again.next_offset) == ([], first.next_offset)


def test_a_subagents_chat_is_no_source(tmp_path: Path) -> None:
    message = {"id": "m1", "type": "user", "content": "CANARY"}
    file = write(tmp_path / "c.jsonl", gemini_heading(kind="subagent"), message)

    assert said(gemini.read_from(file)) == []


@requirement("scope.project")
@pytest.mark.parametrize("told_by", ["heading", "mark", "list", "folder"])
def test_the_directory_of_a_chat_is_found_where_the_client_keeps_it(tmp_path: Path, told_by: str) -> None:
    folder = tmp_path / ".gemini" / "tmp" / "shop"
    more: dict[str, Any] = {"directories": ["/srv/user/shop"]} if told_by == "heading" else {}
    message = {"id": "m1", "type": "user", "content": "hello"}
    file = write(folder / "chats" / "session-1.jsonl", gemini_heading(**more), message)
    if told_by == "mark":
        (folder / ".project_root").write_text("/srv/user/shop\n", encoding="utf-8")
    if told_by == "list":
        known = {"projects": {"/srv/user/other": "other", "/srv/user/shop": "shop"}}
        (tmp_path / ".gemini" / "projects.json").write_text(json.dumps(known), encoding="utf-8")

    [talk] = gemini.read_from(file).conversations

    assert talk.project == "shop"
    assert talk.directory == (None if told_by == "folder" else "/srv/user/shop")
