"""`import`: notes and records become memories, transcripts become sessions, once or with --follow."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli import say
from holdfast.cli.call import Call, tell_json
from holdfast.wire.values import to_json

if TYPE_CHECKING:
    from holdfast.agents.importers import FileDrafts
    from holdfast.agents.importers.transcript import TranscriptPart
    from holdfast.agents.transcripts import Tally, Transcript, Transcripts
    from holdfast.engine.imports import ImportResult
    from holdfast.engine.memories import Memories


@dataclass(frozen=True, slots=True)
class Report:
    """The result of an import as text and JSON; `nothing` when every line was invalid."""

    lines: list[str]
    answer: dict[str, Any]
    nothing: bool = False


def of_file(
    call: Call,
    path: str,
    given: bytes | None,
    format_name: str | None,
    *,
    review: bool,
    dry_run: bool = False,
) -> Report:
    """Imports one file, or what was `given` instead."""
    from holdfast.agents import import_notes, importers
    from holdfast.cli.atomic_files import digest, read_head, read_lines, read_text
    from holdfast.domain.memory import Source

    name = Path(path).name
    form = importers.DRAFTS.get(format_name or "")
    if form is None:
        read = read_text if name.endswith(".json") else read_head
        form = importers.recognised(read(path, given), name)
    elif path != "-":
        import_notes.refuse_other(name, form)
    if form.grows and path != "-":
        # All versions of such a file are one session.
        session = import_notes.session_of(Path(path) if form.together == "file" else Path(path).parent)
    else:
        # The same bytes are the same session: a repetition within a session counts once.
        session = f"import-{digest(path, given)[:12]}"
    source = Source(origin="import" if path == "-" else form.origin, session=session)
    if isinstance(form, importers.LineFormat):
        found = importers.drafts_by_line(lambda: read_lines(path, given), source, form)
    else:
        found = importers.drafts_in(read_text(path, given), source, form, name=name)
    return _taken(call, found, session, review, dry_run)


def of_folder(
    call: Call, folder: Path, format_name: str | None, *, review: bool, dry_run: bool = False
) -> list[Report]:
    """Imports the notes of a folder."""
    from holdfast.agents import import_notes

    reports = []
    for place, session, found in import_notes.found_in(folder, format_name):
        report = _taken(call, found, session, review, dry_run)
        report.lines[0] += f" ({say.one_line(str(place))})"
        report.answer["path"] = str(place)
        reports.append(report)
    return reports


def _taken(call: Call, found: "FileDrafts", session: str, review: bool, dry_run: bool) -> Report:
    from holdfast.agents import import_notes

    importing = call.progress("Importing", total=len(found.drafts))
    with call.memories("import", session, creates=True) as memories, importing as bar:
        began, taken = time.monotonic(), 0
        counts: Counter[str] = Counter()
        refused: list[tuple[int, str]] = []
        for batch in import_notes.take(found, memories, review=review, dry_run=dry_run):
            _tally(batch, counts, refused)
            taken += len(batch)
            bar(completed=taken, description=f"Importing, {taken / (time.monotonic() - began):,.0f}/s")
    broken = sorted([*found.broken, *refused])
    unit = "file" if found.files else "line"
    names = {number: found.files[number - 1] if found.files else number for number, _ in broken}
    answer: dict[str, Any] = {"format": found.format, "session": session, "counts": counts}
    answer["broken"] = [{unit: names[number], "reason": reason} for number, reason in broken]
    became = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items())
    done = "Would import" if dry_run else "Imported"
    lines = [f"{done} from {found.format}: {became or 'nothing'}"]
    if found.skipped:
        left_out = ", ".join(f"{number:,} {reason}" for reason, number in found.skipped.items())
        lines.append(f"  Skipped: {left_out}")
        answer["skipped"] = dict(found.skipped)
    lines += [
        f"  {unit.capitalize()} {say.one_line(str(names[number]))}: {say.one_line(reason)}"
        for number, reason in broken
    ]
    if dry_run:
        answer["dry_run"] = True
        lines.append("  Dry run: nothing was imported")
    elif counts:
        lines.append(f"  Undo with {say.command('undo-session', session)}")
    return Report(lines, answer, nothing=bool(broken) and not counts)


def _tally(told: "list[ImportResult]", counts: Counter[str], refused: list[tuple[int, str]]) -> None:
    """Adds up outcomes by name, and the refused lines with their reasons."""
    from holdfast.domain.outcomes import Refused, Reinforced

    for one in told:
        match one.outcome:
            case Refused(reason):
                refused.append((one.line, reason))
                continue
            case Reinforced(counted=False):
                name = "known"
            case _:
                name = str(to_json(one.outcome)["outcome"])
        counts[name] += 1


_LOOKS_EVERY: Final = 1.0  # seconds
_WRONG_SHOWN: Final = 5


def of_place(call: Call, found: "Transcripts", *, dry_run: bool = False, verbose: bool = False) -> Report:
    """Imports everything unread; a dry run only counts it."""
    from holdfast.agents.transcripts import Tally

    tally = Tally()
    waiting = found.unread()
    done, size = 0, sum(each.unread for each in waiting)
    reading = call.progress("Reading", total=size, in_bytes=True)
    with call.memories("import", creates=True) as memories, reading as bar:
        keeps_messages(memories)
        for each in waiting:

            def report(share: float, start: int = done, size: int = each.unread) -> None:
                bar(completed=start + int(size * share))

            take_one(each, found, memories, tally, dry_run=dry_run, report=report)
            done += each.unread
            bar(completed=done)
    lines, answer = told(tally, dry_run=dry_run, verbose=verbose), as_json(tally)
    return Report(lines, {**answer, "dry_run": True} if dry_run else answer)


def keeps_messages(memories: "Memories") -> None:
    """Raises: Invalid, when the space stores no messages."""
    from holdfast.errors import Invalid

    space = memories.store.space(memories.space)
    if space is not None and not space.keeps_messages:
        raise Invalid(f"space {memories.space!r} does not store messages: choose another with --space")


def take_one(
    transcript: "Transcript",
    found: "Transcripts",
    memories: "Memories",
    tally: "Tally",
    *,
    dry_run: bool = False,
    report: Callable[[float], None] = lambda share: None,
) -> "TranscriptPart | None":
    """Imports what is new in one transcript; an unreadable one is reported and skipped."""
    from holdfast.agents.transcripts import take
    from holdfast.errors import Invalid

    try:
        reading = found.read(transcript)
    except Invalid as error:
        tally.refused.append((str(transcript.path), str(error)))
        found.passed_by(transcript)
        return None
    take(reading, memories, tally, dry_run=dry_run, report=report)
    tally.files[transcript.format] += 1
    found.taken(transcript, reading)
    return reading


def follow(call: Call, found: "Transcripts") -> None:
    """Imports what is there and what is added, until a signal stops it."""
    from holdfast.agents.transcripts import Tally
    from holdfast.errors import Unavailable

    whole = Tally()
    with until_stopped() as stopped:
        while True:
            tally = Tally()
            try:
                if waiting := found.unread():
                    with call.memories("import", creates=True) as memories:
                        keeps_messages(memories)
                        for transcript in waiting:
                            if stopped.is_set():
                                break
                            take_one(transcript, found, memories, tally)
            except Unavailable as trouble:  # nothing is lost: what was not imported is still unread
                click.echo(f"holdfast: {say.one_line(str(trouble))}; retrying", err=True)
            _tell_news(call, tally)
            _add(whole, tally)
            if stopped.wait(_LOOKS_EVERY):
                break
    if not call.json:
        click.echo("\n".join(["", "Stopped", *told(whole)]))


@contextmanager
def until_stopped() -> Iterator[threading.Event]:
    """An event set by Ctrl-C or SIGTERM, so that the step at hand is finished first."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    before = {each: signal.signal(each, lambda *_: stopped.set()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _tell_news(call: Call, tally: "Tally") -> None:
    if call.json and (tally.kept or tally.refused):
        tell_json(as_json(tally))
    elif tally.kept:
        click.echo(f"{say.count(tally.kept, 'new message')} of {say.count(len(tally.sessions), 'session')}")


def _add(whole: "Tally", part: "Tally") -> None:
    whole.files.update(part.files)
    whole.sessions |= part.sessions
    whole.messages += part.messages
    whole.kept += part.kept
    whole.skipped.update(part.skipped)
    whole.broken += part.broken
    whole.changed += part.changed
    whole.redacted.update(part.redacted)
    whole.refused += part.refused


def told(tally: "Tally", *, dry_run: bool = False, verbose: bool | None = None) -> list[str]:
    """What was read, what was new, and what was skipped; `verbose` None where there is no option for it."""
    files = ", ".join(f"{number:,} {name}" for name, number in tally.files.most_common())
    lines = [
        f"Read {say.count(len(tally.sessions), 'session')}, {say.count(tally.messages, 'message')}: "
        f"{tally.kept:,} new (files: {files or 'none'})"
    ]
    lines += ["  Dry run: nothing was imported"] if dry_run else []
    if tally.skipped:
        entries = say.count(sum(tally.skipped.values()), "non-chat entry", "non-chat entries")
        kinds = [f"{number:,} {say.one_line(kind)}" for kind, number in tally.skipped.most_common()]
        details = f": {', '.join(kinds)}" if verbose else "" if verbose is None else " (-v for details)"
        lines.append(f"  Skipped {entries}{details}")
    if tally.broken:
        lines.append(f"  Skipped {say.count(tally.broken, 'invalid line')}")
    if tally.changed:
        ids = [say.one_line(message) for _, message in tally.changed[:_WRONG_SHOWN]]
        ids += [f"{len(tally.changed) - _WRONG_SHOWN:,} more"] if len(tally.changed) > _WRONG_SHOWN else []
        lines.append(f"  Changed since the last import, both versions kept: {', '.join(ids)}")
    if tally.redacted:
        secrets = dict.fromkeys(kind for found in tally.redacted.values() for kind in found)
        lines.append(f"  Redacted: {', '.join(secrets)}")
    for place, reason in tally.refused[:_WRONG_SHOWN]:
        lines.append(f"  Skipped {say.one_line(place)}: {say.one_line(reason)}")
    if len(tally.refused) > _WRONG_SHOWN:
        lines.append(f"  And {len(tally.refused) - _WRONG_SHOWN:,} more")
    return lines


def as_json(tally: "Tally") -> dict[str, Any]:
    return {
        "files": dict(tally.files),
        "sessions": len(tally.sessions),
        "messages": tally.messages,
        "new": tally.kept,
        "skipped": dict(tally.skipped.most_common()),
        "broken": tally.broken,
        "redacted": tally.redacted,
        "changed": [{"session": session, "message": message} for session, message in tally.changed],
        "refused": [{"place": place, "reason": reason} for place, reason in tally.refused],
    }
