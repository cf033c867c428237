"""Clients that get the MCP server alone: where their settings are, and what becomes of real ones."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from holdfast import Memories
from holdfast.agents.connect.clients import CLIENTS, Machine, Scope
from holdfast.agents.connect.connection import ClientConnection
from holdfast.app import client_setup, paths
from holdfast.settings import carried

HOME = Path("/users/ann")
ROAMING = "/users/ann/Roaming"
MAC = "Library/Application Support"
#: The file of the user's settings, below the home directory.
PLACES = {
    "cursor": {"darwin": ".cursor/mcp.json", "linux": ".cursor/mcp.json", "win32": ".cursor/mcp.json"},
    "vscode": {
        "darwin": f"{MAC}/Code/User/mcp.json",
        "linux": ".config/Code/User/mcp.json",
        "win32": "Roaming/Code/User/mcp.json",
    },
    "zed": {
        "darwin": ".config/zed/settings.json",
        "linux": ".config/zed/settings.json",
        "win32": "Roaming/Zed/settings.json",
    },
    "windsurf": dict.fromkeys(("darwin", "linux", "win32"), ".codeium/windsurf/mcp_config.json"),
    "claude-desktop": {
        "darwin": f"{MAC}/Claude/claude_desktop_config.json",
        "linux": ".config/Claude/claude_desktop_config.json",
        "win32": "Roaming/Claude/claude_desktop_config.json",
    },
    "continue": dict.fromkeys(("darwin", "linux", "win32"), ".continue/mcpServers/holdfast.json"),
}
IN_PROJECT = {
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "zed": ".zed/settings.json",
    "continue": ".continue/mcpServers/holdfast.json",
    "mcp-json": ".mcp.json",
}
#: Settings as their users have them; <ours> is where our entry goes.
FOUND = {
    "cursor": """{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_x" }
    },
    "docs": { "url": "https://docs.example.com/mcp" }<ours>
  }
}
""",
    "vscode": """// Servers for every workspace
{
\t"inputs": [
\t\t{ "type": "promptString", "id": "key", "password": true },
\t],
\t"servers": {
\t\t// asks for the key once
\t\t"search": {
\t\t\t"type": "http",
\t\t\t"url": "https://example.com/mcp", /* not the old one */
\t\t\t"headers": { "Authorization": "Bearer ${input:key}" }
\t\t},<ours>
\t},
}
""",
    "zed": (
        "// Zed settings\r\n//\r\n// For information, see the documentation\r\n{\r\n"
        '  "theme": {\r\n    "mode": "system",\r\n    "light": "One Light",\r\n    "dark": "One Dark",\r\n'
        '  },\r\n  "context_servers": {\r\n    "linear": { "settings": {} }<ours>\r\n  },\r\n'
        '  "vim_mode": true, // yes\r\n}\r\n'
    ),
    "windsurf": '{"mcpServers":{"memory":{"command":"npx","args":["-y","x"],"disabled":true}<ours>}}',
    "claude-desktop": """{
    "globalShortcut": "",
    "mcpServers": {
        "files": {
            "command": "npx",
            "args": [
                "-y",
                "@modelcontextprotocol/server-filesystem",
                "C:\\\\Users\\\\ann\\\\Desktop"
            ]
        }<ours>
    },
    "preferences": {"menuBarEnabled": false}
}""",
    "continue": '{\n  "mcpServers": {\n    "db": {"command": "./db-server"}<ours>\n  }\n}',
    "mcp-json": '{\n  "mcpServers": {\n    "db": {\n      "command": "./db-server"\n    }<ours>\n  }\n}\n',
}


def machine(system: str, **environment: str) -> Machine:
    return Machine(home=HOME, environment=environment, system=system)


def file_of(connection: ClientConnection) -> Path:
    [change] = connection.connecting()
    return change.path


def read(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.mark.parametrize("system", ["darwin", "linux", "win32"])
@pytest.mark.parametrize("name", PLACES)
def test_each_system_has_its_place_for_the_settings(name: str, system: str, project: Path) -> None:
    client = CLIENTS[name]
    named = {"APPDATA": ROAMING} if system == "win32" else {}
    assert client.folder is not None
    setup = replace(client_setup.connection(name).setup, folder=client.folder(machine(system, **named)))

    [(path, _)] = client.files(setup)

    assert path == HOME / PLACES[name][system]


@pytest.mark.parametrize(
    ("name", "system", "environment", "expected"),
    [
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/etc/ann"}, "/etc/ann/Code/User"),
        ("zed", "linux", {"XDG_CONFIG_HOME": "/etc/ann"}, "/etc/ann/zed"),
        ("zed", "darwin", {"XDG_CONFIG_HOME": "/etc/ann"}, "/users/ann/.config/zed"),
        ("vscode", "darwin", {"XDG_CONFIG_HOME": "/etc/ann"}, f"/users/ann/{MAC}/Code/User"),
        ("claude-desktop", "win32", {}, "/users/ann/AppData/Roaming/Claude"),
    ],
)
def test_a_place_that_the_environment_names_is_used_where_the_client_uses_it(
    name: str, system: str, environment: dict[str, str], expected: str
) -> None:
    folder = CLIENTS[name].folder

    assert folder is not None
    assert folder(machine(system, **environment)) == Path(expected)


def test_claude_desktop_as_a_windows_package_has_its_own_place(tmp_path: Path) -> None:
    place = tmp_path / "Packages" / "Claude_x1" / "LocalCache" / "Roaming"
    place.mkdir(parents=True)
    folder = CLIENTS["claude-desktop"].folder

    assert folder is not None
    assert folder(machine("win32", LOCALAPPDATA=str(tmp_path))) == place / "Claude"
    assert folder(machine("linux", LOCALAPPDATA=str(tmp_path))) == HOME / ".config" / "Claude"


@pytest.mark.parametrize("name", IN_PROJECT)
def test_a_project_has_a_file_of_its_own(name: str, project: Path) -> None:
    connection = client_setup.connection(name, scope="project")

    connection.connect()

    assert file_of(connection) == project / IN_PROJECT[name]


@pytest.mark.parametrize("name", FOUND)
def test_our_entry_is_added_to_what_is_there_and_removed_to_the_byte(name: str, project: Path) -> None:
    connection = client_setup.connection(name)
    before, after = with_and_without_ours(name, connection)
    path = file_of(connection)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before.encode())

    connection.connect()
    connected = path.read_bytes().decode()
    Path(paths.connections()).unlink()  # the original is not just put back
    connection.disconnect()

    assert connected == after
    assert path.read_bytes().decode() == before


def with_and_without_ours(name: str, connection: ClientConnection) -> tuple[str, str]:
    """The settings before and after our entry was added."""
    head, tail = FOUND[name].split("<ours>")
    newline = "\r\n" if "\r\n" in head else "\n"
    indent = {"vscode": "\t", "claude-desktop": "    "}.get(name, "  ")
    value: dict[str, Any] = {"command": connection.setup.server, "args": ["mcp"]}
    if name in ("cursor", "vscode", "mcp-json"):
        value |= {"type": "stdio"}
    if name == "mcp-json":
        value |= {"alwaysLoad": True}
    elif carried():
        value |= {"env": carried()}
    comma = "" if head.endswith(",") else ","
    if newline not in head:
        return head + tail, f'{head}{comma} "holdfast": {json.dumps(value)}{tail}'
    entry = f'"holdfast": {json.dumps(value, indent=indent)}'.replace("\n", f"{newline}{indent * 2}")
    return head + tail, f"{head}{comma}{newline}{indent * 2}{entry}{'' if comma else ','}{tail}"


@pytest.mark.parametrize("scope", ["user", "project"])
def test_what_somebody_added_to_our_entry_stays_until_it_goes(scope: Scope, project: Path) -> None:
    connection = client_setup.connection("cursor", scope=scope)
    connection.connect()
    path = file_of(connection)
    settings = read(path)
    settings["mcpServers"]["other"] = {"url": "https://example.com/mcp"}
    env = {"HOLDFAST_SPACE": "gone", "HTTPS_PROXY": "http://localhost:1"}
    settings["mcpServers"]["holdfast"] |= {"disabled": True, "env": env, "args": []}
    path.write_text(json.dumps(settings))

    [again] = connection.connect()
    entry = read(path)["mcpServers"]["holdfast"]
    connection.disconnect()

    assert again.needed
    assert entry == {
        "type": "stdio",
        "command": connection.setup.server,
        "args": ["mcp"],
        "disabled": True,
        "env": {"HTTPS_PROXY": "http://localhost:1", **carried()},
    }
    assert read(path) == {"mcpServers": {"other": {"url": "https://example.com/mcp"}}}


def test_a_program_without_our_environment_is_told_which_memories_to_use(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in carried():
        monkeypatch.delenv(name)
    plain = client_setup.connection("zed")
    [change] = plain.connecting()
    monkeypatch.setenv("HOLDFAST_HOME", "/srv/ann")
    monkeypatch.setenv("HOLDFAST_DB", "team.db")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")

    client_setup.connection("zed", space="work").connect()
    told = read(change.path)["context_servers"]["holdfast"]
    for name in carried():
        monkeypatch.delenv(name)
    plain.connect()

    env = {"HOLDFAST_HOME": "/srv/ann", "HOLDFAST_DB": f"{project}/team.db", "HOLDFAST_SPACE": "work"}
    assert told == {"command": plain.setup.server, "args": ["mcp"], "env": env}
    assert change.path.read_bytes() == (change.after or b"").replace(
        b'"mcp"\n      ]', b'"mcp"\n      ],\n      "env": {}'
    )


@pytest.mark.slow
def test_what_is_written_starts_a_server_that_finds_the_memories(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(project / "elsewhere"))
    with Memories.open() as memories:
        memories.remember("Deploys run on Fridays")
    connection = client_setup.connection("cursor")
    connection.connect()
    entry = read(file_of(connection))["mcpServers"]["holdfast"]

    found = asyncio.run(search_with(entry, "deploys"))

    assert "Fridays" in found


async def search_with(entry: dict[str, Any], query: str) -> str:
    """What a client finds that starts the server without the environment of a shell."""
    plain = {"HOME": str(Path.home()), "PATH": os.defpath, **entry["env"]}
    command = StdioServerParameters(command=entry["command"], args=entry["args"], env=plain, cwd="/")
    async with stdio_client(command) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        return str(await session.call_tool("memory_search", {"query": query}))


def test_the_file_of_a_project_has_one_entry_for_claude_code_and_all_others(project: Path) -> None:
    client_setup.connection("claude-code", scope="project").connect()
    before = (project / ".mcp.json").read_bytes()

    [change] = client_setup.connection("mcp-json").connect()

    assert not change.needed
    assert (project / ".mcp.json").read_bytes() == before


def test_a_client_is_in_use_if_its_folder_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    for folder in (".cursor", ".codeium/windsurf", ".continue"):
        (Path.home() / folder).mkdir(parents=True)
    (Path.home() / ".codeium" / "other").mkdir()

    assert client_setup.clients_in_use() == ["cursor", "windsurf", "continue"]
