"""The commands status and uninstall: Holdfast on this machine."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, confirm, on_store
from holdfast.cli.spaces import overview_table

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.cli.service_process import Running
    from holdfast.engine.memories import Memories
    from holdfast.engine.spaces import Overview

#: What Holdfast keeps in its home, apart from the database.
_KEPT = (
    "token", "service.json", "service.lock", "service.log", "start.lock", "browsers.json", "quiet.json",
    "hooks.log", "spool", "positions", "backups", "briefs", "context", "context-files.json", "directories",
    "directories.json", "connections.json",
)  # fmt: skip


@click.command()
@on_store
def status(call: Call) -> None:
    """Show the service, agents, hooks, memories, inbox, cost and disk at a glance.

    `holdfast doctor` checks all of it and suggests fixes.

    \b
        holdfast status
    """
    from holdfast.app import client_setup
    from holdfast.cli.service_process import running
    from holdfast.domain.spend import dollars, total
    from holdfast.engine.spaces import overview

    found, states = running(), client_setup.client_states(call.usual_space, call.db)
    clients = [each.title for each in states if each.state in ("connected", "otherwise")]
    with call.store() as store:
        where = store.where()
        spaces = [overview(each.name, store=store) for each in store.spaces()]
        opened = [call.space_in(store, each.space.name) for each in spaces]
        spent = total(memories.spend(days=1).today for memories in opened)
        left = sum(memories.unread_sessions() for memories in opened)
        brief = max(filter(None, map(_last_brief, opened)), default=None)
    facts = {
        "service": _service(found),
        "agents": ", ".join(clients) or "none connected; connect one with `holdfast connect`",
        "hooks": _hooks(brief, call.time()()),
        "memories": f"{sum(each.active for each in spaces):,} in {say.count(len(spaces), 'space')}",
        **_reading(left, sum(each.sessions for each in spaces), found),
        "inbox": _inbox({each.space.name: each.waiting for each in spaces if each.waiting}, call.usual_space),
        "models": f"{dollars(spent.micro_dollars)} today in {say.count(spent.calls, 'call')}",
        "database": f"{where}{_sizes(where)}",
    }
    if call.json:
        answer = {"service": found.url if found else None, "clients": clients, "database": where}
        read = {"last_brief": brief and brief[0], "unread_sessions": left}
        call.tell("", {**answer, "spent": spent, "spaces": spaces, **read})
    else:
        _show(facts, spaces)


def _show(facts: dict[str, str], spaces: "list[Overview]") -> None:
    for name, value in facts.items():
        click.echo(f"{click.style(name.rjust(8), dim=True)}  {say.hint(say.one_line(value))}")
    if spaces:
        click.echo()
        overview_table(spaces).show()


def _service(found: "Running | None") -> str:
    if found is None:
        return "not running; start it with `holdfast up`"
    return f"running at {found.url}; stop it with `holdfast service stop`"


def _reading(left: int, sessions: int, found: "Running | None") -> dict[str, str]:
    """How far the background has read the sessions; nothing once it has."""
    if not left:
        return {}
    stopped = "" if found else "; the service reads the rest once it runs"
    return {"reading": f"{sessions - left:,} of {say.count(sessions, 'session')}{stopped}"}


def _last_brief(memories: "Memories") -> "tuple[datetime, str] | None":
    """When a session was given a brief for the last time, and the agent of the session."""
    reports = memories.cache_report().sessions
    return max(
        ((block.given_at, report.session.client or "") for report in reports for block in report.blocks),
        default=None,
    )


def _hooks(brief: "tuple[datetime, str] | None", now: "datetime") -> str:
    from holdfast.app.machine_checks import hook_findings

    failures = [each.says for each in hook_findings(now)]
    return "; ".join([_given(brief), *(failures or ["no failure in the last 24 hours"])])


def _given(brief: "tuple[datetime, str] | None") -> str:
    if brief is None:
        return "no brief given yet"
    return f"last brief {say.moment(brief[0])} UTC{f' to {brief[1]}' if brief[1] else ''}"


def _inbox(waiting: dict[str, int], usual: str) -> str:
    """What waits, by space, and the command that shows it."""
    if not waiting:
        return "0 waiting"
    named = "" if usual in waiting else f" --space {next(iter(waiting))}"
    return f"{sum(waiting.values()):,} waiting; review with `holdfast inbox{named}`"


def _sizes(where: str) -> str:
    path = Path(where)
    if not path.is_file():
        return ""
    size, free = path.stat().st_size, shutil.disk_usage(path.parent).free
    return f", {size / 2**20:,.1f} MiB, {free / 2**30:,.0f} GiB free"


@click.command()
@click.option("--delete-data", is_flag=True, help="Also delete all memories, tokens and logs.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Show what would be done without doing it.")
@on_store
def uninstall(call: Call, delete_data: bool, yes: bool, dry_run: bool) -> None:
    """Remove Holdfast from this machine: disconnect all agents, stop and remove the service.

    Asks first; without a terminal it needs --yes. Memories are kept, unless --delete-data is given.
    Databases that are not in the data directory are never deleted. Prints the command that removes the
    program itself.

    \b
        holdfast uninstall --dry-run
        holdfast uninstall
        holdfast uninstall --delete-data
    """
    from holdfast.app import installation, paths
    from holdfast.cli import service_process, service_unit
    from holdfast.cli.agents import disconnected_all

    data = _data(paths.home()) if delete_data else []
    if not dry_run:
        fate = "all memories are deleted for good" if data else "memories are kept"
        confirm(
            f"This disconnects all agents, and stops and removes the service; {fate} in {paths.home()} "
            "(--dry-run shows every change)",
            yes=yes,
        )
    unit = service_unit.unit(service_unit.own_kind(), {})
    told, answer = disconnected_all(dry_run)
    texts = [told]
    if dry_run:
        texts.append("Would stop the service, if it runs, and remove its unit, if there is one")
        texts += [f"Would delete {say.one_line(str(path))}" for path in data]
    else:
        removed, stopped = service_unit.uninstall(unit), service_process.stop()
        texts += ["Stopped the service"] * bool(stopped or removed)
        texts += [_deleted(path) for path in data]
        texts += [] if data else [f"Memories are kept in {say.one_line(paths.home())}"]
        texts.append(f"Remove the program with `{installation.removal()}`")
    call.tell("\n".join(texts), {**answer, "deleted": [str(path) for path in data]})
    if answer["failed"]:
        raise click.exceptions.Exit(1)


def _data(home: str) -> list[Path]:
    """What Holdfast wrote into its home; files of others there are left alone."""
    folder = Path(home)
    return [*sorted(folder.glob("holdfast.db*")), *filter(os.path.lexists, map(folder.joinpath, _KEPT))]


def _deleted(path: Path) -> str:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return f"Deleted {say.one_line(str(path))}"
