"""What an allowed person gets from the bot, over HTTP, whatever the network does."""

from __future__ import annotations

import json

import pytest

from holdfast import Memories
from holdfast.domain.query import Filter
from holdfast.testing import FixedClock
from tests.cli.telegram.bot_api import ALICE, NAME, BotApi, pressed
from tests.cli.telegram.conftest import Running, kept, waiting
from tests.requirements_ledger import requirement

FORGOTTEN = Filter(states=("forgotten",))


@requirement("asst.telegram", "asst.command")
def test_an_allowed_person_lists_deletes_and_restores(memories: Memories, api: BotApi, bot: Running) -> None:
    alec = kept(memories, "Alec is the user's boss")
    friday = kept(memories, "The user prefers Friday due dates", "preference")

    assert api.types("/memory") == [
        f"Your memories (2):\n\nPerson\n• [{alec}] Alec is the user's boss\n\n"
        f"Preference\n• [{friday}] The user prefers Friday due dates\n\n"
        "Use /memory delete ID to remove one."
    ]
    assert api.types(f"/memory@{NAME} delete {friday}") == [
        f"Deleted: 'The user prefers Friday due dates'\nUndo: /memory restore {friday}"
    ]
    assert [memory.id for memory in memories.find(FORGOTTEN).memories] == [friday]
    assert api.types(f"/memory restore {friday}") == ["Restored: 'The user prefers Friday due dates'"]
    assert bot.names == [f"@{NAME}"]
    assert {each["chat_id"] for each in api.sent} == {str(ALICE)}
    assert all(json.loads(each["link_preview_options"]) == {"is_disabled": True} for each in api.sent)


def test_anything_else_that_they_type_gets_a_line_of_help(api: BotApi, bot: Running) -> None:
    assert api.types("/memory\nlist") == ["No memories yet."]
    for text in ("/start", "hello", "/memory@another_bot delete a1b2c3d4", "/memorydelete a1b2c3d4"):
        [told] = api.types(text)
        assert told.startswith("Commands:\n\n/memory - list memories"), text


@requirement("asst.telegram")
def test_a_long_list_comes_in_pages_that_telegram_takes(
    memories: Memories, api: BotApi, bot: Running
) -> None:
    ids = [kept(memories, f"Person {n} 😀 likes {'🍞' * 200} no {n}", subject=f"P{n}") for n in range(60)]

    told = api.types("/memory list")
    while "reply_markup" in api.sent[-1]:
        [[button]] = json.loads(api.sent[-1]["reply_markup"])["inline_keyboard"]
        before = len(api.texts)
        api.deliver(pressed(button["callback_data"]))
        told += api.texts[before:]
        assert len(api.texts) - before <= 5

    assert len(told) > 5
    assert all(len(page.encode("utf-16-le")) // 2 <= 4_096 for page in told)
    whole = "\n".join(told)
    assert all(whole.count(f"[{memory_id}]") == 1 for memory_id in ids)
    assert told[-1].endswith("Use /memory delete ID to remove one.")


@requirement("asst.telegram")
def test_what_waits_is_decided_with_buttons(
    memories: Memories, api: BotApi, bot: Running, clock: FixedClock
) -> None:
    good = waiting(memories, "Dana leads the data team")
    clock.advance(minutes=1)
    bad = waiting(memories, "The user's bank is Example Bank")

    first, second = api.types("/memory inbox")
    keyboards = [json.loads(each["reply_markup"])["inline_keyboard"] for each in api.sent]
    [approve, _], [_, reject] = [row for [row] in keyboards]
    api.deliver(pressed(approve["callback_data"]), pressed(reject["callback_data"]))

    assert first == f"[{good}] Dana leads the data team\n  from tool: a web page says so"
    assert second.startswith(f"[{bad}]")
    assert api.texts[2:] == [
        f"Approved: 'Dana leads the data team'\nUndo: /memory delete {good}",
        "Rejected: 'The user's bank is Example Bank'\nIt will not be proposed again.",
    ]
    assert [memory.id for memory in memories.find().memories] == [good]
    assert memories.inbox() == []
    methods = [method for method, _ in api.calls]
    assert methods.count("answerCallbackQuery") == methods.count("editMessageReplyMarkup") == 2


def test_a_button_that_was_pressed_before_says_how_things_stand(
    memories: Memories, api: BotApi, bot: Running
) -> None:
    memory_id = waiting(memories, "Dana leads the data team")

    api.deliver(pressed(f"reject {memory_id}"), pressed(f"approve {memory_id}"))

    assert api.texts[1] == f"{memory_id} is deleted. Restore it with /memory restore {memory_id}."
    assert memories.find().total == 0


@pytest.mark.parametrize(
    "data", ["delete {}", "more", "more x", "more -1", "more 999", "", "approve", "list"]
)
def test_a_button_that_is_not_ours_changes_nothing(
    memories: Memories, api: BotApi, bot: Running, data: str
) -> None:
    memory_id = kept(memories, "Alec is the user's boss")

    api.deliver(pressed(data.format(memory_id)))

    assert memories.find().total == 1
    assert all(text.startswith("Missing id") for text in api.texts)
