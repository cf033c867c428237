"""The command line: all commands, the global options, and how errors become messages and exit codes.

Imports nothing but click until a command is called, so that `holdfast --help` is instant.
"""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Final, NoReturn

import click

from holdfast import __version__, errors
from holdfast.cli.call import Call, exit_code, kind_of, space_options, tell_json, told
from holdfast.cli.say import OnlyHere, echo

# name: (module:function, one line of help)
SECTIONS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "Store and edit": {
        "remember": ("remember:remember", "Store a memory (also: store)"),
        "revise": ("remember:revise", "Edit a memory; earlier versions are kept"),
        "forget": ("remember:forget", "Delete memories (restorable unless the profile deletes for good)"),
        "restore": ("remember:restore", "Restore deleted memories"),
        "promote": ("remember:promote", "Make project memories global"),
        "erase": ("remember:erase", "Erase memories and every trace of them for good"),
        "split": ("remember:split", "Split a wrongly merged duplicate into its own memory"),
        "link": ("remember:link", "Link two memories"),
    },
    "Search and read": {
        "recall": ("recall:recall", "Search memories and past messages (also: search)"),
        "list": ("memory_list:list_", "List memories"),
        "show": ("history:show", "Show one memory in full"),
        "why": ("history:why", "Explain where a memory came from and why it is trusted"),
        "brief": ("briefs:brief", "Print the memory block for a prompt"),
        "context": ("briefs:context", "Print memories that help with the latest message"),
        "inbox": ("inbox:inbox", "Review memories waiting for approval"),
        "memory": ("inbox:memory", "Run a /memory chat command: list, delete, restore, approve"),
        "cache-report": (
            "briefs:cache_report",
            "Report whether each session's brief stayed byte-identical",
        ),
        "sessions": ("sessions:sessions", "List sessions of agents; show one or name it"),
        "events": ("operations:events", "List events that agents reported, newest first"),
        "cooldowns": (
            "operations:cooldowns",
            "List actions on cooldown",
        ),
    },
    "Maintain": {
        "capture": ("capture:capture", "Extract memories from sessions"),
        "recapture": ("capture:recapture", "Read stored messages again, with the current model"),
        "tend": ("upkeep:tend", "Run upkeep: decay, archive and propose merges"),
        "audit": ("upkeep:audit", "Report duplicates, contradictions, secrets and unused memories"),
        "undo-session": ("sessions:undo_session", "Undo everything that a session wrote"),
        "space": ("spaces:space", "Manage spaces: create, list, show, change, delete"),
        "spend": ("operations:spend", "Show language model usage and cost"),
        "status": (
            "machine:status",
            "Show the service, agents, hooks, memories, inbox, cost and disk at a glance",
        ),
        "doctor": ("doctor:doctor", "Check the installation and suggest fixes"),
        "migrate": ("upkeep:migrate", "Upgrade the database schema"),
    },
    "Import and export": {
        "export": ("transfer:export", "Export a space as JSON lines"),
        "import": (
            "transfer:import_",
            "Import transcripts, chat exports, notes, archives, CSV or plain text",
        ),
        "sync": ("sync:sync", "Keep a space in step with the same space on another machine"),
        "files": ("files:files", "Sync memories with a folder of Markdown files"),
        "backup": ("backup:backup", "Back up all spaces, once or continuously; verify and restore"),
    },
    "Agents": {
        "chat": ("chat:chat", "Chat with a model that uses your memories"),
        "run": ("agents:run", "Run an agent with memory and record what it learns"),
        "connect": ("agents:connect", "Connect an agent: install its hooks and MCP server"),
        "disconnect": ("agents:disconnect", "Disconnect an agent: remove what connect added"),
        "quiet": ("capture:quiet", "Turn quiet mode on or off: in quiet mode nothing is captured"),
    },
    "Service": {
        "up": ("up:up", "Set everything up: transcripts, service, agents, a first recall"),
        "serve": ("serve:serve", "Run the service: dashboard, REST, hooks, MCP, proxy, background jobs"),
        "open": (
            "serve:open_",
            "Open the dashboard in a browser (also: dashboard)",
        ),
        "mcp": ("serve:mcp", "Run an MCP server on standard input and output"),
        "service": ("service:service", "Start the service at login: install, uninstall, stop, status"),
        "token": ("tokens:token", "Manage access tokens: create, list, change, rotate, revoke"),
        "access": ("access:access", "Show who read what, newest first"),
        "telegram": ("telegram:telegram", "Run a Telegram bot that answers /memory"),
    },
    "Other": {
        "tour": ("tour:command", "Try six commands on temporary data"),
        "where": ("upkeep:where", "Print the path of the database"),
        "uninstall": (
            "machine:uninstall",
            "Remove Holdfast from this machine: disconnect all agents, stop and remove the service",
        ),
        "completion": ("tour:completion", "Print a shell completion script"),
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


WRONG_USAGE = 2
UNFORESEEN = 1
INTERRUPTED = 130


class OneLineErrors(click.Group):
    """A command group that reports every error in one line."""

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        call = extra.pop("obj", None) or Call()
        if os.environ.get("NO_COLOR"):
            extra.setdefault("color", False)
        code = self.carried_out(list(sys.argv[1:] if args is None else args), call, **extra)
        _let_go_of_a_lost_output()
        sys.exit(code)

    def carried_out(self, given: list[str], call: Call, **extra: Any) -> int:
        """The exit code of a command, after its output.

        Raises: OnlyHere.
        """
        try:
            code = super().main(given, obj=call, standalone_mode=False, **extra)
        except OnlyHere:
            raise
        except click.Abort as abort:
            if abort.__cause__ is None:  # at a question: click has not ended its line
                click.echo(err=True)
            code = INTERRUPTED if isinstance(abort.__context__, KeyboardInterrupt) else UNFORESEEN
        except click.exceptions.NoArgsIsHelpError as wanted:
            wanted.show()
            code = WRONG_USAGE
        except click.ClickException as wrong:
            code = _tell(call, given, "usage", _usage(wrong), code=wrong.exit_code)
        except errors.HoldfastError as error:
            field = getattr(error, "field", None)
            code = _tell(call, given, kind_of(error), told(error), field=field, code=exit_code(error))
        except Exception as error:  # broad: the door's boundary; a person gets one line, never a traceback
            if os.environ.get("HOLDFAST_DEBUG"):
                raise
            said = f"{_unforeseen(error)} (set HOLDFAST_DEBUG=1 for a traceback)"
            code = _tell(call, given, "unforeseen", said, code=UNFORESEEN)
        return code if isinstance(code, int) else 0


class Holdfast(OneLineErrors, LazyGroup):
    """The commands of the product."""


def _tell(
    call: Call, given: Sequence[str], kind: str, message: str, *, code: int, field: str | None = None
) -> int:
    """One line on standard error; with --json the same as an object on standard output."""
    from holdfast.cli.say import hint, one_line

    # After a parse error call.json may not be set yet, so look at the raw arguments too.
    if call.json or "--json" in given:
        with suppress(OSError):  # the error may be a full disk
            tell_json({"error": {"kind": kind, "message": message, "field": field}})
    with suppress(OSError):
        echo(f"holdfast: {hint(one_line(message), call)}", err=True)
    return code


def _unforeseen(error: Exception) -> str:
    """The error in one line; for a system error its own text and the file name."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _usage(wrong: click.ClickException) -> str:
    message = wrong.format_message().strip().removesuffix(".")
    context = wrong.ctx if isinstance(wrong, click.UsageError) else None
    if context is None:
        return message
    end = " See" if message.endswith("?") else "; see"
    return f"{message[:1].lower()}{message[1:]}{end} `{context.command_path} --help`"


def _let_go_of_a_lost_output() -> None:
    """Discards a broken standard output (closed pipe, full disk), so that Python prints no error at exit."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ValueError:  # closed already
        pass


@click.group(
    cls=Holdfast,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@space_options
@click.version_option(__version__, prog_name="holdfast", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """One memory for every agent that you run.

    \b
        holdfast remember "Takes 60s to start after a restart" -c timing -s jellyfin
        holdfast recall how long does jellyfin need to start
        holdfast brief

    Global options work before and after the command. Exit codes: 0 success, 1 refused or not found,
    2 usage error, 3 store unavailable. Errors are one line on standard error; with --json, standard
    output also gets {"error": {"kind", "message", "field"}}.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """The `holdfast` command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # a terminal without UTF-8 shows escapes, not an error
    cli.main(prog_name="holdfast")
