"""The commands export and import."""

import json
from collections.abc import Iterable
from pathlib import Path

import click

from holdfast.agents.importers import (
    DRAFTS,
    FORMATS,
    TRANSCRIPTS,
    DraftFormat,
    Format,
    NoteFormat,
    TranscriptFormat,
    transcript_format,
)
from holdfast.cli import say
from holdfast.cli.call import Call, in_space, read_input, wrong_usage
from holdfast.errors import Invalid


@click.command()
@click.argument("file", default="-", metavar="[FILE]")
@in_space
def export(call: Call, file: str) -> None:
    """Export a space as JSON lines.

    The archive is complete: versions, links, sessions, journal. FILE is - for standard output.

    \b
        holdfast export --space ops ops.jsonl
        holdfast export | gzip > memories.jsonl.gz
    """
    from holdfast.cli.atomic_files import write_whole

    with call.memories() as memories:
        if file == "-":
            for line in memories.export():
                click.echo(line, nl=False)
            return
        last = write_whole(Path(file), memories.export())
        space = memories.space
    held = json.loads(last)["counts"].get("memories", 0)
    answer = {"space": space, "file": file, "memories": held}
    call.tell(say.one_line(f"Exported {say.memories(held)} from space {space} to {file}"), answer)


def _listed(kind: type[Format]) -> str:
    return "\n".join(f"    {form.name:<13} {form.about}" for form in FORMATS if isinstance(form, kind))


_IMPORT_HELP = f"""\
Import transcripts, chat exports, notes, archives, CSV or plain text.

PATH is a file, a folder, or - for standard input. Importing the same data twice changes nothing.
Invalid lines and incomplete files are reported and skipped.

Sessions with their messages come from these; tool output and subagents are skipped:

\b
{_listed(TranscriptFormat)}

Memories come from these:

\b
{_listed(DraftFormat)}

jsonl objects and csv columns may have content, category, subject, summary, tags, importance, confidence
and project. An archive of `holdfast export` (holdfast) is restored field by field; into a space that has
memories already, it is merged.

\b
    holdfast import ~/.claude/projects
    holdfast import ~/.codex/sessions --follow
    holdfast import chatgpt-export.zip --dry-run
    holdfast import ~/basic-memory --from basic-memory
    holdfast import memory.jsonl --from mcp-memory
    jq -c '.notes[]' dump.json | holdfast import - --from jsonl
"""


@click.command("import", help=_IMPORT_HELP)
@click.argument("path", metavar="PATH")
@click.option(
    "--from",
    "format_name",
    type=click.Choice([form.name for form in FORMATS]),
    help="Format of PATH. Default: detected.",
)
@click.option("--review", is_flag=True, help="Put everything into the inbox for review.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported without importing it.")
@click.option("--follow", is_flag=True, help="Keep importing transcripts as they grow, until Ctrl-C.")
@click.option("-v", "--verbose", is_flag=True, help="List the kinds of entries that were skipped.")
@in_space
def import_(
    call: Call, path: str, format_name: str | None, review: bool, dry_run: bool, follow: bool, verbose: bool
) -> None:
    from holdfast.agents.importers.exports import check_export

    place = Path(path)
    if follow and dry_run:
        raise wrong_usage("--follow and --dry-run can't be combined")
    if path != "-" and place.exists() and not (place.is_file() or place.is_dir()):  # a line may never end
        raise Invalid(f"{path!r} is neither a file nor a folder: give a file, or - for standard input")
    if path != "-" and (place.is_dir() or format_name in TRANSCRIPTS or _is_transcript(place, format_name)):
        _take_place(call, place, format_name, review=review, dry_run=dry_run, follow=follow, verbose=verbose)
        return
    if follow and format_name not in (None, *TRANSCRIPTS):
        raise wrong_usage(f"--follow works with transcripts only, not with {format_name}")
    if follow or format_name in TRANSCRIPTS:
        raise wrong_usage(f"not a transcript: give a file or folder of {', '.join(TRANSCRIPTS)}")
    if place.suffix == ".zip":
        check_export(place)
        raise Invalid(f"{path!r} is not an export of chatgpt or claude-ai: give its format with --from")
    _take_file(call, path, format_name, review, dry_run)


def _is_transcript(place: Path, format_name: str | None) -> bool:
    """Whether a file without --from is a transcript."""
    try:
        return format_name is None and place.is_file() and transcript_format(place) is not None
    except OSError:
        return False  # reported when it is read


def _take_place(
    call: Call,
    place: Path,
    format_name: str | None,
    *,
    review: bool,
    dry_run: bool,
    follow: bool,
    verbose: bool,
) -> None:
    """Imports a transcript, or a folder of transcripts and notes."""
    from holdfast.agents.transcripts import Transcripts
    from holdfast.cli import import_files

    form = next((form for form in FORMATS if form.name == format_name), None)
    if not isinstance(form, TranscriptFormat | NoteFormat | None):
        raise wrong_usage(f"format {format_name} needs a file, not a folder")
    if review and not place.is_dir():
        raise wrong_usage("--review does not apply to transcripts: leave it out")
    found = Transcripts(place, format_name)
    if follow:
        import_files.follow(call, found)
        return
    said = None
    if format_name not in DRAFTS:
        said = import_files.of_place(call, found, dry_run=dry_run, verbose=verbose)
    if said is not None and place.is_file() and said.answer["refused"] and not said.answer["files"]:
        raise Invalid(said.answer["refused"][0]["reason"])
    noted = []
    if place.is_dir() and format_name not in TRANSCRIPTS:
        noted = import_files.of_folder(call, place, format_name, review=review, dry_run=dry_run)
    if not noted and (said is None or not said.answer["files"]):
        raise Invalid(f"{str(place)!r} has no transcripts or notes in a known format: give a file")
    reports = [*([said] if said else []), *noted]
    answer = {**(said.answer if said else {}), "notes": [report.answer for report in noted]}
    call.tell("\n".join(line for report in reports for line in report.lines), answer)


def _take_file(call: Call, path: str, format_name: str | None, review: bool, dry_run: bool) -> None:
    from holdfast.cli import import_files
    from holdfast.cli.atomic_files import MOST_TEXT, read_lines
    from holdfast.engine.archive import is_archive

    given = read_input(MOST_TEXT + 1) if path == "-" else None
    if given is not None and len(given) > MOST_TEXT:
        raise Invalid(
            f"standard input is larger than {MOST_TEXT >> 20} MB: give a file; nothing was imported"
        )
    first = next((line for line in read_lines(path, given) if line.strip()), "")
    if not first:
        named = "standard input" if given is not None else repr(path)
        raise Invalid(f"{named} is empty: nothing was imported")
    if format_name == "holdfast" or (format_name is None and is_archive(first)):
        if review:
            raise wrong_usage("--review does not apply to archives: leave it out")
        _take_archive(call, read_lines(path, given), dry_run)
        return
    report = import_files.of_file(call, path, given, format_name, review=review, dry_run=dry_run)
    call.tell("\n".join(report.lines), report.answer)
    if report.nothing:
        raise click.exceptions.Exit(1)


def _take_archive(call: Call, lines_of_it: Iterable[str], dry_run: bool) -> None:
    with call.memories(creates=True) as memories:
        parts = memories.import_archive(lines_of_it, dry_run=dry_run)
    added, known = sum(part.added for part in parts), sum(part.known for part in parts)
    different = [one for part in parts for one in part.different]
    buried = [one for part in parts for one in part.buried]
    updated = [one for part in parts for one in part.updated]
    waiting = [one for part in parts for one in part.waiting]
    lines = [f"{'Would import' if dry_run else 'Imported'} {say.memories(added)}; {known:,} already there"]
    if updated:
        lines.append(f"  {'Would take' if dry_run else 'Took'} over changes of: {', '.join(updated)}")
    if waiting:
        lines.append(f"  Changed in both, waiting in the inbox: {', '.join(waiting)}")
    if different:
        lines.append(f"  Different here, not overwritten: {', '.join(different)}")
    if buried:
        lines.append(f"  Deleted here, not restored: {', '.join(buried)}")
    answer = {"format": "holdfast", "added": added, "known": known, "different": different, "buried": buried}
    answer |= {"updated": updated, "waiting": waiting}
    if dry_run:
        answer["dry_run"] = True
        lines.append("  Dry run: nothing was imported")
    call.tell("\n".join(lines), answer)
