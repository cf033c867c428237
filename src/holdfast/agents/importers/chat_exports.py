"""The conversations in an export of ChatGPT or Claude.ai.

Only what a person typed and what the model answered: no system text, tools, thoughts, attachments or hidden
messages. ChatGPT stores a tree of messages, of which the branch that was kept is read.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from holdfast.agents.importers.exports import ChatExport
from holdfast.agents.importers.transcript import (
    Collector,
    Object,
    Role,
    id_of,
    moment_of,
    object_of,
    text_of,
    texts_of,
)

_CHATGPT_ROLES: Final[dict[str | None, Role]] = {"user": "user", "assistant": "assistant"}
_SPOKEN: Final = ("text", "multimodal_text")


def _take_chatgpt(found: Object, collector: Collector) -> None:
    own_id = id_of(found, "conversation_id") or id_of(found, "id")
    if own_id is None:
        collector.skip("no id")
        return
    session = f"chatgpt-{own_id}"
    nodes = {key: node for key, node in found["mapping"].items() if isinstance(node, dict)}
    branch = _branch(found, nodes)
    collector.note(session, name=text_of(found, "title"), at=_moment(found, "create_time"))
    for node in branch:
        _say_chatgpt(object_of(node, "message"), session, collector)
    for _ in range(sum(1 for node in nodes.values() if object_of(node, "message")) - _count_messages(branch)):
        collector.skip("other branch")


def _count_messages(branch: Sequence[Object]) -> int:
    return sum(1 for node in branch if object_of(node, "message"))


def _branch(found: Object, nodes: dict[str, Object]) -> list[Object]:
    """From the root to the current message; if there is none, to the latest leaf."""
    at = found.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        leaves = [key for key, node in nodes.items() if not node.get("children")]
        at = max(leaves, key=lambda key: _said_at(nodes[key]), default=None)
    branch: list[Object] = []
    seen: set[str] = set()
    while isinstance(at, str) and at in nodes and at not in seen:  # a cycle is not a conversation
        seen.add(at)
        branch.append(nodes[at])
        at = nodes[at].get("parent")
    return branch[::-1]


def _say_chatgpt(message: Object, session: str, collector: Collector) -> None:
    if not message:
        return
    author, content = object_of(message, "author"), object_of(message, "content")
    role, kind = _CHATGPT_ROLES.get(text_of(author, "role")), text_of(content, "content_type")
    own_id = id_of(message, "id")
    skipped = _no_source(message, role, kind)
    if role is None or own_id is None or skipped is not None:
        collector.skip(skipped or "no id")
        return
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    at = _moment(message, "create_time")
    if collector.say(session, f"{session}:{own_id}", role, texts, at, empty="no text"):
        collector.note(session, at=at)


def _no_source(message: Object, role: Role | None, kind: str | None) -> str | None:
    """Why a message is not part of the conversation; None if it is."""
    author = text_of(object_of(message, "author"), "role") or "unknown"
    if role is None:
        return author
    if object_of(message, "metadata").get("is_visually_hidden_from_conversation") is True:
        return "hidden"
    if message.get("recipient") not in (None, "all"):
        return "tool call"
    return None if kind in _SPOKEN else f"{kind or 'unknown'}"


def _moment(found: Object, name: str) -> datetime | None:
    """A field that is a time in seconds since 1970."""
    try:
        return datetime.fromtimestamp(found[name], UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None


def _said_at(node: Object) -> float:
    value: Any = object_of(node, "message").get("create_time")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


_CLAUDE_AI_ROLES: Final[dict[str | None, Role]] = {"human": "user", "assistant": "assistant"}


def _take_claude_ai(found: Object, collector: Collector) -> None:
    own_id = id_of(found, "uuid")
    if own_id is None:
        collector.skip("no id")
        return
    session = f"claude-ai-{own_id}"
    collector.note(session, name=text_of(found, "name"), at=moment_of(found, "created_at"))
    for message in found["chat_messages"]:
        if isinstance(message, dict):
            _say_claude_ai(message, session, collector)
        else:
            collector.skip("unknown")


def _say_claude_ai(message: Object, session: str, collector: Collector) -> None:
    role, own_id = _CLAUDE_AI_ROLES.get(text_of(message, "sender")), id_of(message, "uuid")
    if role is None or own_id is None:
        collector.skip(text_of(message, "sender") or "no id")
        return
    # Newer exports have blocks; `text` then also contains tool output.
    texts = texts_of(message.get("content")) or texts_of(message.get("text"))
    at = moment_of(message, "created_at")
    if collector.say(session, f"{session}:{own_id}", role, texts, at, empty="no text"):
        collector.note(session, at=at)


CHATGPT: Final = ChatExport("chatgpt", "mapping", dict, _take_chatgpt)
CLAUDE_AI: Final = ChatExport("claude-ai", "chat_messages", list, _take_claude_ai)
