"""The commands capture, recapture and quiet: extract memories from sessions, and turn capture off and on."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from holdfast.cli import outcome_texts, say
from holdfast.cli.call import Call, in_space, wrong_usage

if TYPE_CHECKING:
    from holdfast.agents.capture_off import SwitchedOff
    from holdfast.engine.capture import Captured
    from holdfast.engine.memories import Memories
    from holdfast.engine.reading import ChunkResult


@click.command()
@click.option("--session", metavar="ID", help="Only this session. Default: all with unread messages.")
@click.option("--again", is_flag=True, help="Retry what a model failed to read.")
@click.option(
    "--leave",
    is_flag=True,
    help="Give up on what a model failed to read; the built-in model's result is kept.",
)
@in_space
def capture(call: Call, session: str | None, again: bool, leave: bool) -> None:
    """Extract memories from sessions.

    Uses the built-in model, and then a language model if HOLDFAST_EXTRACT_MODEL is set. The service does this
    automatically: every 10 messages, after 2 minutes, when a session ends, and after an import. Each message
    is read once; sessions in quiet mode are skipped.

    \b
        holdfast capture
        holdfast capture --session 4f7c
        holdfast capture --again
    """
    from holdfast.agents import capture_off

    if again and leave:
        raise click.UsageError("--again and --leave can't be combined")
    with call.memories() as memories:
        put_back = memories.read_again(drop=leave) if again or leave else 0
        read = memories.capture(session, quiet=capture_off.reason)
        with_model = list(_readings(memories, session))
    lines = [line for one in read for line in _lines(one)]
    lines += [line for reading in with_model for line in _model_lines(reading)]
    if leave:
        lines.append(f"{say.count(put_back, 'passage')} given up; the built-in model's result is kept")
    answer = {
        "sessions": read,
        "with_model": with_model,
    }
    call.tell("\n".join(lines or ["Nothing to read: everything is up to date"]), answer)


def _readings(memories: "Memories", session: str | None) -> "Iterator[ChunkResult]":
    from holdfast.agents import capture_off

    while (reading := memories.read_due(session, quiet=capture_off.reason)) is not None:
        yield reading


def _lines(one: "Captured") -> list[str]:
    if one.quiet is not None:
        return [f"Session {say.one_line(one.session)}: skipped, {one.quiet}"]
    head = f"Session {say.one_line(one.session)}: {say.count(one.messages, 'message')} read"
    lines = [head, *(f"  {outcome_texts.outcome(outcome)}" for outcome in one.outcomes)]
    lines += [f"  Deleted (withdrawn in the session): {say.headline(memory)}" for memory in one.withdrawn]
    return [*lines, *(f"  Not stored: {say.one_line(why)}" for why in one.refused)]


def _model_lines(one: "ChunkResult") -> list[str]:
    head = f"Session {say.one_line(one.session)}, with a model:"
    if one.trouble is not None:
        return [f"{head} failed, the built-in model's result is kept: {say.one_line(one.trouble)}"]
    lines = [f"  {outcome_texts.outcome(outcome)}" for outcome in one.outcomes]
    lines += [f"  Not stored: {say.one_line(why)}" for why in one.dropped]
    return [head, *lines] if lines else []


@click.command()
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@in_space
def recapture(call: Call, dry_run: bool) -> None:
    """Read stored messages again, with the current model.

    After an upgrade with a better model: adds what it finds in sessions that were captured before, and
    removes what it no longer finds. Memories that somebody edited, confirmed or pinned are left
    alone, and deleted ones stay deleted. All of it can be undone as one session.

    \b
        holdfast recapture --dry-run
        holdfast recapture
    """
    from holdfast.agents import capture_off

    with call.memories() as memories:
        done = memories.recapture(quiet=capture_off.reason, dry_run=dry_run)
    lines = [f"Added: {say.one_line(content)}" for content in done.added]
    lines += [f"Gone: {say.headline(memory)}" for memory in done.gone]
    lines.append(f"{len(done.added):,} added, {len(done.gone):,} gone")
    if dry_run:
        lines.append("Nothing was changed")
    elif done.session is not None:
        lines.append(f"Undo with {say.command('undo-session', done.session)}")
    call.tell("\n".join(lines), done)


@click.command()
@click.argument("switch", required=False, type=click.Choice(["on", "off"]))
@click.option("--project", metavar="NAME", help="A project. Default: the git repository of this directory.")
@click.option("--session", metavar="ID", help="A session of an agent.")
@click.option("--everywhere", is_flag=True, help="All projects and sessions.")
@in_space
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
        raise wrong_usage("empty name: give a project or session")
    if switch is not None and project is None and session is None and not everywhere:
        project = _project_here()
    kept = _switched(switch, project, session, everywhere)
    here = _reason_here()
    lines = [f"Here: {'capture is on' if here is None else here}"]
    lines += ["Everywhere: capture is off"] if kept.everywhere else []
    lines += [f"Project {say.one_line(name)}: capture is off" for name in kept.projects]
    lines += [f"Session {say.one_line(name)}: capture is off" for name in kept.sessions]
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
        raise wrong_usage(wrong)
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
