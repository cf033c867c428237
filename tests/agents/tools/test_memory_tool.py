"""Anthropic's memory tool on a space: its documented answers, its stricter paths, one memory behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError

from holdfast import Memories
from holdfast.agents.memory_tool import MemoryTool
from holdfast.agents.tools.anthropic_memory import answered, size_of
from tests.real_agents.scripted_model import ScriptedModel, Tool
from tests.requirements_ledger import requirement


def told(model: Memories, command: str, **fields: Any) -> str:
    answer = answered(model, {"command": command, **fields})
    return f"error: {answer.text}" if answer.failed else answer.text


@requirement("files.memory-tool")
def test_each_command_gives_the_documented_answer(model: Memories) -> None:
    assert told(
        model, "create", path="/memories/notes.txt", file_text="one\ntwo\nthree\nfour\nfive\nsix\n"
    ) == ("File created successfully at: /memories/notes.txt")
    assert told(model, "create", path="/memories/work/plan.md", file_text="x" * 1536) == (
        "File created successfully at: /memories/work/plan.md"
    )
    assert told(model, "create", path="/memories/notes.txt", file_text="again") == (
        "error: File /memories/notes.txt already exists"
    )
    assert told(model, "view", path="/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n"
        "4K\t/memories\n28B\t/memories/notes.txt\n4K\t/memories/work/\n1.5K\t/memories/work/plan.md"
    )
    assert told(model, "view", path="/memories/notes.txt", view_range=[2, 3]) == (
        "Here's the content of /memories/notes.txt with line numbers:\n     2\ttwo\n     3\tthree"
    )
    assert told(model, "str_replace", path="/memories/notes.txt", old_str="four", new_str="4") == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     2\ttwo\n     3\tthree\n     4\t4\n     5\tfive\n     6\tsix"
    )
    assert told(model, "insert", path="/memories/notes.txt", insert_line=0, insert_text="zero\n") == (
        "The file /memories/notes.txt has been edited."
    )
    assert told(model, "insert", path="/memories/notes.txt", insert_line=99, insert_text="x") == (
        "error: Invalid `insert_line` parameter: 99. It should be within the range [0, 7]."
    )
    assert told(model, "rename", old_path="/memories/notes.txt", new_path="/memories/old.txt") == (
        "Successfully renamed /memories/notes.txt to /memories/old.txt"
    )
    assert told(model, "delete", path="/memories/work") == "Successfully deleted /memories/work"
    assert told(model, "view", path="/memories/work") == (
        "error: The path /memories/work does not exist. Please provide a valid path."
    )
    assert model.file("old.txt").text == "zero\none\ntwo\nthree\n4\nfive\nsix\n"


@requirement("files.memory-tool", "files.safe")
@pytest.mark.parametrize(
    "path",
    [
        "/memoriesX/a.md",
        "/memories/../a.md",
        "/memories/x/../../a.md",
        "/etc/passwd",
        "memories/a.md",
        "a.md",
        "",
        "/memories/.hidden",
        "/memories//a.md",
        "/memories/a/b/c/d.md",
        "/memories/a\0.md",
        "/memories/C:a.md",
        "/memories/a\\b.md",
        "/memories/con.md",
        "/memories/a\u202eb.md",
        "/memories/a\uff0fb.md",
        "/memories/MEMORY.md",
        "/memories/memory.MD",
        "/memories/" + "x" * 300,
        "/memories/~/a.md",
        "/memories/ a.md",
        "/memories/./a.md",
    ],
)
def test_a_path_that_could_mean_something_else_is_refused_by_every_command(
    model: Memories, path: str
) -> None:
    told(model, "create", path="/memories/here.md", file_text="text")

    commands: dict[str, dict[str, Any]] = {
        "view": {"path": path},
        "create": {"path": path, "file_text": "evil"},
        "str_replace": {"path": path, "old_str": "a", "new_str": "b"},
        "insert": {"path": path, "insert_line": 0, "insert_text": "x"},
        "delete": {"path": path},
    }
    for command, fields in commands.items():
        assert told(model, command, **fields).startswith("error: "), command
    assert told(model, "rename", old_path="/memories/here.md", new_path=path).startswith("error: ")
    assert told(model, "rename", old_path=path, new_path="/memories/there.md").startswith("error: ")
    assert [(entry.path, entry.size) for entry in model.files()] == [("here.md", 4)]


@requirement("files.memory-tool")
def test_a_file_is_kept_as_given_and_stands_under_other(
    notes: Memories, model: Memories, tmp_path: Path
) -> None:
    notes.bind_directory(str(tmp_path / "bound"))

    told(model, "create", path="/memories/data/raw.json", file_text='{"a": 1}')

    assert (tmp_path / "bound" / "data" / "raw.json").read_bytes() == b'{"a": 1}'
    assert "## Other\n- [data/raw.json](data/raw.json)" in notes.file_index()
    assert (tmp_path / "bound" / "MEMORY.md").read_text() == notes.file_index()
    assert "MEMORY" not in told(model, "view", path="/memories")


@requirement("files.memory-tool", "files.same-memory")
def test_what_the_tool_wrote_is_searched_listed_and_deleted_like_any_memory(
    notes: Memories, model: Memories
) -> None:
    told(model, "create", path="/memories/coffee.md", file_text="Dana drinks her coffee black")

    [hit] = notes.recall("how does Dana drink coffee", messages=False).hits
    notes.forget(hit.memory.id)  # type: ignore[union-attr]

    assert told(model, "view", path="/memories/coffee.md").startswith(
        "error: The path /memories/coffee.md does not"
    )
    assert "is not stored again" in told(
        model, "create", path="/memories/coffee.md", file_text="Dana drinks her coffee black"
    )


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ({}, "Unknown command: None. Use one of view, create, str_replace, insert, delete, rename"),
        ({"command": "format"}, "Unknown command: 'format'"),
        ({"command": ["view"]}, "Unknown command"),
        ({"command": "view"}, "The view command requires `path` as a string"),
        (
            {"command": "create", "path": "/memories/a.md"},
            "The create command requires `file_text` as a string",
        ),
        (
            {"command": "insert", "path": "/memories/a", "insert_line": "1", "insert_text": ""},
            "`insert_line` as a number",
        ),
        ({"command": "view", "path": "/memories", "view_range": [1]}, None),
    ],
)
def test_a_command_that_is_not_whole_is_told_what_it_lacks(
    model: Memories, command: dict[str, Any], answer: str | None
) -> None:
    found = answered(model, command)

    assert found.failed == (answer is not None)
    assert (answer or "") in found.text


def test_an_edit_is_made_to_the_file_as_it_is_now(model: Memories, monkeypatch: pytest.MonkeyPatch) -> None:
    told(model, "create", path="/memories/a.md", file_text="one\n")
    put, read = Memories.put_file, Memories.file
    seen = 0

    def read_then_another_writes(memories: Memories, path: str) -> Any:
        nonlocal seen
        found = read(memories, path)
        seen += 1
        if seen == 1:
            put(memories, path, found.text + "from elsewhere\n")
        return found

    monkeypatch.setattr(Memories, "file", read_then_another_writes)
    answer = told(model, "str_replace", path="/memories/a.md", old_str="one", new_str="1")
    monkeypatch.undo()

    assert not answer.startswith("error")
    assert model.file("a.md").text == "1\nfrom elsewhere\n"


@pytest.mark.parametrize(
    ("size", "shown"), [(0, "0B"), (1, "1B"), (1023, "1023B"), (1024, "1K"), (1536, "1.5K"), (2**20, "1M")]
)
def test_sizes_read_as_in_the_documentation(size: int, shown: str) -> None:
    assert size_of(size) == shown


@requirement("files.memory-tool")
def test_the_sdks_own_loop_runs_the_tool(notes: Memories) -> None:
    scripted = ScriptedModel()
    scripted.say(
        Tool("memory", {"command": "view", "path": "/memories"}),
        Tool("memory", {"command": "create", "path": "/memories/likes.md", "file_text": "Likes coffee"}),
        Tool("memory", {"command": "view", "path": "/memories/nothing"}),
        "I will remember that.",
    )
    with Anthropic(api_key="test", base_url=scripted.url) as client:
        final = client.beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=1000,
            messages=[{"role": "user", "content": "I like coffee"}],
            tools=[MemoryTool(notes)],
        ).until_done()
    scripted.close()

    assert final.content[0].to_dict()["text"] == "I will remember that."
    assert scripted.requests[0].body["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert "4K\t/memories" in scripted.requests[1].text
    results = scripted.requests[3].body["messages"][-1]["content"]
    assert results[0]["is_error"] is True
    assert "The path /memories/nothing does not exist." in scripted.requests[3].text
    assert notes.file("likes.md").text == "Likes coffee"
    assert notes.find().memories[0].source.origin == "assistant"


def test_the_tool_can_be_cleared_and_takes_nothing_but_objects(notes: Memories) -> None:
    tool = MemoryTool(notes)
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "text"})

    assert tool.clear_all_memory() == "All memory cleared"
    assert notes.files() == []
    with pytest.raises(ToolError, match="takes an object"):
        tool.call("view")
