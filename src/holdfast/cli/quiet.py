"""The command `quiet`: turns capture off and on, and shows where it is off."""

import os
from typing import TYPE_CHECKING

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.agents.capture_off import SwitchedOff


@click.command()
@click.argument("switch", required=False, type=click.Choice(["on", "off"]))
@click.option("--project", metavar="NAME", help="A project. Default: the git repository of this directory.")
@click.option("--session", metavar="ID", help="A session of an agent.")
@click.option("--everywhere", is_flag=True, help="All projects and sessions.")
@in_space
@click.pass_obj
def quiet(call: Call, switch: str | None, project: str | None, session: str | None, everywhere: bool) -> None:
    """Turn quiet mode on or off: in quiet mode nothing is captured.

    Recall still works in quiet mode. `HOLDFAST_QUIET=1` sets it for one run of an agent; text in <private>
    tags is never stored. Without an argument, shows where quiet mode is on.

    \b
        holdfast quiet
        holdfast quiet on
        holdfast quiet off --project website
        HOLDFAST_QUIET=1 claude
    """
    if "" in (project, session):  # most likely a variable that is not set
        raise click.UsageError("empty name: give a project or session", click.get_current_context())
    if switch is not None and project is None and session is None and not everywhere:
        project = _project_here()
    kept = _switched(switch, project, session, everywhere)
    here = _reason_here()
    lines = [f"Here: {'capture is on' if here is None else here}"]
    lines += ["Everywhere: quiet"] if kept.everywhere else []
    lines += [f"Project {say.one_line(name)}: quiet" for name in kept.projects]
    lines += [f"Session {say.one_line(name)}: quiet" for name in kept.sessions]
    answer = {
        "here": here,
        "everywhere": kept.everywhere,
        "projects": kept.projects,
        "sessions": kept.sessions,
    }
    call.tell("\n".join(lines), answer)


def _reason_here() -> str | None:
    """Why nothing is captured in the working directory; none where capture is on."""
    from holdfast.agents import capture_off
    from holdfast.app import paths

    return capture_off.reason(paths.project_of(os.getcwd()))


def _project_here() -> str:
    from holdfast.app.paths import project_of

    project = project_of(os.getcwd())
    if project is None:
        wrong = "not in a git repository: give --project, --session or --everywhere"
        raise click.UsageError(wrong, click.get_current_context())
    return project


def _switched(
    switch: str | None, project: str | None, session: str | None, everywhere: bool
) -> "SwitchedOff":
    """What is quiet, after the switch if there is one."""
    from holdfast.agents import capture_off
    from holdfast.app import paths
    from holdfast.errors import Invalid, Unavailable

    file = paths.quiet_file()
    try:
        if switch is not None:
            capture_off.switch(off=switch == "on", project=project, session=session, everywhere=everywhere)
        return capture_off.switched_off()
    except ValueError as wrong:
        raise Invalid(
            f"{file} is invalid ({wrong}): fix or remove it; until then nothing is captured"
        ) from None
    except OSError as trouble:
        raise Unavailable(f"{file} can't be used: {trouble.strerror}") from None
