"""The command that backs up all spaces into one file, and puts them back."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, on_store
from holdfast.errors import Invalid


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--restore", is_flag=True, help="Put the spaces of FILE back.")
@click.option("--replace", is_flag=True, help="Also where a space has changed since the backup.")
@click.option("--anyway", is_flag=True, help="Back up damaged texts as they are.")
@on_store
@click.pass_obj
def backup(call: Call, file: str, restore: bool, replace: bool, anyway: bool) -> None:
    """Back up all spaces into one file, or put them back.

    Works while others write. The file appears whole or not at all and only its owner may read it. Each text
    is verified by its checksum first: damaged ones are named, and nothing is written. A restore checks the
    whole file first, refuses to undo later changes unless told to, and leaves deleted what was deleted since.

    \b
        holdfast backup holdfast-backup.gz
        holdfast backup holdfast-backup.gz --restore
        holdfast backup holdfast-backup.gz --restore --replace
    """
    if replace and not restore:
        raise click.UsageError("--replace belongs to --restore: add it", click.get_current_context())
    if restore:
        _put_back(call, file, replace)
    else:
        _back_up(call, Path(file), anyway)


def _back_up(call: Call, path: Path, anyway: bool) -> None:
    from holdfast.doors.cli.whole_files import write_whole
    from holdfast.engine.backup import backup_lines

    held: dict[str, int] = {}

    def counted(lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            if line.startswith('{"counts":'):
                footer = json.loads(line)
                held[footer["end"]] = footer["counts"].get("memories", 0)
            yield line

    with call.store() as store:
        if not store.spaces():
            raise Invalid("there is nothing to back up yet: no space exists here")
        write_whole(path, counted(backup_lines(store, damaged_too=anyway)), compressed=True)
    size = path.stat().st_size
    spaces = [{"space": name, "memories": memories} for name, memories in held.items()]
    what = f"{say.count(len(held), 'space')} with {say.memories(sum(held.values()))}"
    text = f"backed up {what} to {path} ({size:,} bytes)"
    call.tell(say.one_line(text), {"file": str(path), "bytes": size, "spaces": spaces})


def _put_back(call: Call, file: str, replace: bool) -> None:
    from holdfast.doors.cli.whole_files import read_lines
    from holdfast.engine.archive import read
    from holdfast.engine.backup import put_back
    from holdfast.wiring import own_judge

    archives = list(read(read_lines(file)))  # all of it is checked before anything is put back
    with call.store() as store:
        done = put_back(archives, store=store, clock=call.time(), judge=own_judge(), replace=replace)
    lines, spaces = [], []
    for one in done:
        buried = list(one.imported.buried)
        stays = f"; deleted since and stays so: {', '.join(buried)}" if buried else ""
        lines.append(f"put back space {one.space} with {say.memories(one.imported.added)}{stays}")
        spaces.append({"space": one.space, "memories": one.imported.added, "buried": buried})
    call.tell("\n".join(lines), {"file": file, "spaces": spaces})
