"""The commands for the service as a systemd or launchd unit."""

from typing import TYPE_CHECKING

import click

from holdfast.cli import WholeLines, say
from holdfast.cli.call import Call, in_space, on_store

if TYPE_CHECKING:
    from holdfast.cli.service_process import Running
    from holdfast.cli.service_unit import Kind

_KIND = click.option(
    "--for",
    "kind",
    type=click.Choice(["systemd", "launchd"]),
    help="Service manager. Default: the one that this system uses.",
)


class _Service(WholeLines):
    """The group, which knows what starts the service."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in ("start", "restart") and not ctx.resilient_parsing:
            ctx.fail(f"unknown command {args[0]!r}: `holdfast up` starts the service")
        return super().resolve_command(ctx, args)


@click.group(cls=_Service)
def service() -> None:
    """Start the service at login: install, uninstall, stop, status.

    \b
        holdfast service install
        holdfast service status
    """


@service.command("print")
@_KIND
@in_space
def print_(call: Call, kind: "Kind | None") -> None:
    """Print the unit file of the service.

    A systemd user unit, or a launchd agent on macOS, with the paths of this installation and its database.

    \b
        holdfast service print
        holdfast service print --for launchd > holdfast.plist
    """
    from holdfast.cli import service_unit
    from holdfast.settings import carried

    made = service_unit.unit(kind or service_unit.own_kind(), carried(call.db, call.space))
    call.tell(made.text.rstrip("\n"), {"kind": made.kind, "path": str(made.path), "text": made.text})


@service.command()
@_KIND
@click.option("--dry-run", is_flag=True, help="Show what would be done without doing it.")
@in_space
def install(call: Call, kind: "Kind | None", dry_run: bool) -> None:
    """Install the unit and start the service, now and at every login.

    Replaces a unit that Holdfast wrote; refuses to overwrite any other file.

    \b
        holdfast service install --dry-run
        holdfast service install --db ~/memories.db
    """
    from holdfast.cli import service_unit
    from holdfast.settings import carried

    wanted = service_unit.unit(kind or service_unit.own_kind(), carried(call.db, call.space))
    answer: dict[str, object] = {"kind": wanted.kind, "path": str(wanted.path)}
    if dry_run:
        commands = [" ".join(command) for command in wanted.start]
        lines = [f"Would write {say.one_line(str(wanted.path))}:", *_indented(wanted.text)]
        lines += ["And run:", *(f"    {say.one_line(command)}" for command in commands)]
        call.tell("\n".join(lines), {**answer, "text": wanted.text, "commands": commands, "done": False})
        return
    done = service_unit.install(wanted)
    lines = [
        f"{done.capitalize()}: {say.one_line(str(wanted.path))}",
        say.hint("  Remove it with `holdfast service uninstall`"),
    ]
    call.tell("\n".join(lines), {**answer, "outcome": done, "done": True})


@service.command()
@_KIND
@click.option("--dry-run", is_flag=True, help="Show what would be done without doing it.")
@on_store
def uninstall(call: Call, kind: "Kind | None", dry_run: bool) -> None:
    """Stop the service and remove its unit; memories are kept.

    \b
        holdfast service uninstall
    """
    from holdfast.cli import service_unit

    wanted = service_unit.unit(kind or service_unit.own_kind(), {})
    path = say.one_line(str(wanted.path))
    if dry_run:
        there = service_unit.installed(wanted)
        text = f"Would stop the service and remove {path}" if there else "Not installed"
        call.tell(text, {"path": str(wanted.path), "installed": there, "done": False})
        return
    removed = service_unit.uninstall(wanted)
    call.tell(
        f"Stopped the service and removed {path}" if removed else "Not installed",
        {"path": str(wanted.path), "removed": removed, "done": True},
    )


@service.command()
@on_store
def stop(call: Call) -> None:
    """Stop the running service; an installed unit starts it again at the next login, `holdfast up` at once.

    \b
        holdfast service stop
    """
    from holdfast.cli import service_process

    found = service_process.stop()
    text = f"Stopped the service (process {found.pid})" if found else "Not running"
    call.tell(text, {"stopped": found is not None, "pid": found.pid if found else None})


@service.command()
@on_store
def status(call: Call) -> None:
    """Show whether the service is running and whether its unit is installed.

    Exit code 1 when it is not running.

    \b
        holdfast service status
    """
    from holdfast.cli import service_unit
    from holdfast.cli.service_process import running

    found = running()
    own = service_unit.unit(service_unit.own_kind(), {})
    there = service_unit.installed(own)
    lines = [_running(found)]
    lines.append(
        f"Unit: {own.path}" if there else say.hint("No unit: `holdfast service install` starts it at login")
    )
    answer = {"running": found is not None, "url": found.url if found else None}
    call.tell("\n".join(lines), {**answer, "pid": found.pid if found else None, "installed": there})
    if found is None:
        raise click.exceptions.Exit(1)


def _running(found: "Running | None") -> str:
    if found is None:
        return say.hint("Not running: `holdfast up` starts it")
    return say.hint(f"Running at {found.url} (process {found.pid}); stop it with `holdfast service stop`")


def _indented(text: str) -> list[str]:
    return [f"    {say.visible(line)}" for line in text.rstrip("\n").split("\n")]
