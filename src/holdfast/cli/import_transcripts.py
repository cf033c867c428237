"""`import` of agent transcripts, once or continuously (--follow)."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli import say
from holdfast.cli.call import Call, tell_json
from holdfast.cli.import_drafts import Report

if TYPE_CHECKING:
    from holdfast.agents.transcripts import Tally, Transcript, TranscriptPart, Transcripts
    from holdfast.engine.memories import Memories

_LOOKS_EVERY: Final = 1.0  # seconds
_WRONG_SHOWN: Final = 5


def of_place(call: Call, found: "Transcripts", *, dry_run: bool = False, verbose: bool = False) -> Report:
    """Imports everything unread; a dry run only counts it."""
    from holdfast.agents.transcripts import Tally

    tally = Tally()
    waiting = found.unread()
    with call.memories("import") as memories, progress(waiting, quiet=call.json) as advance:
        keeps_messages(memories)
        for transcript in waiting:
            heard = _Share(advance, transcript.unread)
            take_one(transcript, found, memories, tally, dry_run=dry_run, report=heard.reached)
            heard.reached(1.0)
    lines, answer = told(tally, dry_run=dry_run, verbose=verbose), as_json(tally)
    return Report(lines, {**answer, "dry_run": True} if dry_run else answer)


class _Share:
    """Converts progress within one transcript to bytes of the whole import."""

    def __init__(self, advance: Callable[[int], None], size: int) -> None:
        self._advance, self._size, self._told = advance, size, 0

    def reached(self, share: float) -> None:
        done = int(self._size * share)
        self._advance(done - self._told)
        self._told = done


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


# -------------------------------------------------------------------------------------------------- following


def follow(call: Call, found: "Transcripts") -> None:
    """Imports what is there and what is added, until a signal stops it."""
    from holdfast.agents.transcripts import Tally
    from holdfast.errors import Unavailable

    whole = Tally()
    with _until_stopped() as stopped:
        while True:
            tally = Tally()
            try:
                if waiting := found.unread():
                    with call.memories("import") as memories:
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
def _until_stopped() -> Iterator[threading.Event]:
    """An event set by Ctrl-C or SIGTERM, so that the current transcript is finished first."""
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


# ----------------------------------------------------------------------------------------------------- saying


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


@contextmanager
def progress(waiting: "list[Transcript]", *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """A progress bar in bytes on a terminal; silent elsewhere."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=sum(each.unread for each in waiting) or None)
        yield lambda amount: bar.advance(task, amount)
