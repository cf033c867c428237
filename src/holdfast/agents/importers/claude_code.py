"""Transcripts of Claude Code: what a person typed and what the model answered, nothing else.

The format is undocumented and changes: unknown lines are skipped and counted, like subagents, attachments,
tool results, context of hooks, commands with their output, and summaries.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from holdfast.agents.importers.transcript import (
    Collector,
    Object,
    Role,
    TranscriptLine,
    TranscriptPart,
    id_of,
    moment_of,
    object_of,
    project_of,
    read_lines,
    text_of,
    texts_of,
)

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
    """Whether a file with these first objects is a transcript of Claude Code."""
    return any(
        ("sessionId" in found and text_of(found, "type") and "projectHash" not in found)
        or (text_of(found, "type") in _BOOKKEEPING and ("leafUuid" in found or "snapshot" in found))
        for found in first
    )


def places(home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
    return (Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects",)


def read_from(path: Path, offset: int = 0, most: int | None = None) -> TranscriptPart:
    """The messages of a transcript from `offset` on; stops after `most` bytes. Raises: OSError."""
    collector = Collector(CLIENT)
    return read_lines(path, offset, most, collector, lambda line, found: _take(line, found, collector))


def _take(line: TranscriptLine, found: Object, collector: Collector) -> None:
    kind = text_of(found, "type") or "unknown"
    session = id_of(found, "sessionId")
    if session is not None and kind in _TITLES:
        collector.note(session, name=text_of(found, _TITLES[kind]))
    if kind not in ("user", "assistant"):
        collector.skip(kind)
        return
    role: Role = "user" if kind == "user" else "assistant"
    reason = _no_source(found, role)
    if reason is not None:
        collector.skip(reason)
        return
    if session is None:
        collector.broken += 1
        return
    directory, at = text_of(found, "cwd"), moment_of(found)
    collector.note(session, directory=directory, project=project_of(directory), at=at)
    spoken_id = id_of(found, "uuid") or f"{session}:{line.offset}"
    collector.say(session, spoken_id, role, texts_of(object_of(found, "message").get("content")), at)


def _no_source(found: Object, role: Role) -> str | None:
    """Why a line is not a message of a person or the model; None if it is one."""
    made = next((name for mark, name in _MADE.items() if found.get(mark)), None)
    if made is not None:
        return made
    message = object_of(found, "message")
    if message.get("role", role) != role or message.get("model") == "<synthetic>":
        return "meta"
    # Newer versions record what caused a turn; only a person's own are a person's messages.
    if role == "user" and object_of(found, "origin").get("kind", "human") != "human":
        return "meta"
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    if any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks):
        return "tool result"
    return None
