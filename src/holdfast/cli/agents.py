"""The commands that use agents: connect, disconnect, run."""

from collections.abc import Callable
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.agents.connect.clients import CLIENTS, Scope
from holdfast.cli import say
from holdfast.cli.call import Call, in_space, wrong_usage
from holdfast.errors import HoldfastError, Invalid

if TYPE_CHECKING:
    from holdfast.agents.connect.connection import ClientConnection, SettingsChange

FILE = "file"
_CLIENT_OPTIONS = (
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


def _for_client(command: Callable[..., None], *, required: bool = True) -> Callable[..., None]:
    """Adds what connect and disconnect take."""
    command = in_space(command)
    for option in reversed(_CLIENT_OPTIONS):
        command = option(command)
    clients = click.Choice([*CLIENTS, FILE])
    return click.argument("client", metavar="CLIENT", type=clients, required=required)(command)


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
    found = _connection(call, client, path, scope, project, carry=True)
    changes = found.connecting() if dry_run else client_setup.connect(found, call.db)
    if dry_run or not any(change.needed for change in changes):
        _tell(call, found, changes, "Nothing to do: already connected", dry_run)
        return
    lines = [f"Connected {found.client.title}", *(f"  {change.path}" for change in changes if change.needed)]
    lines += [f"  Backup: {backup}" for backup in found.backups()]
    lines += [found.client.then] if found.client.then else []
    scoped = ["--scope", found.setup.scope] if found.setup.scope != found.client.scopes[0] else []
    again = ["disconnect", client, *scoped]
    lines.append(say.hint(f"Undo with `holdfast {' '.join(again)}`"))
    _tell(call, found, changes, "\n".join(lines), dry_run)


@click.command()
@partial(_for_client, required=False)
@click.option("--all", "everything", is_flag=True, help="Disconnect every client and file, in all projects.")
def disconnect(
    call: Call,
    client: str | None,
    path: Path | None,
    scope: Scope | None,
    project: bool,
    dry_run: bool,
    everything: bool,
) -> None:
    """Disconnect an agent: remove what connect added.

    If the settings have not been edited since, they are restored byte for byte.

    \b
        holdfast disconnect claude-code
        holdfast disconnect file AGENTS.md
        holdfast disconnect --all --dry-run
    """
    from holdfast.app import client_setup

    if everything and (client or scope or project):
        raise click.UsageError("--all takes no CLIENT and no scope")
    if everything:
        text, answer = disconnected_all(dry_run)
        call.tell(text, answer)
        if answer["failed"]:
            raise click.exceptions.Exit(1)
        return
    if client is None:
        raise click.UsageError("missing CLIENT: name one, or use --all")
    if client == FILE:
        _unwatch(call, _file_given(path), dry_run)
        return
    found = _connection(call, client, path, scope, project, carry=False)
    changes = found.disconnecting() if dry_run else client_setup.disconnect(found)
    needed = any(change.needed for change in changes)
    text = _disconnected(found, changes) if needed else "Nothing to do: not connected"
    _tell(call, found, changes, text, dry_run)


def _disconnected(found: "ClientConnection", changes: "list[SettingsChange]") -> str:
    needed = [change for change in changes if change.needed]
    files = (f"\n  {each.path}{'' if each.after is not None else ' (removed)'}" for each in needed)
    return f"Disconnected {found.client.title}{''.join(files)}"


def disconnected_all(dry_run: bool) -> tuple[str, dict[str, Any]]:
    """Disconnects every client and file, also after a failure, and tells about it."""
    from holdfast.agents import context_files
    from holdfast.app import client_setup

    files = [Path(file.path) for file in context_files.registered()]
    texts, answers, wrong = [], [], []
    for name, scope, root in client_setup.connections():
        try:
            found = client_setup.connection(name, scope=scope, root=root, carry=False)
            changes = found.disconnecting() if dry_run else client_setup.disconnect(found)
        except HoldfastError as error:
            wrong.append(f"{name}: {error}")
            continue
        if any(change.needed for change in changes):
            texts.append(_diffs(changes).rstrip("\n") if dry_run else _disconnected(found, changes))
            answers.append(_answer(found, changes, dry_run))
    for path in files:
        try:
            texts.append(_removed(path, dry_run))
        except HoldfastError as error:
            wrong.append(str(error))
    text = "\n".join([*texts, *wrong]) or "Nothing to do: nothing is connected"
    answer = {"dry_run": dry_run, "disconnected": answers, "files": [*map(str, files)], "failed": wrong}
    return say.visible(text), answer


def _connection(
    call: Call, client: str, path: Path | None, scope: Scope | None, project: bool, *, carry: bool
) -> "ClientConnection":
    from holdfast.app import client_setup

    if path is not None:
        raise click.UsageError(f"{client} takes no PATH: only `connect file PATH` does")
    if project and scope not in (None, "project"):
        raise click.UsageError(f"--project and --scope {scope} can't be combined")
    chosen: Scope | None = "project" if project else scope
    return client_setup.connection(client, scope=chosen, space=call.space, db=call.db, carry=carry)


def _tell(
    call: Call, found: "ClientConnection", changes: "list[SettingsChange]", text: str, dry_run: bool
) -> None:
    text = (dry_run and _diffs(changes).rstrip("\n")) or text
    call.tell(say.visible(text), _answer(found, changes, dry_run))


def _answer(found: "ClientConnection", changes: "list[SettingsChange]", dry_run: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "client": found.client.name,
        "scope": found.setup.scope,
        "dry_run": dry_run,
        "changed": [str(change.path) for change in changes if change.needed],
        "backups": found.backups(),
    }
    return {**answer, "diff": _diffs(changes)} if dry_run else answer


def _diffs(changes: "list[SettingsChange]") -> str:
    return "".join(_diff(change) for change in changes if change.needed)


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

    kept = any(known.path == str(path) for known in context_files.registered())
    text = _removed(path, dry_run) if kept else f"Nothing to do: {path} has no brief"
    call.tell(say.one_line(text), {"file": str(path), "removed": kept and not dry_run, "dry_run": dry_run})


def _removed(path: Path, dry_run: bool) -> str:
    from holdfast.app import client_setup

    if not dry_run:
        client_setup.unwatch(path)
    return f"{'Would remove' if dry_run else 'Removed'} the brief from {path}"


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
