"""Updates that must have no effect: what strangers, groups, channels, bots and broken servers could send."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.cli.telegram.bot_api import ALICE, Json, pressed, typed

STRANGERS: tuple[Any, ...] = (
    1,
    0,
    -1,
    -ALICE,
    ALICE + 1,
    ALICE * 10,
    -1_000_000_000_000 - ALICE,
    2**53 + ALICE,
    2**64 + ALICE,
    str(ALICE),
    f" {ALICE} ",
    f"+{ALICE}",
    float(ALICE),
    ALICE + 0.5,
    True,
    None,
    [ALICE],
    {"id": ALICE},
    "",
    "alice",
    "７００００１",
)
CHATS: tuple[Any, ...] = (
    {"id": -5, "type": "group", "title": "Us"},
    {"id": ALICE, "type": "group", "title": "Us"},
    {"id": -100_5, "type": "supergroup", "title": "Us"},
    {"id": ALICE, "type": "supergroup", "title": "Us"},
    {"id": -100_6, "type": "channel", "title": "News"},
    {"id": ALICE, "type": "channel", "title": "News"},
    {"id": ALICE + 1, "type": "private"},
    {"id": str(ALICE), "type": "private"},
    {"id": -ALICE, "type": "private"},
    {"id": ALICE, "type": "Private"},
    {"id": ALICE, "type": "sender"},
    {"id": ALICE, "type": None},
    {"id": ALICE},
    {"type": "private"},
    {},
    [],
    None,
    ALICE,
    "private",
)
SECOND_HAND: tuple[tuple[str, Any], ...] = (
    ("sender_chat", {"id": ALICE, "type": "channel", "title": "News"}),
    ("sender_chat", None),
    ("via_bot", {"id": 9, "is_bot": True, "first_name": "Other"}),
    ("forward_origin", {"type": "user", "date": 1, "sender_user": {"id": ALICE, "is_bot": False}}),
    ("forward_origin", {"type": "hidden_user", "date": 1, "sender_user_name": "Alice"}),
    ("forward_from", {"id": ALICE, "is_bot": False, "first_name": "Alice"}),
    ("forward_from_chat", {"id": -100_6, "type": "channel", "title": "News"}),
    ("forward_date", 1_790_000_000),
    ("forward_sender_name", "Alice"),
    ("is_automatic_forward", True),
    ("business_connection_id", "b1"),
    ("sender_business_bot", {"id": 9, "is_bot": True, "first_name": "Other"}),
    ("author_signature", "Alice"),
)
KINDS = (
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "business_message",
    "edited_business_message",
    "my_chat_member",
    "chat_member",
    "message_reaction",
    "poll_answer",
    "inline_query",
    "chosen_inline_result",
    "shipping_query",
    "pre_checkout_query",
    "chat_join_request",
    "Message",
    "guest_message",
)
NO_TEXTS: tuple[Any, ...] = (None, 5, ["/memory"], {"text": "/memory"}, True, "", "/memory list " * 1_000)
NOTHINGS: tuple[Any, ...] = (None, 5, "x", [], {}, True, [{}], {"text": "/memory"}, {"from": ALICE})


def updates(memory_id: str, waiting_id: str) -> list[Json]:
    """All of them, each trying to change or to learn something about these memories."""
    texts = ["/memory", f"/memory delete {memory_id}", f"/memory approve {waiting_id}"]
    buttons = [f"approve {waiting_id}", f"reject {waiting_id}", "more 0"]
    return [*_messages(texts), *_presses(buttons), *_broken(texts[1], buttons[0])]


def _messages(texts: list[str]) -> Iterator[Json]:
    for text in texts:
        for sender in STRANGERS:
            yield typed(text, sender)
        for chat in CHATS:
            yield typed(text, ALICE, chat=chat)
        for name, value in SECOND_HAND:
            yield typed(text, ALICE, **{name: value})
        yield typed(text, ALICE, **{"from": {"id": ALICE, "is_bot": True, "first_name": "Alice"}})
        yield typed(text, ALICE, **{"from": {"id": ALICE, "first_name": "Alice"}})
        # A stranger who shows an allowed person's id wherever else one can stand.
        yield typed(text, 5, reply_to_message=typed(text)["message"], contact={"user_id": ALICE})
        yield typed(text, 5, chat={"id": ALICE, "type": "private"})


def _presses(buttons: list[str]) -> Iterator[Json]:
    for data in buttons:
        for sender in STRANGERS:
            yield pressed(data, sender)
        for chat in CHATS:
            yield pressed(data, message={"message_id": 78, "date": 0, "chat": chat})
        yield pressed(data, **{"from": {"id": ALICE, "is_bot": True, "first_name": "Alice"}})
        yield pressed(data, inline_message_id="abc")
        yield pressed(data, game_short_name="chess")
        yield pressed(data, message=None)
        yield pressed(data, id=991)
        yield pressed(data, data=None)
        yield pressed(data, data="x" * 65)
        yield pressed(data, data=[data])


def _broken(text: str, data: str) -> Iterator[Json]:
    for kind in KINDS:
        yield {kind: typed(text)["message"]}
        yield {**typed(text), kind: typed(text)["message"]}
    for wrong in NO_TEXTS:
        yield typed(text, text=wrong)
        yield typed(text, text=None, caption=wrong)
    for nothing in NOTHINGS:
        yield {"message": nothing}
        yield {"callback_query": nothing}
        yield typed(text, **{"from": nothing})
        yield pressed(data, **{"from": nothing})
    yield {**typed(text), **pressed(data)}
    yield {}
