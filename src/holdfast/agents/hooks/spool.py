"""Files written by hooks: notes for the service, one per session, and a short log.

A note has the path and length of a transcript, never its text. A lost note costs nothing: the transcript is
read again when the session continues or is imported. Standard library only.
"""

import os
from json import dumps, loads
from time import strftime, time

from holdfast.app import paths

MAX_ENTRIES = 1_000
_FIELDS = (
    *("session_id", "transcript_path", "offset", "cwd", "project", "client", "space", "db", "reason"),
    *("run", "exit_code", "usage"),  # of a run whose end could not be stored
)
_MAX_BYTES = 8_192
_MAX_TEXT = 1_024  # of one field
_ABANDONED = 3_600.0  # seconds after which an unfinished file is removed


def entry_of(event: str, body: dict[str, object]) -> dict[str, object]:
    """The note for an event: where the transcript is, and of which session."""
    kept = {name: body[name] for name in _FIELDS if body.get(name) is not None}
    return {"event": event, **kept, "at": time()}


def put(entry: dict[str, object]) -> None:
    """Stores a note in place of an older one of the same session; drops the oldest if there are too many.

    Raises: OSError, ValueError for an invalid note.
    """
    name = entry.get("session_id") or entry.get("transcript_path")
    if not isinstance(name, str) or any(len(text) > _MAX_TEXT for text in _texts(entry)):
        raise ValueError("no session, or a field that is too long")
    content = dumps(entry).encode()
    if len(content) > _MAX_BYTES:
        raise ValueError("the entry is too long")
    path = os.path.join(paths.spool(), f"{paths.file_stem(name)}.json")
    if not os.path.exists(path):
        _make_room()
    paths.write_private(path, content)


def waiting() -> list[str]:
    """The files of all notes, oldest first."""
    return [path for _, path in sorted(_files())]


def entry(path: str) -> dict[str, object] | None:
    """The note in a file; None if it is missing or damaged."""
    try:
        with open(path, encoding="utf-8") as file:
            found = loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _texts(entry: dict[str, object]) -> list[str]:
    return [value for value in entry.values() if isinstance(value, str)]


def _make_room() -> None:
    files = sorted(_files())
    for _, path in files[: max(len(files) - MAX_ENTRIES + 1, 0)]:
        os.unlink(path)


def _files() -> list[tuple[float, str]]:
    found = []
    try:
        with os.scandir(paths.spool()) as folder:
            for file in folder:
                changed = file.stat(follow_symlinks=False).st_mtime
                if file.name.endswith(".json"):
                    found.append((changed, file.path))
                elif file.name.endswith(".new") and time() - changed > _ABANDONED:
                    os.unlink(file.path)
    except OSError:
        return found
    return found


_MAX_LOG = 64 * 1024  # bytes
_MAX_LOG_LINE = 500


def write_log(about: str, says: str) -> None:
    """Adds a line to the log, which `doctor` reads; only if Holdfast's directory exists."""
    line = f"{strftime('%Y-%m-%dT%H:%M:%S%z')} {about} {says}"
    path = paths.hook_log()
    try:
        if not os.path.isdir(paths.home()):
            return
        if os.path.exists(path) and os.stat(path).st_size > _MAX_LOG:
            os.replace(path, f"{path}.old")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, f"{line[:_MAX_LOG_LINE]}\n".encode("utf-8", "replace"))
        finally:
            os.close(descriptor)
    except OSError:  # a full or read-only disk: no log
        return
