"""ChatGPT's export: conversations as trees of messages, of which the branch that was kept is read.

Only what a person typed and the model answered to them: no system text, no tools, no thoughts, no hidden
messages. Answers that were regenerated and prompts that were edited away are other branches.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from holdfast.agents.importers.conversation import Gathering, Role, TranscriptMessage, TranscriptPart
from holdfast.agents.importers.exports import gathered
from holdfast.agents.importers.lines import Object, id_of, object_of, text_of
from holdfast.agents.importers.typed_text import typed

CLIENT: Final = "chatgpt"
_ROLES: Final[dict[str | None, Role]] = {"user": "user", "assistant": "assistant"}
_SPOKEN: Final = ("text", "multimodal_text")


def fits(first: Sequence[Object]) -> bool:
    """Whether an export that begins so is one of ChatGPT."""
    return bool(first) and all(map(_fits, first))


def read_from(path: Path, offset: int = 0) -> TranscriptPart:
    """All that was said in an export; nothing, when it was read to its end before.

    Raises: Invalid, with the line; OSError.
    """
    return gathered(path, offset, CLIENT, fits=_fits, take=_take)


def _fits(one: Object) -> bool:
    return isinstance(one.get("mapping"), dict)


def _take(found: Object, gathering: Gathering) -> None:
    own_id = id_of(found, "conversation_id") or id_of(found, "id")
    if own_id is None:
        gathering.skip("no id")
        return
    session = f"{CLIENT}-{own_id}"
    nodes = {key: node for key, node in found["mapping"].items() if isinstance(node, dict)}
    branch = _branch(found, nodes)
    gathering.note(session, name=text_of(found, "title"), at=_moment(found, "create_time"))
    for node in branch:
        _say(object_of(node, "message"), session, gathering)
    for _ in range(sum(1 for node in nodes.values() if object_of(node, "message")) - _told(branch)):
        gathering.skip("other branch")


def _told(branch: Sequence[Object]) -> int:
    return sum(1 for node in branch if object_of(node, "message"))


def _branch(found: Object, nodes: dict[str, Object]) -> list[Object]:
    """From the root to the message that the conversation stands at; without one, to the latest leaf."""
    at = found.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        leaves = [key for key, node in nodes.items() if not node.get("children")]
        at = max(leaves, key=lambda key: _said_at(nodes[key]), default=None)
    branch: list[Object] = []
    seen: set[str] = set()
    while isinstance(at, str) and at in nodes and at not in seen:  # a circle is nobody's conversation
        seen.add(at)
        branch.append(nodes[at])
        at = nodes[at].get("parent")
    return branch[::-1]


def _say(message: Object, session: str, gathering: Gathering) -> None:
    if not message:
        return
    author, content = object_of(message, "author"), object_of(message, "content")
    role, kind = _ROLES.get(text_of(author, "role")), text_of(content, "content_type")
    own_id = id_of(message, "id")
    skipped = _no_source(message, role, kind)
    if role is None or own_id is None or skipped is not None:
        gathering.skip(skipped or "no id")
        return
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    if role == "user":
        texts = [typed(text) for text in texts]
    text = "\n\n".join(text.strip() for text in texts if text.strip())
    if not text:
        gathering.skip("no text")
        return
    at = _moment(message, "create_time")
    gathering.note(session, at=at)
    gathering.say(session, TranscriptMessage(id=f"{session}:{own_id}", role=role, text=text, said_at=at))


def _no_source(message: Object, role: Role | None, kind: str | None) -> str | None:
    """Why a message is none that a person and the model said to each other, if so."""
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
