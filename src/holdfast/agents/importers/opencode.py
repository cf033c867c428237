"""Sessions of opencode: what a person typed and what the model answered, nothing else.

All sessions are in one SQLite database, which opencode keeps writing to; it is only read here. The offset is
the second of the last change that was read and, where reading stopped early, also the row: a migration by a
new version may change the whole database within one second.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from holdfast.agents.importers.transcript import (
    MAX_LINE,
    Collector,
    Object,
    Role,
    TranscriptPart,
    object_of,
    project_of,
    text_of,
)

CLIENT: Final = "opencode"
SUFFIX: Final = ".db"
_HEAD: Final = b"SQLite format 3\0"
_AGAIN: Final = 60  # seconds before the last change: of two programs one may have written later
_ROW: Final = 1 << 31  # what a second is multiplied by in an offset, to leave room for a row
_ROWS: Final = 500  # that are looked at in one piece
_MESSAGES: Final = """
    SELECT m.rowid AS place, m.id, m.session_id, m.time_created, m.time_updated / 1000 AS second, m.data,
           s.directory, s.title, s.parent_id
    FROM message m JOIN session s ON s.id = m.session_id
    WHERE (m.time_updated / 1000, m.rowid) > (?, ?) AND length(m.data) < ?
"""
_IN_ORDER: Final = "ORDER BY m.time_updated / 1000, m.rowid LIMIT ?"
_BEFORE: Final = "AND m.session_id = ? AND m.time_created < ?"
_SIZE: Final = "SELECT sum(length(data)) FROM part WHERE message_id = ?"
_PARTS: Final = "SELECT data FROM part WHERE message_id = ? AND length(data) < ? ORDER BY id"


def places(home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    return (data / "opencode" / (environment.get("OPENCODE_DB") or "opencode.db"),)


def is_store(path: Path) -> bool:
    """Whether a file is opencode's database. Raises: OSError."""
    with path.open("rb") as file:
        if file.read(len(_HEAD)) != _HEAD:
            return False
    with _open(path) as store:
        names = {name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {"session", "message", "part", "project"} <= names


def read_from(path: Path, offset: int = 0, most: int | None = None) -> TranscriptPart:
    """The messages since `offset`; an answer counts once it is complete. Stops after `most` bytes.

    Raises: OSError.
    """
    collector = Collector(CLIENT)
    latest, row = divmod(offset, _ROW)
    since = (latest, row) if row else (max(latest - _AGAIN, 0), 0)
    with _open(path) as store:
        found, cut = _changed_since(since, store, most)
        for each in sorted(found, key=lambda one: (one["time_created"], one["id"])):
            _take(each, store, collector)
    if cut is not None:
        return collector.part(cut[0] * _ROW + cut[1], unfinished=True)
    return collector.part(max([latest, *(int(each["second"]) for each in found)]) * _ROW)


def _changed_since(
    since: tuple[int, int], store: sqlite3.Connection, most: int | None
) -> tuple[list[sqlite3.Row], tuple[int, int] | None]:
    """The messages that changed after a position, and where reading stopped early, if it did.

    Also has earlier messages of the same sessions that changed later: a question, which gets its summary
    once it is answered, stays before its answer.
    """
    rows = -1 if most is None else _ROWS
    coming = store.execute(f"{_MESSAGES} {_IN_ORDER}", (*since, MAX_LINE, rows)).fetchall()
    found: list[sqlite3.Row] = []
    size = 0
    for each in coming:
        if most is not None and size >= most:
            break
        found.append(each)
        size += len(each["data"]) + int(store.execute(_SIZE, (each["id"],)).fetchone()[0] or 0)
    if len(found) == len(coming) != rows:
        return found, None
    cut = int(found[-1]["second"]), int(found[-1]["place"])
    last = {
        each["session_id"]: each["time_created"] for each in sorted(found, key=itemgetter("time_created"))
    }
    for session, created in last.items():
        found += store.execute(f"{_MESSAGES} {_BEFORE}", (*cut, MAX_LINE, session, created))
    return found, cut


def _take(found: sqlite3.Row, store: sqlite3.Connection, collector: Collector) -> None:
    said, session = _object(found["data"]), str(found["session_id"])
    at = _moment(found["time_created"])
    if found["parent_id"] is not None:
        collector.skip("subagent")
        return
    if said.get("role") not in ("user", "assistant"):
        collector.skip("unknown")
        return
    role: Role = "user" if said["role"] == "user" else "assistant"
    if role == "assistant" and (said.get("summary") or "completed" not in object_of(said, "time")):
        collector.skip("summary" if said.get("summary") else "unfinished")
        return
    directory = found["directory"]
    collector.note(
        session, directory=directory, project=project_of(directory), name=found["title"] or None, at=at
    )
    parts = (_object(data) for (data,) in store.execute(_PARTS, (found["id"], MAX_LINE)))
    texts = [text_of(part, "text") for part in parts if part.get("type") == "text" and not _added(part)]
    text = "\n\n".join(text.strip() for text in texts if text)
    collector.say(session, str(found["id"]), role, [_unquoted(text) if role == "user" else text], at)


def _added(part: Object) -> bool:
    """Whether the program added it: text read from files, and its own instructions."""
    return bool(part.get("synthetic") or part.get("ignored"))


def _unquoted(text: str) -> str:
    """The text as typed: `opencode run` puts quotes around a prompt of several words."""
    inside = text[1:-1]
    return inside if text == f'"{inside}"' and '"' not in inside else text


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """Raises: OSError."""
    try:
        store = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
        store.row_factory = sqlite3.Row
        try:
            yield store
        finally:
            store.close()
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise OSError(f"not a readable opencode database ({error})") from None


def _object(data: Any) -> Object:
    try:
        found = json.loads(data)
    except (ValueError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _moment(milliseconds: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
