"""The command `backup`: backs up all spaces to one file, and restores them."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from holdfast.cli import say
from holdfast.cli.call import Call, on_store
from holdfast.errors import Invalid


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--restore", is_flag=True, help="Restore the spaces from FILE.")
@click.option("--replace", is_flag=True, help="Restore even if a space has changed since the backup.")
@click.option("--anyway", is_flag=True, help="Back up even if some texts are damaged.")
@on_store
@click.pass_obj
def backup(call: Call, file: str, restore: bool, replace: bool, anyway: bool) -> None:
    """Back up all spaces to one file, or restore them.

    Safe while the store is in use; the file is written atomically and readable by its owner only. Texts are
    verified by checksum first: if one is damaged, it is reported and no backup is written. A restore verifies
    the whole file, does not overwrite later changes unless --replace is given, and does not restore memories
    that were deleted since.

    \b
        holdfast backup holdfast-backup.gz
        holdfast backup holdfast-backup.gz --restore
        holdfast backup holdfast-backup.gz --restore --replace
    """
    if replace and not restore:
        raise click.UsageError("--replace needs --restore", click.get_current_context())
    if restore:
        _put_back(call, file, replace)
    else:
        _back_up(call, Path(file), anyway)


def _back_up(call: Call, path: Path, anyway: bool) -> None:
    from holdfast.cli.atomic_files import write_whole
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
            raise Invalid("nothing to back up: there are no spaces yet")
        write_whole(path, counted(backup_lines(store, damaged_too=anyway)), compressed=True)
    size = path.stat().st_size
    spaces = [{"space": name, "memories": memories} for name, memories in held.items()]
    what = f"{say.count(len(held), 'space')} with {say.memories(sum(held.values()))}"
    text = f"Backed up {what} to {path} ({size:,} bytes)"
    call.tell(say.one_line(text), {"file": str(path), "bytes": size, "spaces": spaces})


def _put_back(call: Call, file: str, replace: bool) -> None:
    from holdfast.app.wiring import own_judge
    from holdfast.cli.atomic_files import read_lines
    from holdfast.engine.archive import read
    from holdfast.engine.backup import put_back

    archives = list(read(read_lines(file)))  # everything is verified before anything is restored
    with call.store() as store:
        done = put_back(archives, store=store, clock=call.time(), judge=own_judge(), replace=replace)
    lines, spaces = [], []
    for one in done:
        buried = list(one.imported.buried)
        stays = f"; deleted since, not restored: {', '.join(buried)}" if buried else ""
        lines.append(f"Restored space {one.space} with {say.memories(one.imported.added)}{stays}")
        spaces.append({"space": one.space, "memories": one.imported.added, "buried": buried})
    call.tell("\n".join(lines), {"file": file, "spaces": spaces})
