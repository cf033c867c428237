"""Anthropic's memory tool over HTTP."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from tests.requirements_ledger import requirement
from tests.web.rest.conftest import Served


def _told(client: TestClient, status: int = 200, **command: Any) -> dict[str, Any]:
    answer = client.post("/api/memory-tool", json=command)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


@requirement("files.memory-tool")
def test_the_body_is_the_models_input_and_the_answer_its_tool_result(served: Served) -> None:
    served.make("notes", "files")
    client = served.caller(served.token("write", spaces=("notes",)))

    made = _told(client, command="create", path="/memories/a.md", file_text="Likes coffee")
    again = _told(client, command="create", path="/memories/a.md", file_text="Likes tea")
    seen = _told(client, command="view", path="/memories/a.md")

    assert made == {"content": "File created successfully at: /memories/a.md", "is_error": False}
    assert again == {"content": "File /memories/a.md already exists", "is_error": True}
    assert seen["content"].endswith("     1\tLikes coffee")
    [memory] = client.get("/api/memory/").json()["memories"]
    assert memory["content"] == "Likes coffee"
    assert memory["origin"] == "assistant"


def test_who_may_only_read_may_only_view(served: Served) -> None:
    served.make("notes", "files")
    client = served.caller(served.token("read", spaces=("notes",)))

    assert not _told(client, command="view", path="/memories")["is_error"]
    for command in (
        {"command": "create", "path": "/memories/a.md", "file_text": "x"},
        {"command": "delete", "path": "/memories/a.md"},
        {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"},
    ):
        assert "tools" in _told(client, 403, **command)["detail"]


def test_a_body_that_is_no_command_is_refused_by_field(served: Served) -> None:
    served.make("notes", "files")
    client = served.caller(served.token("write", spaces=("notes",)))

    assert _told(client, 422, command="format")["field"] == "command"
    assert _told(client, 422, command="view", path="/memories", depth=3)["field"] == "depth"
    assert _told(client, command="view")["is_error"]
