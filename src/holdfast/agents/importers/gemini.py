"""Chats of Gemini CLI: what a person typed and what the model answered, nothing else.

A chat is one file per session: lines (a heading, messages, changes) or, from older versions, one object. A
message that is written again replaces the earlier one, so a chat is always read as a whole.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from holdfast.agents.importers.transcript import (
    MAX_LINE,
    Collector,
    Object,
    Role,
    TranscriptPart,
    id_of,
    lines_from,
    moment_of,
    object_of,
    project_of,
    text_of,
    texts_of,
)

CLIENT: Final = "gemini"
_ROLES: Final[dict[str | None, Role]] = {"user": "user", "gemini": "assistant"}
_HASH = re.compile(r"[0-9a-f]{64}")


def fits(first: Sequence[Object]) -> bool:
    """Whether a file with these first objects is a chat."""
    return any("sessionId" in found and "projectHash" in found for found in first[:1])


def places(home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    return (home / ".gemini" / "tmp",)


def read_from(path: Path, offset: int = 0, most: int | None = None) -> TranscriptPart:
    """All messages of a chat, whatever `most` is; none if it has not grown. Raises: OSError."""
    collector = Collector(CLIENT)
    size = path.stat().st_size
    if size == offset:
        return collector.part(offset)
    if older := whole(path):
        _take_all([*older, *_objects(older[0].get("messages"))], path, collector)
        return collector.part(size)
    found: list[Object] = []
    next_offset = 0
    for line in lines_from(path):
        next_offset = line.end
        collector.broken += line.broken
        if line.object is not None:
            found.append(line.object)
    _take_all(found, path, collector)
    return collector.part(next_offset)


def whole(path: Path) -> list[Object]:
    """A chat of an older version, which is one object; empty for any other file. Raises: OSError."""
    if path.suffix != ".json" or path.stat().st_size > MAX_LINE:
        return []
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return []
    return _objects([found])


def _take_all(found: Sequence[Object], path: Path, collector: Collector) -> None:
    heading = next((one for one in found if "sessionId" in one and "projectHash" in one), {})
    session = id_of(heading, "sessionId")
    if session is None or heading.get("kind", "main") != "main":
        for _ in found:
            collector.skip("no session" if session is None else "subagent")
        return
    directory = _directory(path, heading)
    project = project_of(directory) if directory else _folder_name(path)
    collector.note(session, directory=directory, project=project, at=moment_of(heading, "startTime"))
    for one in found:
        _take(one, session, collector)
    for one in _only_in_changes(found):
        _take(one, session, collector)


def _take(found: Object, session: str, collector: Collector) -> None:
    role = _ROLES.get(text_of(found, "type"))
    own_id = id_of(found, "id")
    if role is None or own_id is None:
        kind = next((mark for mark in ("$set", "$rewindTo") if mark in found), None)
        heading = "heading" if "projectHash" in found else "unknown"
        collector.skip(kind or text_of(found, "type") or heading)
        return
    at = moment_of(found)
    collector.note(session, at=at)
    collector.say(session, f"{session}:{own_id}", role, texts_of(found.get("content"), ("text", None)), at)


def _only_in_changes(found: Sequence[Object]) -> Iterator[Object]:
    """Messages without a line of their own: some versions write them in a change of all messages.

    A change that summarizes earlier messages is skipped.
    """
    said = {json.dumps(one.get("content")) for one in found if "id" in one}
    for one in found:
        listed = _objects(object_of(one, "$set").get("messages"))
        if any("<state_snapshot>" in json.dumps(each.get("content")) for each in listed):
            continue
        for each in listed:
            content = json.dumps(each.get("content"))
            if content not in said:
                said.add(content)
                yield each


def _objects(found: Any) -> list[Object]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _directory(path: Path, heading: Object) -> str | None:
    """The directory of the session: from the chat, from its project folder, or from the client's list."""
    listed = heading.get("directories")
    if isinstance(listed, list) and listed and isinstance(listed[0], str):
        return listed[0]
    folder = path.parent.parent
    try:
        return (folder / ".project_root").read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        pass
    try:
        known = json.loads((folder.parent.parent / "projects.json").read_bytes())
        projects = known["projects"].items()
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    return next((str(place) for place, name in projects if name == folder.name), None)


def _folder_name(path: Path) -> str | None:
    """The name of the project's folder, unless it is only a hash."""
    name = path.parent.parent.name if path.parent.name == "chats" else ""
    return name if name and not _HASH.fullmatch(name) else None
