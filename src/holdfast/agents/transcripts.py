"""Finds transcripts and imports their new content: for the command line, `holdfast up` and the service."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.agents import capture_off
from holdfast.agents.importers import TRANSCRIPTS, files_in, transcript_format
from holdfast.agents.importers.transcript import TranscriptPart, TranscriptSession
from holdfast.engine.memories import Memories
from holdfast.engine.ports import TimeUp
from holdfast.engine.sessions import NewMessage
from holdfast.engine.transcripts import SessionNotes
from holdfast.errors import Invalid

_SLICE = 64 * 1024  # bytes of a transcript that are read before the time is looked at


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file, its format, and how many bytes of it are new."""

    path: Path
    format: str
    unread: int
    state: tuple[int, int]  # size and time of change


@dataclass(slots=True)
class Tally:
    """Counts of what was read and stored."""

    files: Counter[str] = field(default_factory=Counter)  # by format
    sessions: set[str] = field(default_factory=set)
    messages: int = 0
    kept: int = 0  # of these, the ones that were not known
    skipped: Counter[str] = field(default_factory=Counter)  # lines that are no sources, by their kind
    broken: int = 0
    changed: list[tuple[str, str]] = field(default_factory=list)  # a session, and an id with two texts
    redacted: dict[str, list[str]] = field(default_factory=dict)  # kinds of what was taken out, by session
    refused: list[tuple[str, str]] = field(default_factory=list)  # a file or session, and why


class Transcripts:
    """The transcripts in a file or folder, read from where the last reading ended."""

    def __init__(self, place: Path, format_name: str | None = None) -> None:
        self._place = place
        self._format = format_name
        self._formats: dict[Path, str | None] = {}
        self._seen: dict[Path, tuple[int, int]] = {}
        self._offsets: dict[Path, int] = {}

    def unread(self) -> list[Transcript]:
        """The transcripts that changed since they were last read.

        Raises: Invalid, if the folder can't be read.
        """
        if not self._place.exists():
            raise Invalid(f"{str(self._place)!r} can't be read: no such file or folder")
        found = []
        for path in files_in(self._place) if self._place.is_dir() else (self._place,):
            try:
                stat = path.stat()
                state = _state(path)
                if self._seen.get(path) == state:
                    continue
                form = self._formats.get(path) or self._format_of(path)
            except OSError:  # deleted, or not readable
                continue
            self._formats[path] = form
            if form is not None and self._format in (None, form):
                unread = max(0, stat.st_size - self._offsets.get(path, 0))
                found.append(Transcript(path, form, unread, state))
        return found

    def read(self, transcript: Transcript) -> TranscriptPart:
        """The new content. It stays unread until `taken` is called. Raises: Invalid."""
        offset = self._offsets.get(transcript.path, 0)
        try:
            return TRANSCRIPTS[transcript.format].read_from(transcript.path, offset, None)
        except OSError as error:
            raise Invalid(f"{str(transcript.path)!r} can't be read: {error.strerror or error}") from None

    def taken(self, transcript: Transcript, reading: TranscriptPart) -> None:
        """Marks it as read: the next reading continues after this one."""
        self._seen[transcript.path] = transcript.state
        self._offsets[transcript.path] = reading.next_offset

    def passed_by(self, transcript: Transcript) -> None:
        """Skips an unreadable transcript until it changes."""
        self._seen[transcript.path] = transcript.state

    def _format_of(self, path: Path) -> str | None:
        if path == self._place and self._format is not None:
            return self._format
        return transcript_format(path)


def _state(path: Path) -> tuple[int, int]:
    """Size and time of change; for a database together with its write-ahead log."""
    beside = path.with_name(f"{path.name}-wal")
    stats = [path.stat(), *([beside.stat()] if beside.is_file() else [])]
    stats = [each for each in stats if each.st_size] or stats  # reading alone leaves an empty one
    return sum(each.st_size for each in stats), max(each.st_mtime_ns for each in stats)


def usual_places(environment: Mapping[str, str] = os.environ) -> dict[str, list[Path]]:
    """The existing places where clients store a user's transcripts, by format."""
    home = Path(os.path.expanduser("~"))
    usual = {name: form.places(home, environment) for name, form in TRANSCRIPTS.items()}
    there = {form: [place for place in places if place.exists()] for form, places in usual.items()}
    return {form: places for form, places in there.items() if places}


def take(
    reading: TranscriptPart,
    memories: Memories,
    tally: Tally,
    *,
    dry_run: bool = False,
    report: Callable[[float], None] = lambda share: None,
    time_up: TimeUp | None = None,
) -> bool:
    """Stores the conversations of a reading, except where capture is off, and adds them to the tally.

    `report` gets the share that is done. A dry run only counts. False when the time was up first: reading
    again continues.
    Raises: Unavailable.
    """
    tally.skipped.update(reading.skipped)
    tally.broken += reading.broken
    for number, conversation in enumerate(reading.conversations):
        report(number / len(reading.conversations))
        if not conversation.messages:
            continue
        if capture_off.reason(conversation.project, conversation.session) is not None:
            tally.skipped["capture is off"] += len(conversation.messages)
            continue
        try:
            kept = take_conversation(conversation, memories, tally, dry_run=dry_run, time_up=time_up)
        except Invalid as error:
            tally.refused.append((conversation.session, str(error)))
            continue
        if kept is None:
            return False
        tally.sessions.add(conversation.session)
        tally.messages += len(conversation.messages)
        tally.kept += kept
    return True


def take_from(
    path: Path, offset: int, memories: Memories, format_name: str, tally: Tally, time_up: TimeUp
) -> tuple[int, bool]:
    """Stores a transcript from `offset` on and adds it to the tally.

    Returns the offset to continue from, and whether all of it was stored before the time was up. Raises:
    OSError, Invalid, Unavailable.
    """
    if format_name not in TRANSCRIPTS:
        known = ", ".join(TRANSCRIPTS)
        raise Invalid(f"unknown format {format_name!r:.60}: use one of {known}", field="format")
    while True:
        reading = TRANSCRIPTS[format_name].read_from(path, offset, _SLICE)
        if not take(reading, memories, tally, time_up=time_up):
            return offset, False
        offset = reading.next_offset
        if not reading.unfinished:
            return offset, True
        if time_up():
            return offset, False


def take_conversation(
    conversation: TranscriptSession,
    memories: Memories,
    tally: Tally,
    *,
    dry_run: bool = False,
    time_up: TimeUp | None = None,
) -> int | None:
    """Stores a session and its messages; returns how many messages were new.

    None, when the time was up before all were stored.
    Raises: Invalid, Unavailable.
    """
    said = [
        NewMessage(
            message_id=each.id,
            role=each.role,
            content=each.text,
            said_at=each.said_at or conversation.started_at,
        )
        for each in conversation.messages
    ]
    notes = SessionNotes()
    kept = memories.take_session(
        conversation.session,
        said,
        name=conversation.name,
        client=conversation.client,
        directory=conversation.directory,
        project=conversation.project,
        started_at=conversation.started_at,
        ended_at=conversation.ended_at,
        notes=notes,
        time_up=time_up,
        dry_run=dry_run,
    )
    tally.changed += [(conversation.session, message) for message in notes.changed]
    if notes.redacted:
        tally.redacted[conversation.session] = notes.redacted
    return None if notes.unfinished else kept
