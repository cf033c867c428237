"""The command sync: keeps a space in step with the same space on another machine."""

import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import say
from holdfast.cli.call import Call, in_space, wrong_usage
from holdfast.errors import HoldfastError, Invalid

if TYPE_CHECKING:
    from holdfast.engine.restore import Imported

_TOKEN = "HOLDFAST_SYNC_TOKEN"


@click.command()
@click.argument("place", metavar="FOLDER|URL")
@click.option("--token-file", metavar="FILE", help="File with the token for URL.  [env: HOLDFAST_SYNC_TOKEN]")
@click.option(
    "--as", "machine", metavar="NAME", help="This machine's name in FOLDER. Default: its host name."
)
@in_space
def sync(call: Call, place: str, token_file: str | None, machine: str | None) -> None:
    """Keep a space in step with the same space on another machine.

    FOLDER is one that the machines share: each keeps an archive of the space there and merges those of the
    others. URL is a service that has the space; it needs a token with scope admin, from --token-file or from
    HOLDFAST_SYNC_TOKEN. Conflicting changes wait in the inbox of both machines.

    \b
        holdfast sync ~/Shared/holdfast
        holdfast sync https://memory.example.org --token-file ~/.holdfast-token
    """
    if place.startswith(("http://", "https://")):
        if machine is not None:
            raise wrong_usage("--as applies to a folder only: leave it out")
        _with_service(call, place, _token(token_file))
        return
    if token_file is not None:
        raise wrong_usage("--token-file applies to a URL only: leave it out")
    _with_folder(call, Path(place), machine or platform.node())


def _token(file: str | None) -> str:
    try:
        given = Path(file).expanduser().read_text(encoding="utf-8") if file else os.environ.get(_TOKEN)
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file!r} can't be read: {error}", field="token-file") from None
    if not given or not given.strip():
        command = "`holdfast token create --space NAME --scope admin` makes one on the other machine"
        raise Invalid(f"a URL needs a token: give --token-file or set {_TOKEN}", command=command)
    return given.strip()


def _with_service(call: Call, url: str, token: str) -> None:
    from holdfast.client import Client

    with call.memories(creates=True) as memories, Client(url, token, space=memories.space) as there:
        here = memories.import_archive(there.export())
        sent = there.import_archive(memories.export())
        _tell(call, memories.space, [(url, "merged", here), (url, "merged into", sent)], [])


def _with_folder(call: Call, folder: Path, machine: str) -> None:
    from holdfast.cli.atomic_files import read_lines, write_whole

    if not folder.is_dir():
        raise Invalid(f"{str(folder)!r} is not a folder: create it, or give one that the machines share")
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", machine).strip("-") or "machine"
    done: list[tuple[str, str, list[Imported]]] = []
    failed: list[tuple[str, HoldfastError]] = []
    with call.memories(creates=True) as memories:
        own = folder / f"{memories.space}.{name}.jsonl.gz"
        before: list[str] = []
        for path in sorted(folder.glob(f"{memories.space}.*.jsonl.gz")):
            try:
                lines = list(read_lines(str(path)))
                parts = memories.import_archive(lines)
            except Invalid as error:  # on its way, as a rule
                failed.append((path.name, error))
                continue
            if path == own:
                before = lines
            # Its own is merged as well: another machine may have the same name.
            if path != own or any(part.added or part.updated or part.waiting for part in parts):
                done.append((path.name, "merged", parts))
        lines = list(memories.export())
        if lines != before:
            write_whole(own, lines, compressed=True)
        _tell(call, memories.space, done, failed)


def _tell(
    call: Call,
    space: str,
    done: Sequence[tuple[str, str, "list[Imported]"]],
    failed: Sequence[tuple[str, HoldfastError]],
) -> None:
    texts, answers = [], []
    for place, what, parts in done:
        counts: dict[str, Any] = {
            "added": sum(part.added for part in parts),
            "updated": [one for part in parts for one in part.updated],
            "waiting": [one for part in parts for one in part.waiting],
        }
        answers.append({"place": place, "what": what, **counts})
        told = f"{what} {place}: {say.memories(counts['added'])} added, {len(counts['updated']):,} updated"
        texts.append(say.one_line(f"{told[:1].upper()}{told[1:]}"))
        if counts["waiting"]:
            texts.append(f"  To decide: {', '.join(counts['waiting'])} ({say.command('inbox')})")
    texts += [say.one_line(f"Skipped {place}: {error}") for place, error in failed]
    texts.append(
        say.one_line(f"Space {space} is {'not yet in step: sync again later' if failed else 'in step'}")
    )
    skipped = [{"place": place, "reason": str(error)} for place, error in failed]
    call.tell("\n".join(texts), {"space": space, "merged": answers, "skipped": skipped})
    if failed:
        raise click.exceptions.Exit(1)
