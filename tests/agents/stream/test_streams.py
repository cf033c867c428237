"""What agents print: only complete texts of the assistant count as said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.stream import READERS, ClaudeCodeStream, CodexStream, GeminiStream, PlainTextStream
from holdfast.domain.agent_events import AssistantText, Happening, OtherText, Stream, TurnEnd
from tests.requirements_ledger import requirement

SAMPLES = Path(__file__).parent / "samples"
MARKER = "[MEMORY:timing:jellyfin] Takes 60s to start after restart"


def happenings(stream: Stream, *lines: bytes | dict[str, Any]) -> list[Happening]:
    found: list[Happening] = []
    for line in lines:
        found.extend(stream.line(line if isinstance(line, bytes) else json.dumps(line).encode()))
    found.extend(stream.end())
    return found


def sample(name: str, stream: Stream) -> list[Happening]:
    return happenings(stream, *(SAMPLES / name).read_bytes().splitlines())


def said(found: list[Happening]) -> list[str]:
    return [each.text for each in found if isinstance(each, AssistantText)]


def heard(found: list[Happening]) -> str:
    return "\n".join(each.text for each in found if isinstance(each, OtherText))


# ---------------------------------------------------------------------------------------------- Claude Code


@requirement("ops.marker.assistant-text-only")
@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("stream_subagent.jsonl", [f"Stub answer after 1 tool calls. {MARKER}"]),
        ("stream_partial_messages.jsonl", [f"Stub answer after 0 tool calls. {MARKER}"]),
        ("stream_mcp_bash_with_hook_events.jsonl", [f"Stub answer after 3 tool calls. {MARKER}"]),
        ("stream_tool_failure.jsonl", [f"Stub answer after 1 tool calls. {MARKER}"]),
        ("stream_stop_hook_block.jsonl", [f"Stub answer after 0 tool calls. {MARKER}"] * 2),
        ("stream_compact.jsonl", []),
        ("stream_prompt_blocked_by_hook.jsonl", []),
    ],
)
def test_of_real_output_only_the_assistants_texts_are_said(name: str, texts: list[str]) -> None:
    assert said(sample(name, ClaudeCodeStream())) == texts


@requirement("ops.marker.echo")
def test_what_a_helper_reported_and_what_hooks_put_in_is_heard() -> None:
    helper = sample("stream_subagent.jsonl", ClaudeCodeStream())
    tools = sample("stream_mcp_bash_with_hook_events.jsonl", ClaudeCodeStream())

    assert MARKER in heard(helper)
    assert "hello-from-bash" in heard(tools)
    assert "Alec is my boss" in heard(tools)
    assert "MEMCTX-SESSIONSTART" in heard(tools)


def test_the_result_tells_what_it_cost() -> None:
    (ended,) = [
        each for each in sample("stream_subagent.jsonl", ClaudeCodeStream()) if isinstance(each, TurnEnd)
    ]

    assert ended.shown == f"Stub answer after 1 tool calls. {MARKER}\n"
    assert ended.usage is not None
    assert ended.usage["input_tokens"] == 240
    assert ended.usage["output_tokens"] == 84
    assert ended.usage["cost_usd"] == 0.003255
    assert [usage["output_tokens"] for usage in ended.usage["models"].values()] == [126]  # helpers included


ASSISTANT = {"type": "assistant", "parent_tool_use_id": None, "uuid": "u-1"}


def message(*blocks: object, **fields: object) -> dict[str, Any]:
    return {**ASSISTANT, "message": {"role": "assistant", "content": list(blocks), **fields}}


def test_a_text_keeps_the_id_of_its_message() -> None:
    assert happenings(ClaudeCodeStream(), message({"type": "text", "text": "x"})) == [
        AssistantText("x", "u-1")
    ]


@requirement("ops.marker.assistant-text-only")
@pytest.mark.parametrize(
    "line",
    [
        message({"type": "thinking", "thinking": MARKER}),
        message({"type": "tool_use", "name": "Bash", "input": {"command": MARKER}}),
        message({"type": "text", "text": MARKER}, model="<synthetic>"),
        message({"type": "text", "text": MARKER}, role="user"),
        {**message({"type": "text", "text": MARKER}), "parent_tool_use_id": "toolu_1"},
        {**message({"type": "text", "text": MARKER}), "isSynthetic": True},
        {"type": "user", "message": {"role": "user", "content": MARKER}},
        {"type": "user", "message": {"role": "assistant", "content": [{"type": "text", "text": MARKER}]}},
        {"type": "system", "subtype": "init", "cwd": MARKER},
        {"type": "stream_event", "event": {"delta": {"type": "text_delta", "text": MARKER}}},
        {"type": "result", "result": MARKER},
    ],
)
def test_everything_else_is_not_said(line: dict[str, Any]) -> None:
    assert said(happenings(ClaudeCodeStream(), line)) == []


def test_the_answer_of_a_tool_inside_of_the_assistants_message_is_heard() -> None:
    found = happenings(
        ClaudeCodeStream(),
        message({"type": "web_search_tool_result", "content": [{"title": "t", "text": "a page says"}]}),
    )

    assert said(found) == []
    assert "a page says" in heard(found)


def test_what_a_person_typed_is_neither_said_nor_heard() -> None:
    typed = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "x"}]}}

    assert happenings(ClaudeCodeStream(), {**typed, "isReplay": True}) == []


# ------------------------------------------------------------------------------------------------- the others


def test_codex_says_what_is_complete_and_hears_its_tools() -> None:
    stream = CodexStream()
    found = sample("codex_exec.jsonl", stream)
    found += happenings(
        stream,
        {"type": "item.started", "item": {"type": "agent_message", "text": MARKER}},
        {"type": "item.updated", "item": {"type": "agent_message", "text": MARKER}},
        {"type": "item.completed", "item": {"type": "reasoning", "text": MARKER}},
        {
            "type": "item.completed",
            "item": {"type": "command_execution", "aggregated_output": "from the tool"},
        },
        {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 3}},
    )

    assert said(found) == ["Stub says hello. [MEMORY:behavior] noted"]
    assert heard(found) == "command_execution\nfrom the tool"
    *_, last = [each for each in found if isinstance(each, TurnEnd)]
    assert last.shown == "Stub says hello. [MEMORY:behavior] noted\n"
    assert last.usage == {
        "input_tokens": 107,
        "output_tokens": 13,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "turns": 2,
    }


def test_geminis_pieces_are_put_together_before_they_are_read() -> None:
    found = sample("gemini_stream.jsonl", GeminiStream())
    pieces: list[dict[str, Any]] = [
        {"type": "message", "role": "assistant", "content": "[MEMORY:tim", "delta": True},
        {"type": "message", "role": "assistant", "content": "ing] slow\n", "delta": True},
        {"type": "tool_use", "tool_name": "shell", "parameters": {"command": MARKER}},
        {"type": "tool_result", "output": "from the tool"},
        {"type": "message", "role": "assistant", "content": "never finished", "delta": True},
    ]
    more = happenings(GeminiStream(), *pieces)

    assert said(found) == ["Stub says hello. [MEMORY:behavior] noted"]
    assert isinstance(found[-1], TurnEnd)
    assert found[-1].usage is not None
    assert found[-1].usage["output_tokens"] == 5
    assert said(more) == ["[MEMORY:timing] slow\n"]
    assert heard(more) == "from the tool"


def test_plain_text_is_one_text_that_is_complete_when_the_output_ends() -> None:
    stream = PlainTextStream()

    during = [*stream.line(b"```"), *stream.line(b"[MEMORY:timing] in code")]
    after = list(stream.end())

    assert during == []
    assert after == [AssistantText("```\n[MEMORY:timing] in code")]


# -------------------------------------------------------------------------------------------------- any bytes


@pytest.mark.parametrize("name", READERS)
@given(line=st.binary(max_size=200) | st.text(max_size=100).map(lambda text: json.dumps(text).encode()))
def test_any_bytes_are_read_without_trouble(name: str, line: bytes) -> None:
    stream = READERS[name]()

    assert all(
        isinstance(each, AssistantText | OtherText | TurnEnd) for each in [*stream.line(line), *stream.end()]
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(
    ["assistant", "user", "system", "result", "item.completed", "turn.completed", "message", "tool_result"]
)
FIELDS = st.sampled_from(
    "message item usage stats content role subtype result errors modelUsage delta models".split()
)


@pytest.mark.parametrize("name", READERS)
@given(kind=KINDS, fields=st.dictionaries(FIELDS, JSON, max_size=5))
def test_lines_of_another_shape_are_passed_over(name: str, kind: str, fields: dict[str, Any]) -> None:
    stream = READERS[name]()
    line = json.dumps({**fields, "type": kind}).encode()

    for each in [*stream.line(line), *stream.end()]:
        if isinstance(each, TurnEnd) and each.usage is not None:
            json.dumps(each.usage, allow_nan=False)  # it can be stored
