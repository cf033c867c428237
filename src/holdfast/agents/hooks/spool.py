"""What could not be handed to a service, kept on disk: one small file for each session, the latest wins.

A file says where a transcript is and how long it was, never what was said in it. The transcript itself is the
record: an entry that is lost costs nothing once the session goes on or is imported.
"""

import os
from json import dumps, loads
from time import time

from holdfast.app import paths

MOST_ENTRIES = 1_000
_FIELDS = (
    *("session_id", "transcript_path", "offset", "cwd", "project", "client", "space", "db", "reason"),
    *("run", "exit_code", "usage"),  # of a run whose end could not be stored
)
_MOST_BYTES = 8_192
_MOST_TEXT = 1_024  # of one field
_ABANDONED = 3_600.0  # seconds: a file still unfinished after that belongs to nobody


def entry_of(event: str, body: dict[str, object]) -> dict[str, object]:
    """What is kept of what a host said: where the transcript is, and whose."""
    kept = {name: body[name] for name in _FIELDS if body.get(name) is not None}
    return {"event": event, **kept, "at": time()}


def put(entry: dict[str, object]) -> None:
    """Keeps an entry until it is removed. An older one of the same session, or of all, gives way to it.

    Raises: OSError, ValueError for one that can't be kept.
    """
    name = entry.get("session_id") or entry.get("transcript_path")
    if not isinstance(name, str) or any(len(text) > _MOST_TEXT for text in _texts(entry)):
        raise ValueError("no session, or a field that is too long")
    content = dumps(entry).encode()
    if len(content) > _MOST_BYTES:
        raise ValueError("the entry is too long")
    path = os.path.join(paths.spool(), f"{paths.file_stem(name)}.json")
    if not os.path.exists(path):
        _make_room()
    paths.write_private(path, content)


def waiting() -> list[str]:
    """The files of all entries, oldest first. Nothing where there is no spool."""
    return [path for _, path in sorted(_files())]


def entry(path: str) -> dict[str, object] | None:
    """What a file holds; none for one that is gone or damaged."""
    try:
        with open(path, encoding="utf-8") as file:
            found = loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _texts(entry: dict[str, object]) -> list[str]:
    return [value for value in entry.values() if isinstance(value, str)]


def _make_room() -> None:
    files = sorted(_files())
    for _, path in files[: max(len(files) - MOST_ENTRIES + 1, 0)]:
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
