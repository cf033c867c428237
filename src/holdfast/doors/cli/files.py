"""The commands about a directory that is the same memory: bind, look, bring to agree, let go."""

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space

if TYPE_CHECKING:
    from holdfast.files.bound import DirectoryState
    from holdfast.files.looks import SyncReport


@click.group()
@in_space
def files() -> None:
    """Keep a directory of files that is the same memory.

    What stands in the directory is what search, MCP, REST and the dashboard show, and the other way round:
    one markdown file a memory, and an index in MEMORY.md. Edit the files, move them, keep them in git.

    \b
        holdfast space create notes --profile files
        holdfast files init .memory --space notes
        holdfast files status --space notes
    """


@files.command()
@click.argument("directory", type=click.Path(file_okay=False))
@click.option(
    "--layout",
    type=click.Choice(("files", "folders", "shared")),
    help="files: one folder and an index; folders: a folder a category; shared: beside Claude Code's own "
    "notes, whose index is added to and never made anew. If not said, as the profile and the place suggest.",
)
@in_space
@click.pass_obj
def init(call: Call, directory: str, layout: str | None) -> None:
    """Bind the space to DIRECTORY, which is made if need be.

    Files that are in it already are taken over as memories; memories of the space are written into it.

    \b
        holdfast files init .memory --space notes
        holdfast files init ~/.claude/projects/-home-me-app/memory --space notes --layout shared
    """
    with call.memories() as memories:
        report = memories.bind_directory(directory, layout=layout)
        state = memories.directory()
    assert state is not None
    told = f"space {say.one_line(memories.space)} is bound to {say.one_line(state.path)}"
    call.tell(
        "\n".join([told, *_lines(report, memories.space)]),
        {"directory": _state(state), "sync": _report(report)},
    )


@files.command()
@in_space
@click.pass_obj
def status(call: Call) -> None:
    """Tell which directory the space is bound to and how both stand.

    \b
        holdfast files status --space notes
    """
    with call.memories() as memories:
        state = memories.directory()
    if state is None:
        call.tell("bound to no directory: `holdfast files init DIR` binds one", {"directory": None})
        return
    call.tell("\n".join(_described(state, memories.space)), {"directory": _state(state)})


@files.command()
@click.option(
    "--accept-empty", is_flag=True, help="The directory is empty on purpose: forget what was in it."
)
@click.option(
    "--write-back", is_flag=True, help="The directory was emptied by mistake: write its files again."
)
@in_space
@click.pass_obj
def sync(call: Call, accept_empty: bool, write_back: bool) -> None:
    """Bring the directory and the space to agree now.

    Every use does the same; this one tells what was done. A directory that is empty or gone never empties
    the space: then one of the options has to say what is meant.

    \b
        holdfast files sync --space notes
        holdfast files sync --space notes --write-back
    """
    if accept_empty and write_back:
        raise click.UsageError(
            "--accept-empty and --write-back exclude each other", click.get_current_context()
        )
    with call.memories() as memories:
        report = memories.sync_directory(accept_empty=accept_empty, write_back=write_back)
    call.tell("\n".join(_lines(report, memories.space)), {"sync": _report(report)})
    if report.asks:
        raise click.exceptions.Exit(1)


@files.command()
@in_space
@click.pass_obj
def unbind(call: Call) -> None:
    """Let go of the directory; its files stay as they are.

    \b
        holdfast files unbind --space notes
    """
    with call.memories() as memories:
        path = memories.unbind_directory()
    call.tell(f"{say.one_line(path)} is an ordinary directory again", {"unbound": path})


def _asked(asks: str, space: str) -> str:
    from holdfast.files.looks import ASKS_COMMAND

    return say.one_line(f"{asks}: {ASKS_COMMAND.format(space)}")


def _lines(report: "SyncReport", space: str) -> list[str]:
    if report.asks:
        return [_asked(report.asks, space)]
    told = {
        "taken over": [*report.taken, *report.new],
        "moved": [f"{old} to {new}" for old, new in report.renamed],
        "forgotten": report.gone,
        "written": report.written,
        "removed": report.removed,
        "freed of secrets": report.redacted,
        "with a heading that is no YAML, read line by line": report.by_lines,
        "changed on both sides, waiting in the inbox": report.conflicts,
        "left alone": [f"{path} ({why})" for path, (_, why) in report.refused.items()],
    }
    lines = [f"{what}: {say.one_line(_some(found))}" for what, found in told.items() if found]
    return lines or ["both sides agree"]


def _some(found: list[str], most: int = 10) -> str:
    more = f" and {len(found) - most:,} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def _described(state: "DirectoryState", space: str) -> list[str]:
    here = "" if state.here else ", which is on another machine"
    lines = [
        f"bound to {say.one_line(state.path)}{here}",
        f"  layout     {state.layout}",
        f"  files      {state.files:,}",
        f"  agreed     {say.moment(datetime.fromisoformat(state.agreed_at)) if state.agreed_at else 'never'}",
    ]
    if state.asks:
        lines.append(f"  asks       {_asked(state.asks, space)}")
    if state.conflicts:
        lines.append(f"  conflicts  {', '.join(state.conflicts)}: `holdfast inbox` shows both texts")
    return lines + [f"  trouble    {say.one_line(trouble)}" for trouble in state.troubles]


def _state(state: "DirectoryState") -> dict[str, Any]:
    return asdict(state)


def _report(report: "SyncReport") -> dict[str, Any]:
    told = asdict(report)
    told["refused"] = {path: why for path, (_, why) in report.refused.items()}
    return told
