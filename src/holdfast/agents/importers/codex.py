"""Codex's rollouts: what a person typed and what the model answered, nothing else.

A rollout is a file a session, whose first line names the session and its directory. Newer versions say of
each part of a message where it came from; of older ones the text itself has to tell.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from holdfast.agents.importers.conversation import Gathering, Role, TranscriptMessage, TranscriptPart
from holdfast.agents.importers.lines import (
    Object,
    TranscriptLine,
    first_objects,
    id_of,
    lines_from,
    moment_of,
    object_of,
    start_in,
    text_of,
    texts_of,
)
from holdfast.agents.importers.projects import project_of
from holdfast.agents.importers.typed_text import typed

CLIENT: Final = "codex"
_META: Final = "session_meta"
_TEXTS: Final = ("input_text", "output_text", "text")
_UNIQUE: Final = (
    20  # characters of an id that nobody else makes; shorter ones are unique in their session only
)


def fits(first: Sequence[Object]) -> bool:
    """Whether a file that begins so is a rollout."""
    return any(_meta_of(found) is not None for found in first[:1])


def read_from(path: Path, offset: int = 0, most: int | None = None) -> TranscriptPart:
    """What was said in a rollout from `offset` on, and the offset to go on from, after `most` bytes.

    Raises: OSError.
    """
    gathering = Gathering(CLIENT)
    first = first_objects(path, 1)
    meta = (_meta_of(first[0]) if first else None) or {}
    session = id_of(meta, "id") or id_of(meta, "session_id")
    of_subagent = isinstance(meta.get("source"), dict) or meta.get("thread_source", "user") != "user"
    if session is not None and not of_subagent:
        directory = text_of(meta, "cwd")
        gathering.note(session, directory=directory, project=project_of(directory), at=moment_of(meta))
    start = next_offset = start_in(path, offset)
    for line in lines_from(path, start):
        if most is not None and next_offset - start >= most:
            return gathering.reading(next_offset, unfinished=True)
        next_offset = line.end
        gathering.broken += line.broken
        if line.object is None:
            continue
        if session is None:
            gathering.skip("no session")
        elif of_subagent:
            gathering.skip("subagent")
        else:
            _take(line, line.object, session, gathering)
    return gathering.reading(next_offset)


def _meta_of(found: Object) -> Object | None:
    """What the first line says of its session; older versions say it without a wrapping."""
    if found.get("type") == _META:
        return object_of(found, "payload")
    if "type" not in found and "instructions" in found and "timestamp" in found and "id" in found:
        return found
    return None


def _take(line: TranscriptLine, found: Object, session: str, gathering: Gathering) -> None:
    kind = text_of(found, "type") or "unknown"
    item = object_of(found, "payload") if kind == "response_item" else found
    if item.get("type") != "message":
        gathering.skip(str(item.get("type") or kind) if kind == "response_item" else kind)
        return
    if item.get("role") not in ("user", "assistant"):
        gathering.skip("injected")
        return
    role: Role = "user" if item["role"] == "user" else "assistant"
    at = moment_of(found)
    gathering.note(session, at=at)
    text = _said(item, role)
    if not text:
        gathering.skip("injected" if role == "user" else "no text")
        return
    own_id = id_of(item, "id") or str(line.offset)
    spoken_id = own_id if len(own_id) >= _UNIQUE else f"{session}:{own_id}"
    gathering.say(session, TranscriptMessage(id=spoken_id, role=role, text=text, said_at=at))


def _said(item: Object, role: Role) -> str:
    content = item.get("content")
    if role == "assistant":
        texts = texts_of(content, _TEXTS)
    else:
        texts = [typed(text) for text in texts_of(_typed_parts(item, content), _TEXTS)]
    return "\n\n".join(text.strip() for text in texts if text.strip())


def _typed_parts(item: Object, content: Any) -> Any:
    """The parts of a message that came from a person, where the rollout tells."""
    kinds = object_of(item, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
    if not isinstance(kinds, list) or not isinstance(content, list):
        return content
    told = dict(enumerate(kinds))
    return [part for place, part in enumerate(content) if str(told.get(place, "")).startswith("user.")]
