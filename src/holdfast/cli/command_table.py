"""The names of all commands with one line of help each; a command's module is imported on first use.

A test keeps these lines equal to the commands' own docstrings.
"""

from importlib import import_module
from typing import Final

import click

# name: (module:function, one line of help)
SECTIONS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "Store and edit": {
        "remember": ("remember:remember", "Store a memory (also: store)"),
        "revise": ("revise:revise", "Edit a memory; earlier versions are kept"),
        "forget": ("remember:forget", "Delete memories (restorable unless the profile deletes for good)"),
        "restore": ("remember:restore", "Restore deleted memories"),
        "promote": ("remember:promote", "Make project memories global"),
        "erase": ("remember:erase", "Erase memories and every trace of them for good"),
        "split": ("revise:split", "Split a wrongly merged duplicate into its own memory"),
        "link": ("remember:link", "Link two memories"),
    },
    "Search and read": {
        "recall": ("recall:recall", "Search memories and past messages (also: search)"),
        "list": ("recall:list_", "List memories"),
        "show": ("recall:show", "Show one memory in full"),
        "why": ("recall:why", "Explain where a memory came from and why it is trusted"),
        "brief": ("recall:brief", "Print the memory block for a prompt"),
        "context": ("context:context", "Print memories relevant to the latest messages"),
        "inbox": ("inbox:inbox", "Review memories waiting for approval"),
        "memory": ("memory:memory", "Run a /memory chat command: list, delete, restore, approve"),
        "cache-report": (
            "cache_report:cache_report",
            "Report whether each session's brief stayed byte-identical",
        ),
        "events": ("operations:events", "List events that agents reported, newest first"),
        "cooldowns": (
            "operations:cooldowns",
            "List actions on cooldown",
        ),
    },
    "Maintain": {
        "capture": ("capture:capture", "Extract memories from sessions"),
        "tend": ("upkeep:tend", "Run upkeep: decay, archive and propose merges"),
        "audit": ("audit:audit", "Report duplicates, contradictions, secrets and unused memories"),
        "undo-session": ("upkeep:undo_session", "Undo everything that a session wrote"),
        "space": ("spaces:space", "Manage spaces: create, list, show, change, delete"),
        "spend": ("spend:spend", "Show language model usage and cost"),
        "doctor": ("doctor:doctor", "Check the installation and suggest fixes"),
        "migrate": ("upkeep:migrate", "Upgrade the database schema"),
    },
    "Import and export": {
        "export": ("transfer:export", "Export a space as JSON lines"),
        "import": (
            "transfer:import_",
            "Import transcripts, chat exports, notes, archives, CSV or plain text",
        ),
        "files": ("files:files", "Sync memories with a folder of Markdown files"),
        "backup": ("backup:backup", "Back up all spaces to one file, or restore them"),
    },
    "Agents": {
        "chat": ("chat.command:chat", "Chat with a model that uses your memories"),
        "run": ("run:run", "Run an agent with memory and record what it learns"),
        "connect": ("connect:connect", "Connect an agent: install its hooks and MCP server"),
        "disconnect": ("connect:disconnect", "Disconnect an agent: remove what connect added"),
        "quiet": ("quiet:quiet", "Turn quiet mode on or off: in quiet mode nothing is captured"),
    },
    "Service": {
        "up": ("up:up", "Set everything up: transcripts, service, agents, a first recall"),
        "serve": ("serve:serve", "Run the service: dashboard, REST, hooks, MCP, proxy, background jobs"),
        "open": (
            "open_dashboard:open_",
            "Open the dashboard in a browser (also: dashboard)",
        ),
        "mcp": ("mcp:mcp", "Run an MCP server on standard input and output"),
        "service": ("service:service", "Start the service at login: install, uninstall, stop, status"),
        "token": ("token:token", "Manage access tokens: create, list, revoke"),
        "telegram": ("telegram.command:telegram", "Run a Telegram bot that answers /memory"),
    },
    "Other": {
        "tour": ("tour:command", "Try six commands on temporary data"),
        "where": ("upkeep:where", "Print the path of the database"),
        "completion": ("completion:completion", "Print a shell completion script"),
    },
}
ALIASES: Final = {"store": "remember", "search": "recall", "dashboard": "open"}
COMMANDS: Final = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class WholeLines(click.Group):
    """A group whose help does not truncate the summaries of its commands."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(1_000)) for name in self.commands]
            )


class LazyGroup(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(ALIASES.get(cmd_name, cmd_name))
        if entry is None:
            return None
        module, _, function = entry[0].partition(":")
        command = getattr(import_module(f"{__package__}.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and name not in ALIASES and not ctx.resilient_parsing:
            from difflib import get_close_matches

            close = get_close_matches(name, [*COMMANDS, *ALIASES], n=2)
            meant = f": did you mean {' or '.join(close)}?" if close else ""
            ctx.fail(f"unknown command {name!r}{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), says) for name, (_, says) in section.items()])
