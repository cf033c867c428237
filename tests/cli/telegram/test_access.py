"""Forged updates: no effect and no answer, by the gate's own word and over HTTP."""

from __future__ import annotations

import pytest

from holdfast import Memories
from holdfast.cli.telegram.access import Pressed, Typed, admitted
from holdfast.domain.query import EVERYTHING
from tests.cli.telegram.bot_api import ALICE, BotApi, pressed, typed
from tests.cli.telegram.conftest import Running, kept, waiting
from tests.cli.telegram.forged import updates
from tests.requirements_ledger import requirement


def test_an_allowed_person_in_their_own_chat_is_listened_to() -> None:
    said = admitted({"update_id": 5, **typed("/memory")}, {ALICE})
    decided = admitted({"update_id": 6, **pressed("approve a1b2c3d4")}, {ALICE})

    assert said == Typed(ALICE, "/memory")
    assert decided == Pressed(ALICE, "991", 78, "approve a1b2c3d4")
    assert admitted({"update_id": 5, **typed("/memory")}, set()) is None


@pytest.mark.parametrize("users", [{ALICE}, {ALICE, 1}], ids=["one allowed", "user 1 allowed"])
def test_no_forged_update_is_admitted(users: set[int]) -> None:
    forged = [update for update in updates("a1b2c3d4", "e5f6g7h8") if not _is_from(update, users - {ALICE})]

    assert len(forged) >= 300
    assert [update for update in forged if admitted({"update_id": 1, **update}, users) is not None] == []


def _is_from(update: object, users: set[int]) -> bool:
    """Whether it is one of those that are forged only as long as these people are not allowed."""
    sent = isinstance(update, dict) and (update.get("message") or update.get("callback_query"))
    sender = sent.get("from") if isinstance(sent, dict) else None
    number = sender.get("id") if isinstance(sender, dict) else None
    return type(number) is int and number in users


@requirement("asst.telegram")
def test_forged_updates_change_nothing_and_get_no_answer(
    memories: Memories, api: BotApi, bot: Running
) -> None:
    memory_id = kept(memories, "Alec is the user's boss")
    waiting_id = waiting(memories, "Dana leads the data team")
    before = memories.find(EVERYTHING)
    history = memories.why(memory_id).entries
    forged = updates(memory_id, waiting_id)
    # Telegram hands out at most a hundred at a time.
    for start in range(0, len(forged), 100):
        api.deliver(*forged[start : start + 100])

    assert len(forged) >= 300
    assert [method for method, _ in api.calls] == ["getMe", "deleteWebhook"]
    assert memories.find(EVERYTHING) == before
    assert memories.why(memory_id).entries == history
    assert [item.memory.id for item in memories.inbox()] == [waiting_id]
    [told] = api.types("/memory")  # and the bot is still there for whom it is meant
    assert memory_id in told
