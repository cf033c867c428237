"""The commands that carry a space elsewhere and back: export, import."""

import json
from collections.abc import Iterable
from pathlib import Path

import click

from holdfast.doors.cli import say
from holdfast.doors.cli.call import Call, in_space
from holdfast.doors.cli.values import read_input
from holdfast.errors import Invalid

_TRANSCRIPTS = ("claude-code", "codex", "gemini", "chatgpt", "claude-ai")
_DRAFTS = ("mcp-memory", "auto-memory", "basic-memory", "mem0", "csv", "jsonl", "text")
_FORMATS = ("holdfast", *_TRANSCRIPTS, *_DRAFTS)


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
    from holdfast.doors.cli.whole_files import write_whole

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
@click.argument("path", metavar="PATH")
@click.option(
    "--from", "format_name", type=click.Choice(_FORMATS), help="The format; recognised if not said."
)
@click.option("--review", is_flag=True, help="Send everything to the inbox first.")
@click.option("--dry-run", is_flag=True, help="Count what would come of it, and take nothing.")
@click.option("--follow", is_flag=True, help="Keep reading transcripts as they grow, until Ctrl-C.")
@in_space
@click.pass_obj
def import_(
    call: Call, path: str, format_name: str | None, review: bool, dry_run: bool, follow: bool
) -> None:
    """Take in transcripts, exports, notes, an archive, tables or plain text.

    PATH is a file, a folder, or - for standard input. Reading it twice changes nothing; --dry-run says what
    would come of it.

    Transcripts of claude-code, codex, gemini and opencode become sessions with what was said in them, word
    for word; tool output, subagents and whatever programs put into a prompt are left out. So do exports of
    chatgpt and claude-ai, as the zip file that was sent or its conversations.json. mcp-memory is the graph of
    the MCP memory server, auto-memory Claude Code's own notes, basic-memory a folder of its notes, mem0 its
    memories in JSON. An archive (holdfast) comes back field by field. JSON lines (jsonl) are objects and
    tables (csv) have columns with content, category, subject, summary, tags, importance, confidence, project.
    Plain text is one memory a line. Broken lines are named and left out, and so is a file that is not whole.

    \b
        holdfast import ~/.claude/projects
        holdfast import ~/.codex/sessions --follow
        holdfast import chatgpt-export.zip --dry-run
        holdfast import ~/basic-memory --from basic-memory
        holdfast import memory.jsonl --from mcp-memory
        jq -c '.notes[]' dump.json | holdfast import - --from jsonl
    """
    from holdfast.transcripts import check_export

    place = Path(path)
    if follow and dry_run:
        raise _wrong("a dry run ends: leave out --follow")
    if path != "-" and (place.is_dir() or format_name in _TRANSCRIPTS or _is_transcript(place, format_name)):
        _take_place(call, place, format_name, review=review, dry_run=dry_run, follow=follow)
        return
    if follow and format_name not in (None, *_TRANSCRIPTS):
        raise _wrong(f"--follow is for transcripts, and {format_name} is none: leave it out")
    if follow or format_name in _TRANSCRIPTS:
        raise _wrong(f"transcripts are read from files: name a file or folder of {', '.join(_TRANSCRIPTS)}")
    if place.suffix == ".zip":
        check_export(place)
        raise Invalid(f"{path!r} is no export of chatgpt or claude-ai: name the format with --from")
    _take_file(call, path, format_name, review, dry_run)


def _is_transcript(place: Path, format_name: str | None) -> bool:
    """Whether a file that nobody named the format of holds what was said."""
    from holdfast.transcripts import transcript_format

    try:
        return format_name is None and place.is_file() and transcript_format(place) is not None
    except OSError:
        return False  # whoever reads it says what is wrong


def _take_place(
    call: Call, place: Path, format_name: str | None, *, review: bool, dry_run: bool, follow: bool
) -> None:
    """A transcript, or a folder with transcripts and notes in it."""
    from holdfast.doors.cli import take_drafts, take_transcripts
    from holdfast.transcripts import Transcripts

    if format_name in ("holdfast", "jsonl", "text"):
        raise _wrong(f"a folder may hold anything: name the file of format {format_name}")
    if review and not place.is_dir():
        raise _wrong("what was said is kept as it was: --review is for memories")
    found = Transcripts(place, format_name)
    if follow:
        take_transcripts.follow(call, found)
        return
    said = take_transcripts.of_place(call, found, dry_run=dry_run) if format_name not in _DRAFTS else None
    if said is not None and place.is_file() and said.answer["refused"] and not said.answer["files"]:
        raise Invalid(said.answer["refused"][0]["reason"])
    noted = []
    if place.is_dir() and format_name not in _TRANSCRIPTS:
        noted = take_drafts.of_folder(call, place, format_name, review=review, dry_run=dry_run)
    if not noted and (said is None or not said.answer["files"]):
        raise Invalid(f"{str(place)!r} holds no transcripts and no notes that are known: name a file")
    reports = [*([said] if said else []), *noted]
    answer = {**(said.answer if said else {}), "notes": [report.answer for report in noted]}
    call.tell("\n".join(line for report in reports for line in report.lines), answer)


def _take_file(call: Call, path: str, format_name: str | None, review: bool, dry_run: bool) -> None:
    from holdfast.doors.cli import take_drafts
    from holdfast.doors.cli.whole_files import MOST_TEXT, read_lines, read_text
    from holdfast.engine.archive import is_archive

    given = read_input(MOST_TEXT + 1) if path == "-" else None
    first = next((line for line in read_lines(path, given) if line.strip()), "")
    if not first:
        named = "standard input" if given is not None else repr(path)
        raise Invalid(f"{named} is empty: nothing was taken")
    if format_name == "holdfast" or (format_name is None and is_archive(first)):
        if review:
            raise _wrong("an archive comes back as it was: --review is for the other formats")
        _take_archive(call, read_lines(path, given), dry_run)
        return
    text, raw = read_text(path, given)
    report = take_drafts.of_file(call, path, text, raw, format_name, review=review, dry_run=dry_run)
    call.tell("\n".join(report.lines), report.answer)
    if report.nothing:
        raise click.exceptions.Exit(1)


def _take_archive(call: Call, lines_of_it: Iterable[str], dry_run: bool) -> None:
    with call.memories() as memories:
        parts = memories.import_archive(lines_of_it, dry_run=dry_run)
    added, known = sum(part.added for part in parts), sum(part.known for part in parts)
    different = [one for part in parts for one in part.different]
    buried = [one for part in parts for one in part.buried]
    lines = [f"{'would import' if dry_run else 'imported'} {say.memories(added)}; {known:,} known already"]
    if different:
        lines.append(f"  reads differently here and stays so: {', '.join(different)}")
    if buried:
        lines.append(f"  deleted here and stays so: {', '.join(buried)}")
    answer = {"format": "holdfast", "added": added, "known": known, "different": different, "buried": buried}
    if dry_run:
        answer["dry_run"] = True
        lines.append("  a dry run: nothing was taken")
    call.tell("\n".join(lines), answer)


def _wrong(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context())
