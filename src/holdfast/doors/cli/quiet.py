"""The command that switches capture off and on, and shows where it is off."""

import os
from typing import TYPE_CHECKING

import click

from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.quiet import SwitchedOff


@click.command()
@click.argument("switch", required=False, type=click.Choice(["on", "off"]))
@click.option("--project", metavar="NAME", help="The project; the git root's name here if nothing is said.")
@click.option("--session", metavar="ID", help="One session of an agent.")
@click.option("--everywhere", is_flag=True, help="All projects and sessions.")
@in_space
@click.pass_obj
def quiet(call: Call, switch: str | None, project: str | None, session: str | None, everywhere: bool) -> None:
    """Switch capture off or on, and see where it is off.

    While it is quiet, nothing that is said is kept; what is known is still recalled. `HOLDFAST_QUIET=1` does
    the same for one run of an agent, and <private> regions are never kept.

    \b
        holdfast quiet
        holdfast quiet on
        holdfast quiet off --project website
        HOLDFAST_QUIET=1 claude
    """
    if "" in (project, session):  # most likely a variable that is not set
        raise click.UsageError("the name is empty: say which project or session", click.get_current_context())
    if switch is not None and project is None and session is None and not everywhere:
        project = _project_here()
    kept = _switched(switch, project, session, everywhere)
    here = _reason_here()
    lines = [f"here: {'capture is on' if here is None else here}"]
    lines += ["everywhere: quiet"] if kept.everywhere else []
    lines += [f"project {say.one_line(name)}: quiet" for name in kept.projects]
    lines += [f"session {say.one_line(name)}: quiet" for name in kept.sessions]
    answer = {
        "here": here,
        "everywhere": kept.everywhere,
        "projects": kept.projects,
        "sessions": kept.sessions,
    }
    call.tell("\n".join(lines), answer)


def _reason_here() -> str | None:
    """Why nothing is captured in the working directory; none where capture is on."""
    from holdfast import places, quiet

    return quiet.reason(places.project_of(os.getcwd()))


def _project_here() -> str:
    from holdfast.places import project_of

    project = project_of(os.getcwd())
    if project is None:
        wrong = "this is no project: say --project, --session or --everywhere"
        raise click.UsageError(wrong, click.get_current_context())
    return project


def _switched(
    switch: str | None, project: str | None, session: str | None, everywhere: bool
) -> "SwitchedOff":
    """What is quiet, after the switch if there is one."""
    from holdfast import places, quiet
    from holdfast.errors import Invalid, Unavailable

    file = places.quiet_file()
    try:
        if switch is not None:
            quiet.switch(off=switch == "on", project=project, session=session, everywhere=everywhere)
        return quiet.switched_off()
    except ValueError as wrong:
        raise Invalid(f"{file} is damaged ({wrong}): mend or remove it; until then all is quiet") from None
    except OSError as trouble:
        raise Unavailable(f"{file} can't be used: {trouble.strerror}") from None
