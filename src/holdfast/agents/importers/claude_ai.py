"""Claude.ai's export: conversations as lists of what a person wrote and what Claude answered.

Attachments, tools and thoughts are no sources: only texts of the messages themselves are taken.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from holdfast.agents.importers.conversation import Gathering, Role, TranscriptMessage, TranscriptPart
from holdfast.agents.importers.exports import gathered
from holdfast.agents.importers.lines import Object, id_of, moment_of, text_of, texts_of
from holdfast.agents.importers.typed_text import typed

CLIENT: Final = "claude-ai"
_ROLES: Final[dict[str | None, Role]] = {"human": "user", "assistant": "assistant"}


def fits(first: Sequence[Object]) -> bool:
    """Whether an export that begins so is one of Claude.ai."""
    return bool(first) and all(map(_fits, first))


def read_from(path: Path, offset: int = 0) -> TranscriptPart:
    """All that was said in an export; nothing, when it was read to its end before.

    Raises: Invalid, with the line; OSError.
    """
    return gathered(path, offset, CLIENT, fits=_fits, take=_take)


def _fits(one: Object) -> bool:
    return isinstance(one.get("chat_messages"), list)


def _take(found: Object, gathering: Gathering) -> None:
    own_id = id_of(found, "uuid")
    if own_id is None:
        gathering.skip("no id")
        return
    session = f"{CLIENT}-{own_id}"
    gathering.note(session, name=text_of(found, "name"), at=moment_of(found, "created_at"))
    for message in found["chat_messages"]:
        if isinstance(message, dict):
            _say(message, session, gathering)
        else:
            gathering.skip("unknown")


def _say(message: Object, session: str, gathering: Gathering) -> None:
    role, own_id = _ROLES.get(text_of(message, "sender")), id_of(message, "uuid")
    if role is None or own_id is None:
        gathering.skip(text_of(message, "sender") or "no id")
        return
    # Newer exports say it in blocks; `text` then holds the tools' share as well.
    texts = texts_of(message.get("content")) or texts_of(message.get("text"))
    if role == "user":
        texts = [typed(text) for text in texts]
    text = "\n\n".join(text.strip() for text in texts if text.strip())
    if not text:
        gathering.skip("no text")
        return
    at = moment_of(message, "created_at")
    gathering.note(session, at=at)
    gathering.say(session, TranscriptMessage(id=f"{session}:{own_id}", role=role, text=text, said_at=at))
