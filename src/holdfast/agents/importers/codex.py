"""Rollouts of Codex: what a person typed and what the model answered, nothing else.

A rollout is one file per session; its first line has the session and its directory. Newer versions label each
part of a message with its source; for older ones it is derived from the text.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from holdfast.agents.importers.transcript import (
    Collector,
    Object,
    Role,
    TranscriptLine,
    TranscriptPart,
    first_objects,
    id_of,
    moment_of,
    object_of,
    project_of,
    read_lines,
    text_of,
    texts_of,
)

CLIENT: Final = "codex"
_META: Final = "session_meta"
_TEXTS: Final = ("input_text", "output_text", "text")
#: Minimum length of a globally unique id; shorter ones are unique in their session only.
_UNIQUE: Final = 20


def fits(first: Sequence[Object]) -> bool:
    """Whether a file with these first objects is a rollout."""
    return any(_meta_of(found) is not None for found in first[:1])


def places(home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    folder = Path(environment.get("CODEX_HOME") or home / ".codex")
    return folder / "sessions", folder / "archived_sessions"


def read_from(path: Path, offset: int = 0, most: int | None = None) -> TranscriptPart:
    """The messages of a rollout from `offset` on; stops after `most` bytes. Raises: OSError."""
    collector = Collector(CLIENT)
    first = first_objects(path, 1)
    meta = (_meta_of(first[0]) if first else None) or {}
    session = id_of(meta, "id") or id_of(meta, "session_id")
    of_subagent = isinstance(meta.get("source"), dict) or meta.get("thread_source", "user") != "user"
    if session is not None and not of_subagent:
        directory = text_of(meta, "cwd")
        collector.note(session, directory=directory, project=project_of(directory), at=moment_of(meta))

    def take(line: TranscriptLine, found: Object) -> None:
        if session is None:
            collector.skip("no session")
        elif of_subagent:
            collector.skip("subagent")
        else:
            _take(line, found, session, collector)

    return read_lines(path, offset, most, collector, take)


def _meta_of(found: Object) -> Object | None:
    """The session in the first line; older versions have it without a wrapper."""
    if found.get("type") == _META:
        return object_of(found, "payload")
    if "type" not in found and "instructions" in found and "timestamp" in found and "id" in found:
        return found
    return None


def _take(line: TranscriptLine, found: Object, session: str, collector: Collector) -> None:
    kind = text_of(found, "type") or "unknown"
    item = object_of(found, "payload") if kind == "response_item" else found
    if item.get("type") != "message":
        collector.skip(str(item.get("type") or kind) if kind == "response_item" else kind)
        return
    if item.get("role") not in ("user", "assistant"):
        collector.skip("injected")
        return
    role: Role = "user" if item["role"] == "user" else "assistant"
    at = moment_of(found)
    collector.note(session, at=at)
    content = item.get("content")
    texts = texts_of(_typed_parts(item, content) if role == "user" else content, _TEXTS)
    own_id = id_of(item, "id") or str(line.offset)
    spoken_id = own_id if len(own_id) >= _UNIQUE else f"{session}:{own_id}"
    collector.say(session, spoken_id, role, texts, at)


def _typed_parts(item: Object, content: Any) -> Any:
    """The parts of a message that came from a person, if the rollout labels them."""
    kinds = object_of(item, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
    if not isinstance(kinds, list) or not isinstance(content, list):
        return content
    told = dict(enumerate(kinds))
    return [part for place, part in enumerate(content) if str(told.get(place, "")).startswith("user.")]
