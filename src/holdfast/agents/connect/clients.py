"""The supported clients, and our entries in their settings.

Each gets hooks (`holdfast-hook EVENT`; opencode by a plugin that runs them) and the MCP server (`holdfast
mcp`).
"""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from holdfast.agents.connect.settings_files import ClientSettings, JsonFile, SettingsEntry, Toml
from holdfast.errors import Invalid

Scope = Literal["user", "project", "local"]
NAME: Final = "holdfast"  # of the MCP server in every client
_PLUGIN: Final = Path(__file__).absolute().with_name("opencode.js")
_EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
_PATIENCE: Final = 3  # seconds a host waits for a hook that itself ends within one


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The scope, files and commands to set up."""

    home: Path
    root: Path  # of the project, for what is not the user's alone
    scope: Scope
    hook: str  # absolute paths of our two commands
    server: str
    space: str | None
    db: str | None  # an absolute path or URL of the database; None = from the settings
    environment: Mapping[str, str]
    context: str | None = None  # a file that holds the brief, for clients without hooks

    @property
    def server_arguments(self) -> list[str]:
        return ["mcp", *self._memory]

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
        return shlex.join([self.hook, *self.hook_arguments(event, client)])

    def folder(self, variable: str, usual: str) -> Path:
        """A client's folder, from its variable or at the default place."""
        chosen = self.environment.get(variable)
        return Path(chosen).expanduser() if chosen else self.home / usual


Files = Callable[[Setup], list[tuple[Path, ClientSettings]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientProgram:
    """A program that can be connected."""

    name: str
    title: str
    files: Files
    scopes: tuple[Scope, ...]
    program: str  # how it is called in a shell
    folder: tuple[str, str]  # the variable and the default path of the folder that exists if it is in use
    reads_context: bool = False  # from a file: no hook of its adds to a conversation
    then: str = ""  # what is left to do for a person


def _hooks(events: Sequence[str], hook: Callable[[str], dict[str, Any]]) -> list[SettingsEntry]:
    """An entry for each event; other programs may have theirs in the same lists."""
    return [SettingsEntry(("hooks", event), {"hooks": [hook(event)]}, True) for event in events]


def _claude_code(setup: Setup) -> list[tuple[Path, ClientSettings]]:
    def hook(event: str) -> dict[str, Any]:
        arguments = setup.hook_arguments(event, "claude-code")
        # Its form without a shell: no quoting, and one process less at every prompt.
        return {"type": "command", "command": setup.hook, "args": arguments, "timeout": _PATIENCE}

    hooks = JsonFile(_hooks(_EVENTS, hook))
    server = {
        "type": "stdio",
        "command": setup.server,
        "args": setup.server_arguments,
        "alwaysLoad": True,  # otherwise the model sees no tool before it searches for one
    }
    folder = setup.folder("CLAUDE_CONFIG_DIR", ".claude")
    own = folder if setup.environment.get("CLAUDE_CONFIG_DIR") else setup.home
    if setup.scope == "project":
        files = setup.root / ".claude" / "settings.json", setup.root / ".mcp.json"
        place: tuple[str, ...] = ("mcpServers", NAME)
    elif setup.scope == "local":
        files = setup.root / ".claude" / "settings.local.json", own / ".claude.json"
        place = ("projects", str(setup.root), "mcpServers", NAME)
    else:
        files = folder / "settings.json", own / ".claude.json"
        place = ("mcpServers", NAME)
    return [(files[0], hooks), (files[1], JsonFile([SettingsEntry(place, server)]))]


def _codex(setup: Setup) -> list[tuple[Path, ClientSettings]]:
    def hook(event: str) -> dict[str, Any]:
        return {"type": "command", "command": setup.hook_line(event, "codex"), "timeout": _PATIENCE}

    hooks = JsonFile(_hooks(_EVENTS, hook))
    server = {"command": setup.server, "args": setup.server_arguments, "startup_timeout_sec": 20}
    server["required"] = True  # its `exec` begins without the tools otherwise
    folder = setup.folder("CODEX_HOME", ".codex")
    return [(folder / "hooks.json", hooks), (folder / "config.toml", Toml(("mcp_servers", NAME), server))]


def _gemini(setup: Setup) -> list[tuple[Path, ClientSettings]]:
    def hook(event: str) -> dict[str, Any]:
        line = setup.hook_line(event, "gemini")
        return {"name": NAME, "type": "command", "command": line, "timeout": _PATIENCE * 1000}

    entries = _hooks(("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"), hook)
    entries.append(
        SettingsEntry(("mcpServers", NAME), {"command": setup.server, "args": setup.server_arguments})
    )
    above = setup.home if setup.scope == "user" else setup.root
    return [(above / ".gemini" / "settings.json", JsonFile(entries))]


def _opencode(setup: Setup) -> list[tuple[Path, ClientSettings]]:
    command = [setup.server, *setup.server_arguments]
    entries = [SettingsEntry(("mcp", NAME), {"type": "local", "command": command, "enabled": True})]
    # It has no hooks; our plugin gets the same events and runs the hook command.
    hook = {"command": [setup.hook, *setup.hook_arguments("", "opencode")[1:]]}
    entries.append(SettingsEntry(("plugin",), [_PLUGIN.as_uri(), hook], True))
    if setup.context is not None:
        entries.append(SettingsEntry(("instructions",), setup.context, True))
    folder = setup.root
    if setup.scope == "user":
        folder = setup.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    # It reads both; the one that is there is the user's.
    with_comments = folder / "opencode.jsonc"
    return [(with_comments if with_comments.exists() else folder / "opencode.json", JsonFile(entries))]


CLIENTS: Final[dict[str, ClientProgram]] = {
    client.name: client
    for client in (
        ClientProgram(
            name="claude-code",
            title="Claude Code",
            files=_claude_code,
            scopes=("user", "project", "local"),
            program="claude",
            folder=("CLAUDE_CONFIG_DIR", ".claude"),
        ),
        ClientProgram(
            name="codex",
            title="Codex",
            files=_codex,
            scopes=("user",),
            program="codex",
            folder=("CODEX_HOME", ".codex"),
            then="Codex asks once for permission to run the hooks: accept it in its next session.",
        ),
        ClientProgram(
            name="gemini",
            title="Gemini CLI",
            files=_gemini,
            scopes=("user", "project"),
            program="gemini",
            folder=("", ".gemini"),
        ),
        ClientProgram(
            name="opencode",
            title="opencode",
            files=_opencode,
            scopes=("user", "project"),
            program="opencode",
            folder=("", ".config/opencode"),
            reads_context=True,
        ),
    )
}


def client_named(name: str) -> ClientProgram:
    """Raises: Invalid, with the names that there are."""
    if name not in CLIENTS:
        raise Invalid(f"unknown client {name!r:.60}: use one of {', '.join(CLIENTS)}", field="client")
    return CLIENTS[name]


def in_use(environment: Mapping[str, str], home: Path) -> list[str]:
    """The clients that seem to be used on this machine: their folder or their command exists."""
    from shutil import which

    found = []
    for client in CLIENTS.values():
        variable, usual = client.folder
        folder = Path(environment[variable]) if environment.get(variable) else home / usual
        if folder.is_dir() or which(client.program, path=environment.get("PATH", os.defpath)):
            found.append(client.name)
    return found
