"""The tools for named files, as an MCP client sees them."""

from __future__ import annotations

from pathlib import Path

from tests.agents.mcp.test_server import Served
from tests.requirements_ledger import requirement

PREFERENCES = {
    "filename": "prefs.md",
    "name": "Preferences",
    "description": "Editor",
    "type": "user",
    "content": "Uses vim",
}


@requirement("files.tools", "files.same-memory")
def test_a_space_of_files_offers_the_five_tools_and_its_directory_follows(
    served: Served, tmp_path: Path
) -> None:
    driven = served("files")
    driven.memories.bind_directory(str(tmp_path / "bound"))

    tools = {tool.name: tool for tool in driven.ask(lambda client: client.list_tools()).tools}
    written = driven.ask(lambda client: client.call_tool("memory_write", PREFERENCES))
    read, _ = driven.call("memory_read", filename="prefs.md")
    wrong, refused = driven.call("memory_read", filename="pref.md")

    assert [*tools][:5] == ["memory_view", "memory_read", "memory_write", "memory_update", "memory_delete"]
    assert [
        name for name, tool in tools.items() if tool.annotations and tool.annotations.destructive_hint
    ] == [
        "memory_write",
        "memory_delete",
    ]
    assert written.content[0].text == "Memory saved: prefs.md"  # type: ignore[union-attr]
    assert not written.is_error
    assert (tmp_path / "bound" / "prefs.md").read_text() == read
    assert refused
    assert wrong.startswith("there is no file 'pref.md': use one of prefs.md")
