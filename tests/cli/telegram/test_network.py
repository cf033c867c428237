"""The bot stays, whatever the network and Telegram do. On SQLite: it does not depend on the database."""

from __future__ import annotations

import logging

import pytest

from holdfast import Memories, Unavailable
from holdfast.errors import Invalid
from tests.cli.telegram.bot_api import TOKEN, BotApi, Fault, typed
from tests.cli.telegram.conftest import Running, kept


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.mark.parametrize(
    "fault",
    [
        Fault(),
        Fault(500, {"ok": False, "description": "Internal"}),
        Fault(502, "<html>Bad gateway</html>"),
        Fault(409, {"ok": False, "error_code": 409, "description": "Conflict"}),
        Fault(429, {"ok": False, "description": "Too many", "parameters": {"retry_after": 7}}),
        Fault(200, {"ok": True}),
        Fault(200, {"ok": True, "result": {"not": "a list"}}),
        Fault(200, {"ok": True, "result": [None, 5, {}, {"update_id": "x"}]}),
        Fault(200, "no JSON at all"),
    ],
    ids=lambda fault: f"{fault.status}",
)
def test_the_bot_stays_when_asking_goes_wrong(
    memories: Memories, api: BotApi, bot: Running, fault: Fault
) -> None:
    kept(memories, "Alec is the user's boss")
    api.faults["getUpdates"].extend([fault] * 6)
    api.types("/memory")  # the poll that was under way answers; those after it fail

    [told] = api.types("/memory")

    assert "Alec is the user's boss" in told
    assert not api.faults["getUpdates"]


def test_an_answer_is_sent_again_until_it_gets_through(memories: Memories, api: BotApi, bot: Running) -> None:
    memory_id = kept(memories, "Alec is the user's boss")
    wait = Fault(429, {"ok": False, "description": "Too many", "parameters": {"retry_after": 7}})
    api.faults["sendMessage"].extend([Fault(), wait, Fault(500, {"ok": False})])

    told = api.types(f"/memory delete {memory_id}")

    assert told == [f"Deleted: 'Alec is the user's boss'\nUndo: /memory restore {memory_id}"]
    assert 7.0 in bot.paused


def test_a_chat_that_takes_no_messages_is_given_up(memories: Memories, api: BotApi, bot: Running) -> None:
    kept(memories, "Alec is the user's boss")
    api.faults["sendMessage"].append(Fault(403, {"ok": False, "description": "bot was blocked by the user"}))

    assert api.types("/memory") == []
    assert len(api.types("/memory")) == 1


def test_the_bot_waits_for_a_network_that_is_not_there_yet(memories: Memories, api: BotApi) -> None:
    api.faults["getMe"].extend([Fault(), Fault(502, "<html>"), Fault()])
    bot = Running(lambda: memories, api)

    api.wait_for_polls(1)
    bot.stop()

    assert bot.error is None
    assert bot.paused == [1.0, 2.0, 5.0]


def test_a_token_that_telegram_does_not_know_is_told_without_showing_it(
    memories: Memories, api: BotApi
) -> None:
    api.faults["getMe"].append(Fault(401, {"ok": False, "error_code": 401, "description": "Unauthorized"}))
    bot = Running(lambda: memories, api)

    bot.join()

    assert isinstance(bot.error, Invalid)
    assert TOKEN not in str(bot.error)
    assert "@BotFather" in str(bot.error)


def test_a_memory_that_is_away_is_told_and_comes_back(memories: Memories, api: BotApi) -> None:
    away = [Unavailable("the disk is gone")]

    def opened() -> Memories:
        if away:
            raise away.pop()
        return memories

    bot = Running(opened, api)

    assert api.types("/memory") == ["The store is unavailable. Nothing was changed; try again later."]
    assert api.types("/memory") == ["No memories yet."]
    bot.stop()


def test_what_was_handled_is_not_delivered_again_after_a_restart(memories: Memories, api: BotApi) -> None:
    memory_id = kept(memories, "Alec is the user's boss")
    first = Running(lambda: memories, api)
    api.types(f"/memory delete {memory_id}")
    first.stop()
    memories.restore(memory_id)

    second = Running(lambda: memories, api)
    told = api.types("/memory")
    second.stop()

    assert len(api.texts) == 2
    assert memory_id in told[0]


def test_the_log_has_neither_texts_nor_the_token(
    memories: Memories, api: BotApi, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("httpx", "httpcore", "telegram", "holdfast"):
        caplog.set_level(logging.DEBUG, logger=name)
    memory_id = kept(memories, "Alec is the user's boss")
    api.faults["sendMessage"].extend([Fault(), Fault(400, {"ok": False, "description": TOKEN})])
    bot = Running(lambda: memories, api)

    api.types(f"/memory delete {memory_id} please")
    api.deliver(typed("/memory list of mine", 999))
    bot.stop()

    assert "user 999 is not allowed" in caplog.text
    assert "Telegram refused the request: BadRequest" in caplog.text
    assert all(secret not in caplog.text for secret in (TOKEN, "Alec", memory_id, "please", "of mine"))
