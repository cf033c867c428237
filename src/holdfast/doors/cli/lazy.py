"""The names of all commands with a line of help each; a command's module is imported when it is used.

A test keeps the lines here equal to what the commands say of themselves.
"""

from importlib import import_module
from typing import Final

import click

# name: (module:function, one line of help)
SECTIONS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "Keep": {
        "remember": ("keep:remember", "Keep a text for later sessions (also: store)"),
        "revise": ("revise:revise", "Change a memory and keep what it was"),
        "forget": ("keep:forget", "Take memories out of sight and keep them there"),
        "restore": ("keep:restore", "Bring forgotten memories back"),
        "promote": ("keep:promote", "Make memories of a project global"),
        "erase": ("keep:erase", "Remove memories and every trace of them, for good"),
        "split": ("revise:split", "Make a wording that was counted as a repetition a memory of its own"),
        "link": ("keep:link", "Link one memory to another"),
    },
    "Look": {
        "recall": ("look:recall", "Find the memories that answer a question (also: search)"),
        "list": ("look:list_", "List memories"),
        "show": ("look:show", "Show one memory in full"),
        "why": ("look:why", "Tell where a memory came from and why it is believed"),
        "brief": ("look:brief", "Print the block for a prompt"),
        "context": ("context:context", "Print what is relevant to what was just said, for a prompt"),
        "inbox": ("inbox:inbox", "See and decide what waits for a person"),
        "memory": ("memory:memory", "List, delete, restore and decide, in the words of /memory in chats"),
        "cache-report": (
            "cache_report:cache_report",
            "Tell whether sessions kept their brief, byte for byte",
        ),
        "events": ("operations:events", "List what agents reported, the latest first"),
        "cooldowns": (
            "operations:cooldowns",
            "List the actions that services are resting from, and whether another is allowed",
        ),
    },
    "Care": {
        "capture": ("capture:capture", "Read what was said in sessions and keep what is worth it"),
        "tend": ("upkeep:tend", "Do the upkeep: fade, archive and propose, or show what it would do"),
        "audit": ("audit:audit", "Report what in a space is junk, and what to do about it"),
        "undo-session": ("upkeep:undo_session", "Take back everything that one session wrote"),
        "space": ("spaces:space", "Create, list, show, change and delete spaces"),
        "spend": ("spend:spend", "Tell what language models cost: calls, tokens, money"),
        "doctor": ("doctor:doctor", "Check the installation and say what to do"),
        "migrate": ("upkeep:migrate", "Bring the database to this release's schema"),
    },
    "Move": {
        "export": ("transfer:export", "Write a space as an archive of JSON lines"),
        "import": (
            "transfer:import_",
            "Take in transcripts, exports, notes, an archive, tables or plain text",
        ),
        "files": ("files:files", "Keep a directory of files that is the same memory"),
        "backup": ("backup:backup", "Back up all spaces into one file, or put them back"),
    },
    "Agents": {
        "chat": ("chat:chat", "Talk with a model that remembers"),
        "run": ("run:run", "Run an agent with what is known, and keep what it records"),
        "connect": ("connect:connect", "Let an agent use the memory: hooks and the MCP server"),
        "disconnect": ("connect:disconnect", "Take out exactly what connect put in"),
        "quiet": ("quiet:quiet", "Switch capture off or on, and see where it is off"),
    },
    "Serve": {
        "up": ("up:up", "Set everything up and end with a first recall from your own past"),
        "serve": ("serve:serve", "Run the service: dashboard, REST, hooks, MCP, proxy, background work"),
        "open": (
            "open_dashboard:open_",
            "Open the running service's dashboard in a browser (also: dashboard)",
        ),
        "mcp": ("mcp:mcp", "Serve the memory to an MCP client, on standard input and output"),
        "service": ("service:service", "Run the service with the machine: install, uninstall, stop, status"),
        "token": ("token:token", "Create, list and revoke tokens for the service"),
        "telegram": ("telegram:telegram", "Answer /memory on Telegram, for the people that you allow"),
    },
    "More": {
        "tour": ("tour:command", "Walk through six commands, in a store that is thrown away"),
        "where": ("upkeep:where", "Print where the database is"),
        "completion": ("completion:completion", "Print the completion script of a shell"),
    },
}
ALIASES: Final = {"store": "remember", "search": "recall", "dashboard": "open"}
COMMANDS: Final = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class WholeLines(click.Group):
    """A group whose help shows the first line of each command to its end, on two lines if need be."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(1_000)) for name in self.commands]
            )


class LazyGroup(click.Group):
    """A group that knows its commands by name alone until one of them is called."""

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
            ctx.fail(f"there is no command {name!r}{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), says) for name, (_, says) in section.items()])
