"""Exports of chat services: what was said comes in, nothing else does, and broken files are refused whole."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.importers import TRANSCRIPTS, exports, transcript_format
from holdfast.agents.importers.exports import elements
from holdfast.errors import Invalid

ROOT = "aaa"


def node(key: str, parent: str | None, role: str, text: str | None, **more: Any) -> dict[str, Any]:
    """A message of ChatGPT's tree; more goes into the message."""
    message: dict[str, Any] | None = None
    if text is not None:
        content = {"content_type": more.pop("kind", "text"), "parts": [text]}
        message = {
            "id": f"m-{key}",
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": 1_700_000_000.5 + len(key),
            "content": content,
            "recipient": "all",
            "metadata": {},
            **more,
        }
    return {"id": key, "parent": parent, "children": [], "message": message}


def chatgpt(*nodes: dict[str, Any], at: str | None = None, own_id: str = "c-1") -> dict[str, Any]:
    return {
        "title": "Moving the broker",
        "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_100.0,
        "mapping": {one["id"]: one for one in nodes},
        "current_node": at,
        "conversation_id": own_id,
        "id": own_id,
    }


def claude_ai(*messages: dict[str, Any], own_id: str = "b1c2") -> dict[str, Any]:
    return {
        "uuid": own_id,
        "name": "Moving the broker",
        "created_at": "2025-11-01T10:00:00.000000Z",
        "updated_at": "2025-11-01T10:05:00.000000Z",
        "account": {"uuid": "someone"},
        "chat_messages": list(messages),
    }


def spoken(own_id: str, sender: str, *texts: str, **more: Any) -> dict[str, Any]:
    return {
        "uuid": own_id,
        "text": "\n".join(texts),
        "content": [{"type": "text", "text": text} for text in texts],
        "sender": sender,
        "created_at": "2025-11-01T10:00:00.000000Z",
        "attachments": [{"file_name": "a.txt", "extracted_content": "never read"}],
        **more,
    }


TREE = chatgpt(
    node(ROOT, None, "", None),
    node("sys", ROOT, "system", "You are helpful"),
    node("q1", "sys", "user", "We moved the broker to host alpha."),
    node("old", "q1", "assistant", "A first answer."),
    node("new", "q1", "assistant", "The regenerated answer."),
    node("tool", "new", "tool", "tool output", kind="execution_output"),
    node("call", "tool", "assistant", "search(...)", recipient="browser"),
    node("think", "call", "assistant", "hm", kind="thoughts"),
    node("hid", "think", "user", "about me", metadata={"is_visually_hidden_from_conversation": True}),
    node("end", "hid", "user", "Thanks, and remember that."),
    at="end",
)
TALK = claude_ai(
    spoken("u1", "human", "Remember that we moved the broker to host alpha."),
    spoken(
        "u2",
        "assistant",
        "Noted.",
        content=[{"type": "tool_use", "name": "x"}, {"type": "text", "text": "Noted."}],
    ),
    spoken("u3", "human", "", content=[], text=""),
)


def written(folder: Path, found: Sequence[Any], name: str = "conversations.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return path


def zipped(folder: Path, **members: bytes) -> Path:
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/") + ".json", content)
    return path


def test_of_a_chatgpt_tree_the_branch_that_was_kept_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, [TREE])

    assert transcript_format(path) == "chatgpt"
    reading = TRANSCRIPTS["chatgpt"].read_from(path, 0, None)

    (talk,) = reading.conversations
    assert [(one.role, one.text) for one in talk.messages] == [
        ("user", "We moved the broker to host alpha."),
        ("assistant", "The regenerated answer."),
        ("user", "Thanks, and remember that."),
    ]
    assert (talk.session, talk.client, talk.name) == ("chatgpt-c-1", "chatgpt", "Moving the broker")
    assert talk.started_at == datetime.fromtimestamp(1_700_000_000, UTC)
    assert dict(reading.skipped) == {
        "system": 1, "tool": 1, "tool call": 1, "thoughts": 1, "hidden": 1, "other branch": 1,
    }  # fmt: skip


def test_without_a_current_message_the_latest_leaf_is_taken_and_circles_end(tmp_path: Path) -> None:
    nodes = [node("x", "y", "user", "One side."), node("y", "x", "assistant", "Other side.")]
    path = written(
        tmp_path, [chatgpt(*nodes, at="x"), chatgpt(node("z", None, "user", "Alone."), own_id="c-2")]
    )

    reading = TRANSCRIPTS["chatgpt"].read_from(path, 0, None)

    assert [len(talk.messages) for talk in reading.conversations] == [2, 1]


def test_of_claude_ai_the_texts_of_messages_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, [TALK])

    assert transcript_format(path) == "claude-ai"
    reading = TRANSCRIPTS["claude-ai"].read_from(path, 0, None)

    (talk,) = reading.conversations
    assert [(one.role, one.text) for one in talk.messages] == [
        ("user", "Remember that we moved the broker to host alpha."),
        ("assistant", "Noted."),
    ]
    assert (talk.session, talk.messages[0].id) == ("claude-ai-b1c2", "claude-ai-b1c2:u1")
    assert talk.started_at == datetime(2025, 11, 1, 10, tzinfo=UTC)
    assert dict(reading.skipped) == {"no text": 1}


def test_a_zip_is_read_as_it_was_sent_with_all_its_parts(tmp_path: Path) -> None:
    more = json.dumps([chatgpt(node("q", None, "user", "More."), at="q", own_id="c-9")]).encode()
    whole = json.dumps([TREE]).encode()
    path = zipped(tmp_path, user=b"{}", conversations=whole, **{"inner__conversations-001": more})

    assert transcript_format(path) == "chatgpt"
    reading = TRANSCRIPTS["chatgpt"].read_from(path, 0, None)

    assert {talk.session for talk in reading.conversations} == {"chatgpt-c-1", "chatgpt-c-9"}


def test_an_export_that_was_read_is_not_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, [TREE])
    read = TRANSCRIPTS["chatgpt"].read_from(path, 0, None)

    assert TRANSCRIPTS["chatgpt"].read_from(path, read.next_offset, None).conversations == ()


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda text: text[:-40], r"line \d+: the file is truncated"),
        (lambda text: text.replace('"title":', '"title"', 1), r"line \d+: invalid JSON"),
        (lambda text: text + "[]", r"line \d+: not a JSON list"),
        (lambda text: text.replace("[", "[1,", 1), "expected an object"),
        (lambda text: "[" + "[" * 100_000, r"line 1: nested more than 500 levels deep"),
        (lambda text: "[" + "[" * 100_000 + "]" * 100_001, r"line 1: nested more than 500 levels deep"),
        (
            lambda text: text.replace('"title": "Moving the broker"', '"title": ' + "9" * 5_000),
            "invalid JSON",
        ),
    ],
    ids=["cut", "no colon", "behind", "number", "open", "deep", "digits"],
)
def test_a_broken_export_is_refused_with_its_line(tmp_path: Path, broken: Any, says: str) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(broken(json.dumps([TREE, TREE], indent=1)), encoding="utf-8")

    with pytest.raises(Invalid, match=says):
        TRANSCRIPTS["chatgpt"].read_from(path, 0, None)


def test_a_zip_that_is_none_or_holds_no_conversations_is_refused(tmp_path: Path) -> None:
    other = zipped(tmp_path, user=b"{}")
    with pytest.raises(Invalid, match=r"has no conversations\.json"):
        TRANSCRIPTS["chatgpt"].read_from(other, 0, None)

    cut = tmp_path / "cut.zip"
    cut.write_bytes(zipped(tmp_path, conversations=json.dumps([TREE] * 50).encode()).read_bytes()[:200])
    with pytest.raises(Invalid, match="can't be unpacked"):
        TRANSCRIPTS["chatgpt"].read_from(cut, 0, None)


def test_a_zip_that_unpacks_without_end_costs_no_memory_and_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MAX_BYTES", 4 * 1024 * 1024)
    path = zipped(tmp_path, conversations=b"[" + b" " * 16 * 1024 * 1024 + b"]")

    assert path.stat().st_size < 100_000
    with pytest.raises(Invalid, match="larger than"):
        TRANSCRIPTS["chatgpt"].read_from(path, 0, None)


def test_one_endless_element_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MAX_ELEMENT", 1024)

    with pytest.raises(Invalid, match="one element is longer than"):
        list(elements(io.BytesIO(b'[{"a": "' + b"x" * 300_000 + b'"}]'), "it"))


OBJECTS = st.dictionaries(
    st.sampled_from(["mapping", "chat_messages", "uuid", "id", "title", "current_node", "x"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=6,
)


@given(found=st.lists(OBJECTS, max_size=5), indent=st.sampled_from([None, 0, 2]), size=st.integers(1, 40))
def test_elements_are_those_of_json_whatever_the_pieces(
    found: list[Any], indent: int | None, size: int
) -> None:
    text = json.dumps(found, indent=indent)

    class Slow(io.BytesIO):
        def read(self, most: int | None = -1) -> bytes:
            return super().read(size)

    told = list(elements(Slow(text.encode()), "it"))

    assert [value for _, value in told] == found
    assert all(text.split("\n")[line - 1].lstrip(" [,").startswith("{") for line, _ in told)


@given(
    content=st.binary(max_size=300) | st.lists(OBJECTS, max_size=5).map(lambda one: json.dumps(one).encode())
)
def test_no_bytes_break_an_export(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("conversations.json", "export.zip"):
            path = Path(folder) / name
            path.write_bytes(content)
            transcript_format(path)
            for form in ("chatgpt", "claude-ai"):
                try:
                    reading = TRANSCRIPTS[form].read_from(path, -1, None)
                except Invalid:
                    continue
                assert reading == TRANSCRIPTS[form].read_from(path, -1, None)


def test_other_json_is_no_export(tmp_path: Path) -> None:
    path = written(tmp_path, [{"name": "somebody"}], "users.json")

    assert exports.is_export(path)
    assert transcript_format(path) is None
