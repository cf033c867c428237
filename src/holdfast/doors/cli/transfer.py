"""The commands that carry a space elsewhere and back: export, import."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.doors.cli import as_json, say
from holdfast.doors.cli.call import Call, in_space
from holdfast.doors.cli.values import read_input
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.engine.imports import Told

_FORMATS = ("holdfast", "jsonl", "text")


@click.command()
@click.argument("file", default="-", metavar="[FILE]")
@in_space
@click.pass_obj
def export(call: Call, file: str) -> None:
    """Write a space as an archive of JSON lines.

    Everything is in it: wordings, links, sessions, the journal. FILE is - for standard output.

    \b
        holdfast export --space ops ops.jsonl
        holdfast export | gzip > memories.jsonl.gz
    """
    from holdfast.doors.cli.files import write_whole

    with call.memories() as memories:
        if file == "-":
            for line in memories.export():
                click.echo(line, nl=False)
            return
        last = write_whole(Path(file), memories.export())
        space = memories.space
    held = json.loads(last)["counts"].get("memories", 0)
    answer = {"space": space, "file": file, "memories": held}
    call.tell(say.one_line(f"exported {say.memories(held)} of space {space} to {file}"), answer)


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option(
    "--from", "format_name", type=click.Choice(_FORMATS), help="The format; recognised if not said."
)
@click.option("--review", is_flag=True, help="Send everything to the inbox first.")
@in_space
@click.pass_obj
def import_(call: Call, file: str, format_name: str | None, review: bool) -> None:
    """Take in an archive, JSON lines or plain text.

    An archive (holdfast) comes back field by field. JSON lines (jsonl) are objects with content, category,
    subject, summary, tags, importance, confidence, project. Plain text is one memory a line. Broken lines
    are named and left out; importing a file twice counts once. FILE is - for standard input.

    \b
        holdfast import ops.jsonl --space ops
        holdfast import notes.txt --review
        jq -c '.notes[]' dump.json | holdfast import - --from jsonl
    """
    from holdfast.doors.cli.files import read_text
    from holdfast.engine.archive import is_archive

    given = read_input() if file == "-" else None
    text, raw = read_text(file, given)
    first = next((line for line in text.split("\n") if line.strip()), "")
    if not first:
        raise Invalid(f"{file!r} is empty: nothing was taken")
    if format_name == "holdfast" or (format_name is None and is_archive(first)):
        if review:
            raise click.UsageError(
                "an archive comes back as it was: --review is for the other formats",
                click.get_current_context(),
            )
        _take_archive(call, text)
    else:
        _take_drafts(call, text, raw, format_name, review)


def _take_archive(call: Call, text: str) -> None:
    with call.memories() as memories:
        parts = memories.import_archive(text.splitlines(keepends=True))
    added, known = sum(part.added for part in parts), sum(part.known for part in parts)
    different = [one for part in parts for one in part.different]
    buried = [one for part in parts for one in part.buried]
    lines = [f"imported {say.memories(added)}; {known:,} known already"]
    if different:
        lines.append(f"  reads differently here and stays so: {', '.join(different)}")
    if buried:
        lines.append(f"  deleted here and stays so: {', '.join(buried)}")
    answer = {"format": "holdfast", "added": added, "known": known, "different": different, "buried": buried}
    call.tell("\n".join(lines), answer)


def _take_drafts(call: Call, text: str, raw: bytes, format_name: str | None, review: bool) -> None:
    from holdfast import wiring
    from holdfast.domain.memory import Source

    # The same bytes are the same session: saying it twice in one session counts once.
    session = f"import-{hashlib.sha256(raw).hexdigest()[:12]}"
    source = Source(origin="import", session=session)
    found = wiring.drafts_in(text, source, format_name)
    with call.memories("import", session) as memories:
        told = memories.import_drafts(found.drafts, review=review)
    counts, refused = _tally(told)
    broken = sorted([*found.broken, *refused])
    answer: dict[str, Any] = {"format": found.format, "session": session, "counts": counts}
    answer["broken"] = [{"line": number, "reason": reason} for number, reason in broken]
    became = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items())
    lines = [f"imported from {found.format}: {became or 'nothing'}"]
    lines += [f"  line {number}: {say.one_line(reason)}" for number, reason in broken]
    if counts:
        lines.append(f"  {say.command('undo-session', session)} takes it back")
    call.tell("\n".join(lines), answer)
    if broken and not counts:
        raise click.exceptions.Exit(1)


def _tally(told: "list[Told]") -> tuple[dict[str, int], list[tuple[int, str]]]:
    """How many drafts had each outcome, and the lines that were refused with the reason."""
    from holdfast.domain.outcomes import Refused, Reinforced

    counts: dict[str, int] = {}
    refused = []
    for one in told:
        match one.outcome:
            case Refused(reason):
                refused.append((one.line, reason))
                continue
            case Reinforced(counted=False):
                name = "known"
            case _:
                name = str(as_json.outcome(one.outcome)["outcome"])
        counts[name] = counts.get(name, 0) + 1
    return counts, refused
