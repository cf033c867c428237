"""The commands around the service as a unit of the machine: print, install, uninstall, stop, status."""

from typing import TYPE_CHECKING

import click

from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space, on_store
from holdfast.doors.cli.lazy import WholeLines

if TYPE_CHECKING:
    from holdfast.doors.cli.units import Kind

_KIND = click.option(
    "--for",
    "kind",
    type=click.Choice(["systemd", "launchd"]),
    help="The service manager; this machine's if not said.",
)


@click.group(cls=WholeLines)
def service() -> None:
    """Run the service with the machine: install, uninstall, stop, status.

    \b
        holdfast service install
        holdfast service status
    """


@service.command("print")
@_KIND
@in_space
@click.pass_obj
def print_(call: Call, kind: "Kind | None") -> None:
    """Print the unit that runs the service for this user.

    A systemd user unit, or a launchd agent on macOS, with the place of this installation and of its memories.

    \b
        holdfast service print
        holdfast service print --for launchd > holdfast.plist
    """
    from holdfast.doors.cli import units

    made = units.unit(kind or units.own_kind(), units.carried(call.db, call.space))
    call.tell(made.text.rstrip("\n"), {"kind": made.kind, "path": str(made.path), "text": made.text})


@service.command()
@_KIND
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@in_space
@click.pass_obj
def install(call: Call, kind: "Kind | None", dry_run: bool) -> None:
    """Install the unit and start it, now and at every login.

    A unit of ours that reads differently is replaced; a file that somebody else wrote is left alone.

    \b
        holdfast service install --dry-run
        holdfast service install --db ~/memories.db
    """
    from holdfast.doors.cli import units

    wanted = units.unit(kind or units.own_kind(), units.carried(call.db, call.space))
    answer: dict[str, object] = {"kind": wanted.kind, "path": str(wanted.path)}
    if dry_run:
        commands = [" ".join(command) for command in wanted.start]
        lines = [f"would write {say.one_line(str(wanted.path))}:", *_indented(wanted.text)]
        lines += ["and run:", *(f"    {say.one_line(command)}" for command in commands)]
        call.tell("\n".join(lines), {**answer, "text": wanted.text, "commands": commands, "done": False})
        return
    done = units.install(wanted)
    lines = [f"{done}: {say.one_line(str(wanted.path))}", "  `holdfast service uninstall` takes it back"]
    call.tell("\n".join(lines), {**answer, "outcome": done, "done": True})


@service.command()
@_KIND
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@on_store
@click.pass_obj
def uninstall(call: Call, kind: "Kind | None", dry_run: bool) -> None:
    """Stop the unit and remove its file; memories stay.

    \b
        holdfast service uninstall
    """
    from holdfast.doors.cli import units

    wanted = units.unit(kind or units.own_kind(), {})
    path = say.one_line(str(wanted.path))
    if dry_run:
        there = units.installed(wanted)
        text = f"would stop the service and remove {path}" if there else "nothing is installed"
        call.tell(text, {"path": str(wanted.path), "installed": there, "done": False})
        return
    removed = units.uninstall(wanted)
    call.tell(
        f"stopped and removed {path}" if removed else "nothing is installed",
        {"path": str(wanted.path), "removed": removed, "done": True},
    )


@service.command()
@on_store
@click.pass_obj
def stop(call: Call) -> None:
    """Stop the running service, however it was started; an installed unit starts it again at the next login.

    \b
        holdfast service stop
    """
    from holdfast.doors.cli import running

    found = running.stop()
    text = f"stopped process {found.pid}" if found else "not running"
    call.tell(text, {"stopped": found is not None, "pid": found.pid if found else None})


@service.command()
@on_store
@click.pass_obj
def status(call: Call) -> None:
    """Tell whether the service runs, where, and whether a unit is installed.

    Ends with 1 when nothing answers.

    \b
        holdfast service status
    """
    from holdfast.doors.cli import units
    from holdfast.doors.cli.running import running

    found = running()
    own = units.unit(units.own_kind(), {})
    there = units.installed(own)
    lines = [f"running at {found.url}, process {found.pid}" if found else "not running"]
    lines.append(f"unit: {own.path}" if there else "no unit is installed: `holdfast service install`")
    answer = {"running": found is not None, "url": found.url if found else None}
    call.tell("\n".join(lines), {**answer, "pid": found.pid if found else None, "installed": there})
    if found is None:
        raise click.exceptions.Exit(1)


def _indented(text: str) -> list[str]:
    return [f"    {say.visible(line)}" for line in text.rstrip("\n").split("\n")]
