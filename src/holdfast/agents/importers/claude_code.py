"""Claude Code's transcripts: what a person typed and what the model answered, nothing else.

The format is undocumented and moves: whatever is not known to be a source is skipped and counted. Subagents,
attachments, tool results, hooks' context, commands and their output, and summaries are no sources.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from holdfast.agents.importers.conversation import Gathering, Role, TranscriptMessage, TranscriptPart
from holdfast.agents.importers.lines import (
    Object,
    TranscriptLine,
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

CLIENT: Final = "claude-code"
#: Lines of these kinds name a session; the second is the field with the name.
_TITLES: Final = {"custom-title": "customTitle", "ai-title": "aiTitle"}
_BOOKKEEPING: Final = frozenset({"summary", "file-history-snapshot", "queue-operation", "last-prompt"})
#: Marks of lines that a program wrote in a person's name.
_MADE: Final = {
    "isSidechain": "subagent",
    "agentId": "subagent",
    "isMeta": "meta",
    "isCompactSummary": "summary",
    "isVisibleInTranscriptOnly": "summary",
    "repeatsCompactSummary": "summary",
    "isSynthetic": "meta",
    "toolUseResult": "tool result",
    "sourceToolUseID": "tool result",
    "isApiErrorMessage": "error",
}


def fits(first: Sequence[Object]) -> bool:
    """Whether a file that begins so is one of Claude Code's."""
    return any(
        ("sessionId" in found and text_of(found, "type") and "projectHash" not in found)
        or (text_of(found, "type") in _BOOKKEEPING and ("leafUuid" in found or "snapshot" in found))
        for found in first
    )


def read_from(path: Path, offset: int = 0, most: int | None = None) -> TranscriptPart:
    """What was said in a transcript from `offset` on, and the offset to go on from, after `most` bytes.

    Raises: OSError.
    """
    gathering = Gathering(CLIENT)
    start = next_offset = start_in(path, offset)
    for line in lines_from(path, start):
        if most is not None and next_offset - start >= most:
            return gathering.reading(next_offset, unfinished=True)
        next_offset = line.end
        gathering.broken += line.broken
        if line.object is not None:
            _take(line, line.object, gathering)
    return gathering.reading(next_offset)


def _take(line: TranscriptLine, found: Object, gathering: Gathering) -> None:
    kind = text_of(found, "type") or "unknown"
    session = id_of(found, "sessionId")
    if session is not None and kind in _TITLES:
        gathering.note(session, name=text_of(found, _TITLES[kind]))
    if kind not in ("user", "assistant"):
        gathering.skip(kind)
        return
    role: Role = "user" if kind == "user" else "assistant"
    reason = _no_source(found, role)
    if reason is not None:
        gathering.skip(reason)
        return
    if session is None:
        gathering.broken += 1
        return
    directory, at = text_of(found, "cwd"), moment_of(found)
    gathering.note(session, directory=directory, project=project_of(directory), at=at)
    text = _said(found, role)
    if text:
        spoken_id = id_of(found, "uuid") or f"{session}:{line.offset}"
        gathering.say(session, TranscriptMessage(id=spoken_id, role=role, text=text, said_at=at))
    else:
        gathering.skip("injected" if role == "user" else "no text")


def _no_source(found: Object, role: Role) -> str | None:
    """What a line is if it is no word of a person or of the model."""
    made = next((name for mark, name in _MADE.items() if found.get(mark)), None)
    if made is not None:
        return made
    message = object_of(found, "message")
    if message.get("role", role) != role or message.get("model") == "<synthetic>":
        return "meta"
    # Newer versions say who caused a turn; only a person's own are a person's words.
    if role == "user" and object_of(found, "origin").get("kind", "human") != "human":
        return "meta"
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    if any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks):
        return "tool result"
    return None


def _said(found: Object, role: Role) -> str:
    texts = texts_of(object_of(found, "message").get("content"))
    if role == "user":
        texts = [typed(text) for text in texts]
    return "\n\n".join(text.strip() for text in texts if text.strip())
