"""The command backup: to one file, continuously into a folder, and back again."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path

import click

from holdfast.cli import say
from holdfast.cli.call import Call, on_store, point_in_time, wrong_usage
from holdfast.errors import Invalid, Unavailable

_NEEDS = {
    "replace": "restore",
    "at": "restore",
    "every": "follow",
    "keep": "follow",
}


@click.command()
@click.argument("path", metavar="FILE|FOLDER")
@click.option("--restore", is_flag=True, help="Restore the spaces from FILE, or a new database from FOLDER.")
@click.option("--replace", is_flag=True, help="Restore even if a space has changed since the backup.")
@click.option(
    "--at",
    metavar="TIME",
    callback=point_in_time,
    help="Restore FOLDER as of this time. Default: the newest state.",
)
@click.option("--verify", is_flag=True, help="Restore into a throw-away store and compare every table.")
@click.option("--anyway", is_flag=True, help="Back up even if some texts are damaged.")
@click.option("--follow", is_flag=True, help="Copy every change of a SQLite file into FOLDER, until Ctrl-C.")
@click.option("--every", type=click.FloatRange(min=0.1), help="Seconds between two copies. Default: 1.")
@click.option("--keep", type=click.IntRange(min=1), help="How many days back a restore can go. Default: 7.")
@on_store
def backup(call: Call, path: str, **options: object) -> None:
    """Back up all spaces, once or continuously; verify and restore.

    FILE holds all spaces and the hashes of the access tokens. It is safe while the store is in use, written
    atomically and readable by its owner only. Texts are verified by checksum first: if one is damaged, it is
    reported and no backup is written. A restore verifies the whole file, does not overwrite later changes
    unless --replace is given, and does not restore memories that were deleted since. It leaves out tokens for
    all spaces if the store has spaces that the backup lacks.

    FOLDER holds snapshots of a SQLite file and every change since. --restore writes the database as of any
    time in it to a new file, which --db names. An erase removes everything older than itself from FOLDER.

    \b
        holdfast backup holdfast-backup.gz
        holdfast backup holdfast-backup.gz --verify
        holdfast backup holdfast-backup.gz --restore
        holdfast backup /mnt/copy --follow
        holdfast backup /mnt/copy --restore --at 2026-11-19T20:15:00Z --db restored.db
    """
    modes = [mode for mode in ("restore", "verify", "follow", "anyway") if options[mode]]
    if len(modes) > 1:
        raise wrong_usage(f"--{modes[0]} and --{modes[1]} can't be combined")
    for option, mode in _NEEDS.items():
        if options[option] and not options[mode]:
            raise wrong_usage(f"--{option} needs --{mode}")
    place, at = Path(path), options["at"]
    if options["follow"]:
        _follow(call, place, float(str(options["every"] or 1)), int(str(options["keep"] or 7)))
    elif options["verify"]:
        _verify_copy(call, place) if place.is_dir() else _verify(call, path)
    elif options["restore"] and place.is_dir():
        _restore_copy(call, place, at if isinstance(at, datetime) else None)
    elif at is not None:
        raise wrong_usage(
            "--at works only with the folder of a continuous copy, not with a backup file: leave it out"
        )
    elif options["restore"]:
        _restore(call, path, replace=bool(options["replace"]))
    else:
        _back_up(call, place, anyway=bool(options["anyway"]))


def _back_up(call: Call, path: Path, *, anyway: bool) -> None:
    from holdfast.cli.atomic_files import write_whole
    from holdfast.engine.backup import backup_lines

    held: dict[str, int] = {}
    tokens = 0

    def counted(lines: Iterator[str]) -> Iterator[str]:
        nonlocal tokens
        for line in lines:
            if line.startswith('{"counts":'):
                footer = json.loads(line)
                if footer["end"] is None:
                    tokens = footer["counts"]["tokens"]
                else:
                    held[footer["end"]] = footer["counts"].get("memories", 0)
            yield line

    with call.store() as store:
        if not store.spaces():
            raise Invalid("nothing to back up: there are no spaces yet")
        write_whole(path, counted(backup_lines(store, damaged_too=anyway)), compressed=True)
    size = path.stat().st_size
    spaces = [{"space": name, "memories": memories} for name, memories in held.items()]
    what = f"{say.count(len(held), 'space')} with {say.memories(sum(held.values()))}"
    what += f" and {say.count(tokens, 'token')}" if tokens else ""
    text = f"Backed up {what} to {path} ({size:,} bytes)"
    answer = {"file": str(path), "bytes": size, "spaces": spaces, "tokens": tokens}
    call.tell(say.one_line(text), answer)


def _restore(call: Call, file: str, *, replace: bool) -> None:
    from holdfast.app.wiring import own_judge
    from holdfast.cli.atomic_files import read_lines
    from holdfast.engine.archive import Archive, read_all
    from holdfast.engine.backup import put_back
    from holdfast.engine.token_archive import TokenArchive, restore_tokens

    parts = list(read_all(read_lines(file)))  # everything is verified before anything is restored
    archives = [part for part in parts if isinstance(part, Archive)]
    lines, spaces, tokens, left_out = [], [], 0, []
    with call.store(creates=True) as store:
        done = put_back(archives, store=store, clock=call.time(), judge=own_judge(), replace=replace)
        for part in parts:
            if isinstance(part, TokenArchive):
                told = restore_tokens(part, [one.space for one in done], store=store)
                tokens, left_out = told.added, list(told.left_out)
    for one in done:
        buried = list(one.imported.buried)
        stays = f"; deleted since, not restored: {', '.join(buried)}" if buried else ""
        lines.append(f"Restored space {one.space} with {say.memories(one.imported.added)}{stays}")
        spaces.append({"space": one.space, "memories": one.imported.added, "buried": buried})
    if tokens:
        lines.append(f"Restored {say.count(tokens, 'token')}")
    if left_out:
        lines.append(
            "Tokens not restored, because they give access to spaces that are not in the backup "
            f"(create new ones): {', '.join(left_out)}"
        )
    answer = {"file": file, "spaces": spaces, "tokens": tokens, "tokens_left_out": left_out}
    call.tell("\n".join(lines), answer)


def _verify(call: Call, file: str) -> None:
    from tempfile import TemporaryDirectory

    from holdfast.app.wiring import open_store
    from holdfast.cli.atomic_files import read_lines
    from holdfast.engine.archive import read_all
    from holdfast.engine.verify import verify

    try:
        parts = list(read_all(read_lines(file)))
    except Invalid as error:
        raise Invalid(
            f"not verified: {error}", command="give a file that `holdfast backup FILE` wrote"
        ) from None
    with TemporaryDirectory(prefix="holdfast-verify-") as folder:
        store = open_store(f"{folder}/restored.db", clock=call.time())
        try:
            found = verify(parts, store=store, clock=call.time())
        finally:
            store.close()
    wrong = [table for table in found.tables if not table.equal]
    rows = sum(table.backup.rows for table in found.tables)
    lines = [
        f"{table.table} of {table.space or 'the store'}: "
        f"{table.backup.rows:,} in the file, {table.restored.rows:,} restored, which differ"
        for table in wrong
    ]
    if found.damaged:
        lines.append(f"Damaged texts, which do not match their checksum: {', '.join(found.damaged)}")
    verdict = f"{say.count(len(found.tables), 'table')} with {say.count(rows, 'row')}"
    lines.append(
        f"Verified {file}: {verdict} restored and equal"
        if found.ok
        else f"Not verified: {file} can't be restored exactly; make a new backup"
    )
    tables = [{**asdict(table), "equal": table.equal} for table in found.tables]
    answer = {"file": file, "ok": found.ok, "tables": tables, "damaged": list(found.damaged)}
    call.tell("\n".join(map(say.one_line, lines)), answer)
    if not found.ok:
        raise click.exceptions.Exit(1)


def _follow(call: Call, folder: Path, every: float, keep: int) -> None:
    """Copies until a signal; trouble is told once, and once more when it is over."""
    from holdfast.app.wiring import open_follower
    from holdfast.cli.import_files import until_stopped

    follower = open_follower(call.db, str(folder), timedelta(days=keep))
    trouble = None
    with ExitStack() as held, until_stopped() as stopped:
        held.callback(follower.close)
        follower.start(held)
        follower.step()
        call.tell(f"Copying {follower.source} into {folder}; Ctrl-C stops", {"folder": str(folder)})
        while not stopped.wait(every):
            follower.check()
            try:
                follower.step()
            except Unavailable as error:
                if str(error) != trouble:
                    say.echo(f"holdfast: {say.one_line(str(error))}; retrying", err=True)
                trouble = str(error)
            else:
                if trouble:
                    say.echo("holdfast: copying again", err=True)
                trouble = None
        follower.finish()


def _restore_copy(call: Call, folder: Path, at: datetime | None) -> None:
    from holdfast.app.wiring import restore_copy

    done = restore_copy(str(folder), call.db, at)
    text = f"Restored {done.file} as of {done.as_of.isoformat()} ({say.count(done.segments, 'segment')})"
    call.tell(text, done)


def _verify_copy(call: Call, folder: Path) -> None:
    from tempfile import TemporaryDirectory

    from holdfast.app.wiring import open_store, restore_copy

    with TemporaryDirectory(prefix="holdfast-verify-") as scratch:
        done = restore_copy(str(folder), f"{scratch}/restored.db")
        store = open_store(str(done.file), clock=call.time())
        try:
            memories = 0
            damaged: list[str] = []
            names = [space.name for space in store.spaces()]
            for name in names:
                with store.read(name) as tx:
                    damaged += tx.integrity.damaged_texts()
                    memories += sum(1 for _ in tx.dump.rows("memories"))
        finally:
            store.close()
    lines = [f"Damaged texts, which do not match their checksum: {', '.join(damaged)}"] if damaged else []
    lines.append(
        f"{'Not verified' if damaged else 'Verified'} {folder} as of {done.as_of.isoformat()}: "
        f"{say.count(len(names), 'space')} with {say.memories(memories)}"
    )
    answer = {"folder": str(folder), "ok": not damaged, "as_of": done.as_of, "memories": memories}
    call.tell("\n".join(map(say.one_line, lines)), {**answer, "damaged": damaged})
    if damaged:
        raise click.exceptions.Exit(1)
