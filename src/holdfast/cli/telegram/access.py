"""Admits updates: only what an allowed user typed or pressed in a private chat.

Works on the raw updates, before anything else reads them. Everything else is dropped without an answer, so
that a stranger can't tell that the bot is running.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

_MOST_TEXT = 4_096
_MOST_DATA = 64  # bytes, by Telegram's own rule
#: A message that carries one of these was not simply typed by the person who sent it.
_SECOND_HAND = (
    "sender_chat",
    "via_bot",
    "forward_origin",
    "forward_from",
    "forward_from_chat",
    "forward_sender_name",
    "forward_date",
    "is_automatic_forward",
    "business_connection_id",
    "sender_business_bot",
    "author_signature",
    "guest_query_id",
)


@dataclass(frozen=True, slots=True)
class Typed:
    """A person sent a text."""

    chat: int
    text: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """A person pressed a button under one of our messages."""

    chat: int
    query: str
    message: int
    data: str


def admitted(update: Mapping[str, Any], users: Collection[int]) -> Typed | Pressed | None:
    """What one of `users` sent to the bot in their private chat; none for anything else."""
    kinds = set(update) - {"update_id"}
    if kinds == {"message"}:
        return _typed(update["message"], users)
    if kinds == {"callback_query"}:
        return _pressed(update["callback_query"], users)
    return None


def stranger(update: Mapping[str, Any]) -> int | None:
    """The id of the sender, for the log; none if there is no valid one."""
    for kind in ("message", "callback_query"):
        sent = update.get(kind)
        if isinstance(sent, Mapping) and isinstance(sent.get("from"), Mapping):
            number = sent["from"].get("id")
            return number if _is_number(number) and number > 0 else None
    return None


def _typed(message: object, users: Collection[int]) -> Typed | None:
    if not isinstance(message, Mapping) or any(name in message for name in _SECOND_HAND):
        return None
    sender = _person(message.get("from"), users)
    text = message.get("text")
    if sender is None or not _private(message.get("chat"), sender) or not isinstance(text, str):
        return None
    return Typed(sender, text) if 0 < len(text) <= _MOST_TEXT else None


def _pressed(query: object, users: Collection[int]) -> Pressed | None:
    if not isinstance(query, Mapping) or "inline_message_id" in query or "game_short_name" in query:
        return None
    sender = _person(query.get("from"), users)
    message, number, data = query.get("message"), query.get("id"), query.get("data")
    if sender is None or not isinstance(message, Mapping) or not _private(message.get("chat"), sender):
        return None
    if not isinstance(number, str) or not number or not isinstance(data, str):
        return None
    place = message.get("message_id")
    if not _is_number(place) or len(data.encode("utf-8", "replace")) > _MOST_DATA:
        return None
    return Pressed(sender, number, place, data)


def _person(sender: object, users: Collection[int]) -> int | None:
    """The id of an allowed person; a bot is none."""
    if not isinstance(sender, Mapping) or sender.get("is_bot") is not False:
        return None
    number = sender.get("id")
    return number if _is_number(number) and number in users else None


def _private(chat: object, sender: int) -> bool:
    if not isinstance(chat, Mapping) or chat.get("type") != "private":
        return False
    return _is_number(chat.get("id")) and chat["id"] == sender


def _is_number(value: Any) -> TypeGuard[int]:
    # True is an int to Python, and equals 1.
    return isinstance(value, int) and not isinstance(value, bool)
