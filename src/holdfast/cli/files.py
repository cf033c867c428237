"""The commands that sync a space with a directory of files: init, status, sync, unbind."""

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space, space_options, wrong_usage

if TYPE_CHECKING:
    from holdfast.files.bindings import DirectoryState
    from holdfast.files.scan import SyncReport


@click.group()
@space_options
def files() -> None:
    """Sync memories with a folder of Markdown files.

    One Markdown file per memory, and an index in MEMORY.md. Changes go both ways: edit, move or delete files,
    keep them in git, and every agent sees the result; new memories appear as files.

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
    help="files: one folder with an index; folders: one folder per category; shared: next to Claude Code's "
    "own notes, whose index is appended to. Default: chosen by profile and directory.",
)
@in_space
def init(call: Call, directory: str, layout: str | None) -> None:
    """Bind the space to DIRECTORY; it is created if missing.

    Existing files are imported as memories; existing memories are written as files.

    \b
        holdfast files init .memory --space notes
        holdfast files init ~/.claude/projects/-home-me-app/memory --space notes --layout shared
    """
    with call.memories(creates=True) as memories:
        report = memories.bind_directory(directory, layout=layout)
        state = memories.directory()
    assert state is not None
    told = f"Bound space {say.one_line(memories.space)} to {say.one_line(state.path)}"
    call.tell(
        "\n".join([told, *_lines(report, memories.space)]),
        {"directory": state, "sync": _report(report)},
    )


@files.command()
@in_space
def status(call: Call) -> None:
    """Show the bound directory and its sync state.

    \b
        holdfast files status --space notes
    """
    with call.memories() as memories:
        state = memories.directory()
    if state is None:
        call.tell(
            say.hint("Not bound to a directory: bind one with `holdfast files init DIR`"), {"directory": None}
        )
        return
    call.tell("\n".join(_described(state, memories.space)), {"directory": state})


@files.command()
@click.option(
    "--accept-empty", is_flag=True, help="The directory was emptied on purpose: delete its memories."
)
@click.option(
    "--write-back", is_flag=True, help="The directory was emptied by mistake: write the files again."
)
@in_space
def sync(call: Call, accept_empty: bool, write_back: bool) -> None:
    """Sync the directory and the space now.

    Every command syncs automatically; this one also reports the changes. If the directory is empty or
    missing, no memory is deleted until you choose --accept-empty or --write-back.

    \b
        holdfast files sync --space notes
        holdfast files sync --space notes --write-back
    """
    if accept_empty and write_back:
        raise wrong_usage("--accept-empty and --write-back can't be combined")
    with call.memories() as memories:
        report = memories.sync_directory(accept_empty=accept_empty, write_back=write_back)
    call.tell("\n".join(_lines(report, memories.space)), {"sync": _report(report)})
    if report.asks:
        raise click.exceptions.Exit(1)


@files.command()
@in_space
def unbind(call: Call) -> None:
    """Unbind the directory; its files are kept.

    \b
        holdfast files unbind --space notes
    """
    with call.memories() as memories:
        path = memories.unbind_directory()
    call.tell(f"Unbound {say.one_line(path)}; its files are kept", {"unbound": path})


def _asked(asks: str, space: str) -> str:
    from holdfast.files.scan import ASKS_COMMAND

    return say.one_line(f"{asks}: {ASKS_COMMAND.format(space)}")


def _lines(report: "SyncReport", space: str) -> list[str]:
    if report.asks:
        return [_asked(report.asks, space)]
    told = {
        "Imported": [*report.taken, *report.new],
        "Moved": [f"{old} to {new}" for old, new in report.renamed],
        "Deleted": report.gone,
        "Written": report.written,
        "Removed": report.removed,
        "Secrets redacted": report.redacted,
        "Invalid YAML front matter, read line by line": report.by_lines,
        "Conflicts, waiting in the inbox": report.conflicts,
        "Skipped": [f"{path} ({why})" for path, (_, why) in report.refused.items()],
    }
    lines = [f"{what}: {say.one_line(_some(found))}" for what, found in told.items() if found]
    return lines or ["Already in sync"]


def _some(found: list[str], most: int = 10) -> str:
    more = f" and {len(found) - most:,} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def _described(state: "DirectoryState", space: str) -> list[str]:
    here = "" if state.here else ", on another machine"
    lines = [
        f"Bound to {say.one_line(state.path)}{here}",
        f"  layout     {state.layout}",
        f"  files      {state.files:,}",
        f"  synced     {say.moment(datetime.fromisoformat(state.agreed_at)) if state.agreed_at else 'never'}",
    ]
    if state.asks:
        lines.append(f"  action     {_asked(state.asks, space)}")
    if state.conflicts:
        lines.append(
            say.hint(f"  conflicts  {', '.join(state.conflicts)}: see both texts with `holdfast inbox`")
        )
    return lines + [f"  problem    {say.one_line(trouble)}" for trouble in state.troubles]


def _report(report: "SyncReport") -> dict[str, Any]:
    told = asdict(report)
    told["refused"] = {path: why for path, (_, why) in report.refused.items()}
    return told
