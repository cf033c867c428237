"""The commands that use agents: connect, disconnect, run."""

from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.agents.connect.clients import CLIENTS, Scope
from holdfast.cli import say
from holdfast.cli.call import Call, in_space, wrong_usage
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.agents.connect.connection import ClientConnection, SettingsChange

FILE = "file"
_CLIENT_OPTIONS = (
    click.argument("client", metavar="CLIENT", type=click.Choice([*CLIENTS, FILE])),
    click.argument("path", required=False, type=click.Path(dir_okay=False, path_type=Path)),
    click.option(
        "--scope",
        type=click.Choice(["user", "project", "local"]),
        help="Settings to edit: user, project (shared) or local (this project, not shared). "
        "Default: the first of these that the client has.",
    ),
    click.option("--project", is_flag=True, help="Same as --scope project."),
    click.option("--dry-run", is_flag=True, help="Show the changes without making them."),
)


def _for_client(command: Callable[..., None]) -> Callable[..., None]:
    """Adds what connect and disconnect take."""
    command = in_space(command)
    for option in reversed(_CLIENT_OPTIONS):
        command = option(command)
    return command


@click.command()
@_for_client
def connect(
    call: Call, client: str, path: Path | None, scope: Scope | None, project: bool, dry_run: bool
) -> None:
    """Connect an agent: install its hooks and MCP server.

    CLIENT is claude-code, codex, gemini or opencode for both; cursor, vscode, zed, windsurf, claude-desktop,
    continue or mcp-json (a project's .mcp.json, which several programs read) for the MCP server alone.
    Edits the agent's settings and keeps a copy of the original; safe to repeat.

    `connect file PATH` keeps an up-to-date brief in a file such as AGENTS.md, for agents that read one; its
    other lines are not changed.

    \b
        holdfast connect claude-code --dry-run
        holdfast connect claude-code
        holdfast connect gemini --project
        holdfast connect file AGENTS.md
    """
    from holdfast.app import client_setup

    if client == FILE:
        _watch(call, _file_given(path), dry_run)
        return
    found = _connection(call, client, path, scope, project)
    changes = found.connecting() if dry_run else client_setup.connect(found, call.db)
    if dry_run or not any(change.needed for change in changes):
        _tell(call, found, changes, "Nothing to do: already connected", dry_run)
        return
    lines = [f"Connected {found.client.title}", *(f"  {change.path}" for change in changes if change.needed)]
    lines += [f"  Backup: {backup}" for backup in found.backups()]
    lines += [found.client.then] if found.client.then else []
    scoped = ["--scope", found.setup.scope] if found.setup.scope != found.client.scopes[0] else []
    again = ["disconnect", client, *scoped]
    lines.append(f"Undo with `holdfast {' '.join(again)}`")
    _tell(call, found, changes, "\n".join(lines), dry_run)


@click.command()
@_for_client
def disconnect(
    call: Call, client: str, path: Path | None, scope: Scope | None, project: bool, dry_run: bool
) -> None:
    """Disconnect an agent: remove what connect added.

    If the settings have not been edited since, they are restored byte for byte.

    \b
        holdfast disconnect claude-code
        holdfast disconnect file AGENTS.md
    """
    from holdfast.app import client_setup

    if client == FILE:
        _unwatch(call, _file_given(path), dry_run)
        return
    found = _connection(call, client, path, scope, project)
    changes = found.disconnecting() if dry_run else client_setup.disconnect(found)
    if dry_run or not any(change.needed for change in changes):
        _tell(call, found, changes, "Nothing to do: not connected", dry_run)
        return
    lines = [f"Disconnected {found.client.title}"]
    lines += [
        f"  {change.path}{'' if change.after is not None else ' (removed)'}"
        for change in changes
        if change.needed
    ]
    _tell(call, found, changes, "\n".join(lines), dry_run)


def _connection(
    call: Call, client: str, path: Path | None, scope: Scope | None, project: bool
) -> "ClientConnection":
    from holdfast.app import client_setup

    if path is not None:
        raise click.UsageError(f"{client} takes no PATH: only `connect file PATH` does")
    if project and scope not in (None, "project"):
        raise click.UsageError(f"--project and --scope {scope} can't be combined")
    return client_setup.connection(
        client, scope="project" if project else scope, space=call.space, db=call.db
    )


def _tell(
    call: Call, found: "ClientConnection", changes: "list[SettingsChange]", text: str, dry_run: bool
) -> None:
    changed = [change for change in changes if change.needed]
    answer: dict[str, Any] = {
        "client": found.client.name,
        "scope": found.setup.scope,
        "dry_run": dry_run,
        "changed": [str(change.path) for change in changed],
        "backups": found.backups(),
    }
    if dry_run:
        diff = "".join(map(_diff, changed))
        answer["diff"] = diff
        text = diff.rstrip("\n") or text
    call.tell("\n".join(say.visible(line) for line in text.split("\n")), answer)


def _diff(change: "SettingsChange") -> str:
    before, after = (
        (side or b"").decode().splitlines(keepends=True) for side in (change.before, change.after)
    )
    old = str(change.path) if change.before is not None else "/dev/null"
    new = str(change.path) if change.after is not None else "/dev/null"
    lines = unified_diff(before, after, old, new)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


# -------------------------------------------------------------------------------------------- context files


def _file_given(path: Path | None) -> Path:
    if path is None:
        raise click.UsageError("missing PATH: for example `holdfast connect file AGENTS.md`")
    return path.expanduser().absolute()


def _watch(call: Call, path: Path, dry_run: bool) -> None:
    from holdfast.app import client_setup
    from holdfast.app.paths import project_of

    project = project_of(path.parent)
    with call.memories() as memories:
        file = client_setup.context(path, memories.store, space=memories.space, project=project)
        if not dry_run:
            client_setup.watch(file, memories.store)
    done = "Would write" if dry_run else "Writing"
    about = f" of project {project}" if project else ""
    text = f"{done} the brief{about} to {path}"
    call.tell(
        say.one_line(text), {"file": str(path), "space": file.space, "project": project, "dry_run": dry_run}
    )


def _unwatch(call: Call, path: Path, dry_run: bool) -> None:
    from holdfast.agents import context_files
    from holdfast.app import client_setup

    kept = any(known.path == str(path) for known in context_files.registered())
    if kept and not dry_run:
        client_setup.unwatch(path)
    if not kept:
        text = f"Nothing to do: {path} has no brief"
    else:
        text = f"{'Would remove' if dry_run else 'Removed'} the brief from {path}"
    call.tell(say.one_line(text), {"file": str(path), "removed": kept and not dry_run, "dry_run": dry_run})


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--tier", type=click.IntRange(1, 3), help="1 observes, 2 investigates, 3 remediates.")
@click.option("--service", help="The service to work on; its memories come first in the brief.")
@click.option(
    "--agent",
    type=click.Choice(["claude", "codex", "gemini", "plain"]),
    help="Output format of the command. Default: from the program name.",
)
@click.option("--name", help="A name for the session.")
@click.option("--project", help="The project. Default: the git repository of this directory.")
@click.option(
    "--prompts",
    metavar="FOLDER",
    help="Folder with your own prompt files.  [env: HOLDFAST_PROMPTS]",
)
@click.option("--no-capture", is_flag=True, help="Give the agent its brief, but record nothing.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@in_space
def run(call: Call, /, *, command: tuple[str, ...], no_capture: bool, **asked: Any) -> None:
    """Run an agent with memory and record what it learns.

    COMMAND is the agent's command line; if it starts with an option, claude is run. The agent gets the prompt
    of its tier, its environment and the brief; markers in its output are stored while it runs. If the store
    is unavailable, the agent runs without memory and a warning is printed.

    Output and exit code are those of the agent: its JSON stream byte for byte if the command asks for it,
    else its answer. An agent with plain text output (--agent plain) gets its prompt in HOLDFAST_PROMPT. To
    replace the built-in prompts, put files with these names into the --prompts folder: tier1-observe.md,
    tier2-investigate.md, tier3-remediate.md, environment.md, memory-recording.md.

    \b
        holdfast run --tier 1 --space ops -- claude -p "Check all services"
        holdfast run --tier 2 --space ops --service jellyfin -- claude -p "Why is it slow?"
        holdfast run --space ops -- codex exec "Read the logs of last night"
    """
    from holdfast.app.run_host import run_agent

    if not command:
        wrong = 'missing COMMAND: for example holdfast run -- claude -p "Check all services"'
        raise wrong_usage(wrong)
    try:
        code = run_agent(
            command,
            say=lambda line: click.echo(f"holdfast: {line}", err=True),
            captures=not no_capture,
            db=call.db,
            space=call.space,
            clock=call.clock,
            **asked,
        )
    except Invalid as error:
        raise wrong_usage(str(error)) from None
    raise click.exceptions.Exit(code)
