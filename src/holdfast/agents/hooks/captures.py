"""Imports what hooks noted down: transcripts that have grown, and sessions that have ended.

A note is removed only when everything in its transcript is stored, so a killed service reads it again;
known messages count once. Ends of runs that a busy store could not take are noted in the same way.
"""

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from typing import Any

from holdfast.agents import capture_off
from holdfast.agents.hooks import events, spool
from holdfast.agents.transcripts import Tally, take_from
from holdfast.app import paths
from holdfast.engine.memories import Memories
from holdfast.engine.ports import TimeUp
from holdfast.engine.transcripts import OTHER_TEXT
from holdfast.errors import HoldfastError, Invalid, NotFound, QuotaExceeded, Unavailable

Open = Callable[[str | None], Memories]  # by the name of its space, None for the default

_MARKED = 200  # bytes before a position, to detect another file
_ONE_DATABASE = "opencode"  # one file for all sessions: its position is kept
_log = logging.getLogger(__name__)


def take_in(
    open_memories: Open,
    db: str = "",
    *,
    wanted: Callable[[dict[str, Any]], bool] = lambda entry: True,
    time_up: TimeUp = lambda: False,
) -> int:
    """Reads every noted transcript that is `wanted`, until the time is up; returns how many were read.

    Notes for another database than `db` are left to the service of that database.

    Raises: Unavailable; what was not read is read the next time.
    """
    done = 0
    for path in reversed(spool.waiting()):  # the latest messages first, before a long history
        before = _identity(path)
        entry = spool.entry(path)
        if entry is None or before is None:  # damaged, or gone meanwhile
            _remove(path, before)
            continue
        if entry.get("db", db) != db or not wanted(entry):
            continue
        try:
            space = entry.get("space")
            taken = _take(entry, open_memories(space if isinstance(space, str) else None), time_up)
            if taken is None:
                return done + 1  # its note stays, to continue there
            done += taken
        except QuotaExceeded as full:  # its note stays: the transcript is read when there is room
            _tell_once(str(space), full)
            if time_up():
                break
            continue
        except (OSError, Invalid, NotFound) as error:  # it will not be better the next time
            _log.warning("a session can't be imported: %s", error)
        _remove(path, before)
        if time_up():
            break
    return done


#: The spaces that were full already when a transcript was to be read.
_FULL: set[str] = set()


def _tell_once(space: str, full: QuotaExceeded) -> None:
    if space not in _FULL:
        _FULL.add(space)
        _log.warning("transcripts wait until there is room: %s", full)


def _take(entry: dict[str, Any], memories: Memories, time_up: TimeUp) -> int | None:
    """The number of transcripts read, 0 or 1; None if the time was up first."""
    session, project = entry.get("session_id"), entry.get("project")
    if entry.get("run"):
        _end(entry, memories)
        return 1
    if capture_off.reason(project, session) is not None:
        return 0
    transcript = entry.get("transcript_path")
    position = None
    if isinstance(transcript, str) and os.path.isabs(transcript) and os.path.isfile(transcript):
        position = Position(memories.space, transcript)
        tally = Tally()
        client = str(entry.get("client"))
        offset, whole = take_from(Path(transcript), position.read(), memories, client, tally, time_up)
        position.save(offset)
        _tell(str(entry.get("event")), tally)
        if not whole:
            return None
    if isinstance(session, str):
        memories.open_session(
            session, client=entry.get("client"), directory=entry.get("cwd"), project=project
        )
        if entry.get("event") == events.SESSION_END:
            _end(entry, memories)
            if position is not None and entry.get("client") != _ONE_DATABASE:
                position.forget()
    return 1


def _tell(event: str, tally: Tally) -> None:
    """Writes what was redacted to the log of the hooks."""
    for name, message in tally.changed:
        _log.warning(OTHER_TEXT, name, message)
    for name, kinds in tally.redacted.items():
        spool.write_log(event, f"session {name}: redacted from a message: {', '.join(kinds)}")


def _end(entry: dict[str, Any], memories: Memories) -> None:
    """Ends a session at the time of the note, however long the store was busy."""
    at, code, usage = entry.get("at"), entry.get("exit_code"), entry.get("usage")
    memories.close_session(
        str(entry.get("session_id")),
        exit_code=code if isinstance(code, int) else None,
        usage=usage if isinstance(usage, dict) else None,
        ended_at=datetime.fromtimestamp(at, UTC) if isinstance(at, float) else None,
    )


class Position:
    """The position up to which a transcript was read into a space. Only a cache: reading again stores
    nothing twice.
    """

    def __init__(self, space: str, transcript: str) -> None:
        self._file = os.path.join(paths.positions(), f"{paths.file_stem(f'{space}:{transcript}')}.json")
        self._transcript = transcript

    def read(self) -> int:
        try:
            with open(self._file, encoding="utf-8") as file:
                kept = loads(file.read())
            offset = int(kept["offset"])
            # Another file under the same name, or one that was cut, is read from its beginning.
            return offset if kept["before"] == self._before(offset) else 0
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    def save(self, offset: int) -> None:
        kept = {"offset": offset, "before": self._before(offset)}
        paths.write_private(self._file, dumps(kept).encode())

    def _before(self, offset: int) -> str:
        """A hash of the bytes right before the offset."""
        with open(self._transcript, "rb") as file:
            found = os.fstat(file.fileno())
            if offset > found.st_size:  # no place in the file: a time in a database
                return sha256(f"{offset} in {found.st_ino}".encode()).hexdigest()
            file.seek(max(offset - _MARKED, 0))
            return sha256(file.read(min(offset, _MARKED)) + str(offset).encode()).hexdigest()

    def forget(self) -> None:
        """Deletes the position of an ended session; if it continues, it is read from the start."""
        os.unlink(self._file)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _remove(path: str, before: tuple[int, int] | None) -> None:
    """Removes a note, unless it was replaced meanwhile."""
    try:
        if before is not None and _identity(path) == before:
            os.unlink(path)
    except OSError as error:
        raise Unavailable(f"{path} can't be removed: {error.strerror}") from None


def end_later(
    memories: Memories, session: str, exit_code: int | None, usage: Mapping[str, Any] | None
) -> None:
    """Notes that a session has ended. Raises: OSError, ValueError."""
    told = {"session_id": session, "db": _place(memories), "space": memories.space, "run": True}
    ended = {"exit_code": exit_code, "usage": dict(usage) if usage is not None else None}
    spool.put(spool.entry_of(events.SESSION_END, {**told, **ended}))


def end_noted(memories: Memories) -> None:
    """Stores the noted ends of sessions of this space; what fails is tried again by the next session."""
    with suppress(HoldfastError):
        take_in(
            lambda _: memories,
            _place(memories),
            wanted=lambda entry: bool(entry.get("run")) and entry.get("space") == memories.space,
        )


def _place(memories: Memories) -> str:
    return paths.public_place(memories.store.where())
