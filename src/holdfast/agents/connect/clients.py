"""The supported clients, and our entries in their settings: the MCP server, for some also hooks or a plugin.

docs/guides/agents.md names the pages that document these settings.
"""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import list2cmdline
from typing import Any, Final, Literal

from holdfast.agents.connect.settings_files import ClientSettings, JsonFile, SettingsEntry, Toml
from holdfast.errors import Invalid

Scope = Literal["user", "project", "local"]
NAME: Final = "holdfast"  # of the MCP server in every client
_PLUGIN: Final = Path(__file__).absolute().with_name("opencode.js")
_EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
_BLOCK: Final = "mcpServers/holdfast.json"
_STDIO: Final = {"type": "stdio"}
_CLAUDE: Final = {**_STDIO, "alwaysLoad": True}  # otherwise its model sees no tool before it searches for one
_PATIENCE: Final = 3  # seconds a host waits for a hook that itself ends within one


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Whose settings: a home directory, an environment, and a system as `sys.platform` names it."""

    home: Path
    environment: Mapping[str, str]
    system: str

    def folder(self, variable: str, usual: str) -> Path:
        """A folder that a variable names, or the default one."""
        chosen = self.environment.get(variable)
        return Path(chosen).expanduser() if chosen else self.home / usual

    @property
    def programs(self) -> Path:
        """Where desktop programs keep a user's settings."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "win32":
            return self.folder("APPDATA", "AppData/Roaming")
        return self.folder("XDG_CONFIG_HOME", ".config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The scope, files and commands to set up."""

    machine: Machine
    folder: Path  # of the client
    root: Path  # of the project, for what is not the user's alone
    scope: Scope
    hook: str  # absolute paths of our two commands
    server: str
    space: str | None
    db: str | None  # an absolute path or URL of the database; None = from the settings
    carried: Mapping[str, str]  # environment that names the space and database to desktop programs
    context: str | None = None  # a file that holds the brief, for clients without hooks

    @property
    def server_arguments(self) -> list[str]:
        return ["mcp", *self._memory]

    def server_entry(self, **more: Any) -> dict[str, Any]:
        """The MCP server, as most clients name it."""
        return {"command": self.server, "args": self.server_arguments, **more}

    def hook_arguments(self, event: str, client: str) -> list[str]:
        whose = ["--client", client] if client != "claude-code" else []
        return [event, *whose, *self._memory]

    @property
    def _memory(self) -> list[str]:
        """The options for a space or database other than the default."""
        named = {"--space": self.space, "--db": self.db}
        return [word for option, value in named.items() if value for word in (option, value)]

    def hook_line(self, event: str, client: str) -> str:
        """The same as one line for a shell."""
        words = [self.hook, *self.hook_arguments(event, client)]
        return list2cmdline(words) if self.machine.system == "win32" else shlex.join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientProgram:
    """A program that can be connected."""

    name: str
    title: str
    files: Callable[[Setup], list[tuple[Path, ClientSettings]]]
    scopes: tuple[Scope, ...] = ("user", "project")
    folder: Callable[[Machine], Path] | None  # that exists if it is in use
    program: str = ""  # how it is called in a shell
    reads_context: bool = False  # from a file: no hook of its adds to a conversation
    then: str = ""  # what is left to do for a person

    @property
    def desktop(self) -> bool:
        """Whether it is started without a shell, and so without our environment."""
        return self.folder is not None and not self.program


def _hooks(events: Sequence[str], hook: Callable[[str], dict[str, Any]]) -> list[SettingsEntry]:
    """An entry for each event; other programs may have theirs in the same lists."""
    return [SettingsEntry(("hooks", event), {"hooks": [hook(event)]}, True) for event in events]


def _zed_folder(machine: Machine) -> Path:
    above = machine.home / ".config" if machine.system == "darwin" else machine.programs
    return above / ("Zed" if machine.system == "win32" else "zed")


def _claude_desktop_folder(machine: Machine) -> Path:
    local = machine.folder("LOCALAPPDATA", "AppData/Local") / "Packages"
    # Installed as a Windows package, it reads its own place instead of the documented one.
    packaged = sorted(local.glob("Claude_*/LocalCache/Roaming")) if machine.system == "win32" else []
    return [machine.programs, *packaged][-1] / "Claude"


def _claude_code(setup: Setup) -> list[tuple[Path, ClientSettings]]:
    def hook(event: str) -> dict[str, Any]:
        arguments = setup.hook_arguments(event, "claude-code")
        # Its form without a shell: no quoting, and one process less at every prompt.
        return {"type": "command", "command": setup.hook, "args": arguments, "timeout": _PATIENCE}

    hooks = JsonFile(_hooks(_EVENTS, hook))
    own = setup.folder if setup.machine.environment.get("CLAUDE_CONFIG_DIR") else setup.machine.home
    place: tuple[str, ...] = ("mcpServers", NAME)
    files = setup.folder / "settings.json", own / ".claude.json"
    if setup.scope == "project":
        files = setup.root / ".claude" / "settings.json", setup.root / ".mcp.json"
    elif setup.scope == "local":
        files = setup.root / ".claude" / "settings.local.json", own / ".claude.json"
        place = ("projects", str(setup.root), "mcpServers", NAME)
    return [(files[0], hooks), (files[1], JsonFile([SettingsEntry(place, setup.server_entry(**_CLAUDE))]))]


def _codex(setup: Setup) -> list[tuple[Path, ClientSettings]]:
    def hook(event: str) -> dict[str, Any]:
        return {"type": "command", "command": setup.hook_line(event, "codex"), "timeout": _PATIENCE}

    hooks = JsonFile(_hooks(_EVENTS, hook))
    server = setup.server_entry(startup_timeout_sec=20, required=True)  # else `exec` begins without the tools
    servers = Toml(("mcp_servers", NAME), server)
    return [(setup.folder / "hooks.json", hooks), (setup.folder / "config.toml", servers)]


def _gemini(setup: Setup) -> list[tuple[Path, ClientSettings]]:
    def hook(event: str) -> dict[str, Any]:
        line = setup.hook_line(event, "gemini")
        return {"name": NAME, "type": "command", "command": line, "timeout": _PATIENCE * 1000}

    entries = _hooks(("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"), hook)
    entries.append(SettingsEntry(("mcpServers", NAME), setup.server_entry()))
    folder = setup.folder if setup.scope == "user" else setup.root / ".gemini"
    return [(folder / "settings.json", JsonFile(entries))]


def _opencode(setup: Setup) -> list[tuple[Path, ClientSettings]]:
    command = [setup.server, *setup.server_arguments]
    entries = [SettingsEntry(("mcp", NAME), {"type": "local", "command": command, "enabled": True})]
    # It has no hooks; our plugin gets the same events and runs the hook command.
    hook = {"command": [setup.hook, *setup.hook_arguments("", "opencode")[1:]]}
    entries.append(SettingsEntry(("plugin",), [_PLUGIN.as_uri(), hook], True))
    if setup.context is not None:
        entries.append(SettingsEntry(("instructions",), setup.context, True))
    folder = setup.folder if setup.scope == "user" else setup.root
    # It reads both; the one that is there is the user's.
    with_comments = folder / "opencode.jsonc"
    return [(with_comments if with_comments.exists() else folder / "opencode.json", JsonFile(entries))]


def _server_only(
    name: str,
    title: str,
    folder: Callable[[Machine], Path] | None = None,
    user: str = "",
    project: str = "",
    *,
    servers: str = "mcpServers",
    more: Mapping[str, Any] | None = None,
    then: str = "",
) -> ClientProgram:
    """A client that takes an MCP server and nothing else.

    `user` is a file in its folder, `project` one in a project; `more` are members of the entry.
    """

    def files(setup: Setup) -> list[tuple[Path, ClientSettings]]:
        path = setup.folder / user if setup.scope == "user" else setup.root / project
        added = {**(more or {}), **({"env": dict(setup.carried)} if setup.carried else {})}
        return [(path, JsonFile([SettingsEntry((servers, NAME), setup.server_entry(**added))]))]

    named: dict[Scope, str] = {"user": user, "project": project}
    scopes = tuple(scope for scope, file in named.items() if file)
    return ClientProgram(name=name, title=title, files=files, scopes=scopes, folder=folder, then=then)


CLIENTS: Final[dict[str, ClientProgram]] = {
    client.name: client
    for client in (
        ClientProgram(
            name="claude-code",
            title="Claude Code",
            files=_claude_code,
            scopes=("user", "project", "local"),
            folder=lambda its: its.folder("CLAUDE_CONFIG_DIR", ".claude"),
            program="claude",
        ),
        ClientProgram(
            name="codex",
            title="Codex",
            files=_codex,
            scopes=("user",),
            folder=lambda its: its.folder("CODEX_HOME", ".codex"),
            program="codex",
            then="Codex asks once for permission to run the hooks: accept it in its next session.",
        ),
        ClientProgram(
            name="gemini",
            title="Gemini CLI",
            files=_gemini,
            folder=lambda its: its.home / ".gemini",
            program="gemini",
        ),
        ClientProgram(
            name="opencode",
            title="opencode",
            files=_opencode,
            folder=lambda its: its.folder("XDG_CONFIG_HOME", ".config") / "opencode",
            program="opencode",
            reads_context=True,
        ),
        _server_only(
            "cursor", "Cursor", lambda its: its.home / ".cursor", "mcp.json", ".cursor/mcp.json", more=_STDIO
        ),
        _server_only(
            "vscode",
            "VS Code (Copilot)",
            lambda its: its.programs / "Code" / "User",
            "mcp.json",
            ".vscode/mcp.json",
            servers="servers",
            more=_STDIO,
            then="VS Code asks once whether to trust the server.",
        ),
        _server_only(
            "zed", "Zed", _zed_folder, "settings.json", ".zed/settings.json", servers="context_servers"
        ),
        _server_only(
            "windsurf",
            "Windsurf",
            lambda its: its.home / ".codeium" / "windsurf",
            "mcp_config.json",
            then="Refresh the MCP servers in Cascade, or restart Windsurf.",
        ),
        _server_only(
            "claude-desktop",
            "Claude Desktop",
            _claude_desktop_folder,
            "claude_desktop_config.json",
            then="Quit Claude Desktop and start it again.",
        ),
        _server_only(
            "continue", "Continue", lambda its: its.home / ".continue", _BLOCK, f".continue/{_BLOCK}"
        ),
        _server_only("mcp-json", "the project's .mcp.json", project=".mcp.json", more=_CLAUDE),
    )
}


def client_named(name: str) -> ClientProgram:
    """Raises: Invalid, with the names that there are."""
    if name not in CLIENTS:
        raise Invalid(f"unknown client {name!r:.60}: use one of {', '.join(CLIENTS)}", field="client")
    return CLIENTS[name]


def in_use(machine: Machine) -> list[str]:
    """The clients that seem to be used on this machine: their folder or their command exists."""
    from shutil import which

    path = machine.environment.get("PATH", os.defpath)
    return [
        client.name
        for client in CLIENTS.values()
        if client.folder
        and (client.folder(machine).is_dir() or (client.program and which(client.program, path=path)))
    ]
