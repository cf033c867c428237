"""Six conversations with an assistant that remembers, end to end: the vendor's SDK, HTTP, both databases.

The host program is examples/assistant.py, as a developer would copy it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import anthropic
import pytest

from examples.assistant import Conversation
from holdfast import Memories
from holdfast.agents.tools import for_messages_api
from holdfast.domain.query import EVERYTHING
from holdfast.testing import FixedClock
from tests.real_agents.scripted_model import Request, Tool
from tests.requirements_ledger import requirement
from tests.scenarios.attentive_model import AttentiveModel, Reading
from tests.scenarios.told import add

NewConversation = Callable[[], Conversation]


@pytest.fixture
def model() -> Iterator[AttentiveModel]:
    model = AttentiveModel()
    yield model
    model.close()


@pytest.fixture
def talk(assistant: Memories, model: AttentiveModel, clock: FixedClock) -> Iterator[NewConversation]:
    """Begins another conversation, a while after the one before."""
    client = anthropic.Anthropic(base_url=model.url, api_key="not-a-key", max_retries=0)

    def begin() -> Conversation:
        clock.advance(hours=1)
        return Conversation(assistant, client)

    yield begin
    client.close()


@requirement("asst.scenarios")
def test_a_new_fact_is_suggested_and_stored_after_a_yes(assistant: Memories, talk: NewConversation) -> None:
    conversation = talk()

    offer = conversation.say("Alec is my boss by the way")
    assert offer == "Would you like me to remember that Alec is the user's boss?"
    assert assistant.find(EVERYTHING).total == 0
    done = conversation.say("Yes")

    [memory] = assistant.find().memories
    assert (memory.content, memory.category, memory.subject) == ("Alec is the user's boss", "person", "Alec")
    assert (memory.source.origin, memory.source.session) == ("assistant", conversation.session)
    assert done == f"Done. Remembered as {memory.id}."


@requirement("asst.scenarios")
def test_a_new_conversation_knows_what_an_earlier_one_stored(
    talk: NewConversation, model: AttentiveModel
) -> None:
    question = "Can you create a task to update Alec on the project?"
    first = talk()
    assert first.say(question) == "Who is Alec?"
    first.say("Alec is my boss by the way")
    first.say("Yes")

    second = talk()
    answer = second.say(question)

    assert answer == "I'll create a task to update Alec. (Alec is the user's boss)"
    assert "### Person\n- [id:" in model.requests[-1].system


@requirement("asst.scenarios")
def test_what_has_changed_is_updated_without_asking(assistant: Memories, talk: NewConversation) -> None:
    sarah = add(assistant, "Sarah works on the Platform team", category="person", subject="Sarah")
    conversation = talk()

    answer = conversation.say("Sarah moved to the Design team last week")

    old, new = "Sarah works on the Platform team", "Sarah works on the Design team"
    assert answer == f"Done. Updated {sarah.id}: {old} -> {new}"
    [memory] = assistant.find().memories
    assert (memory.id, memory.content, memory.version) == (sarah.id, new, 2)
    assert [version.content for version in assistant.show(sarah.id).versions] == [old, new]


@requirement("asst.scenarios")
def test_after_a_no_nothing_is_stored(
    assistant: Memories, talk: NewConversation, model: AttentiveModel
) -> None:
    conversation = talk()

    offer = conversation.say("I'm working with James on this project")
    answer = conversation.say("No, it's just for this task")
    conversation.close()

    assert offer.startswith("Would you like me to remember that James")
    assert answer == "No problem, I won't store that."
    assert assistant.find(EVERYTHING).total == 0
    assert assistant.inbox() == []
    assert all("tool_use" not in str(request.body["messages"]) for request in model.requests)
    assert talk().brief.text == ""


@requirement("asst.scenarios", "asst.command")
def test_the_list_is_answered_without_a_model(
    assistant: Memories, talk: NewConversation, model: AttentiveModel
) -> None:
    alec = add(assistant, "Alec is the user's boss", category="person", subject="Alec")
    friday = add(assistant, "The user prefers Thursday due dates", category="preference")

    told = talk().say("/memory")

    assert f"Person\n• [{alec.id}] Alec is the user's boss" in told
    assert f"Preference\n• [{friday.id}] The user prefers Thursday due dates" in told
    assert told.endswith("Use /memory delete ID to remove one.")
    assert model.requests == []


@requirement("asst.scenarios", "asst.command")
def test_what_is_deleted_is_gone_from_the_next_conversation(
    assistant: Memories, talk: NewConversation, model: AttentiveModel
) -> None:
    thursday = add(assistant, "The user prefers Thursday due dates", category="preference")
    assert thursday.id in talk().brief.text

    told = talk().say(f"/memory delete {thursday.id}")

    assert told.startswith("Deleted: 'The user prefers Thursday due dates'")
    assert model.requests == []
    assert talk().brief.text == ""
    assert "No memories yet." in talk().say("/memory list")


@requirement("asst.scenarios")
def test_an_explicit_wish_is_stored_at_once(assistant: Memories, talk: NewConversation) -> None:
    conversation = talk()

    conversation.say("Remember that I prefer Friday due dates")

    [memory] = assistant.find().memories
    assert (memory.content, memory.category) == ("The user prefers Friday due dates", "preference")


@requirement("asst.brief.frozen")
def test_the_block_stays_the_same_byte_for_byte_and_news_trail_behind(
    assistant: Memories, talk: NewConversation, model: AttentiveModel, clock: FixedClock
) -> None:
    add(assistant, "Sarah works on the Platform team", category="person", subject="Sarah")
    conversation = talk()
    conversation.say("Alec is my boss by the way")
    conversation.say("Yes")
    clock.advance(minutes=1)
    add(assistant, "Dana leads the data team", category="person", subject="Dana")

    answer = conversation.say("Hello again")
    conversation.say("And again")
    conversation.close()

    assert answer == "Good to know: Dana leads the data team"
    systems = [request.body["system"] for request in model.requests]
    assert all(system == systems[0] for system in systems)
    assert systems[0][-1]["text"] == conversation.brief.text
    assert systems[0][-1]["cache_control"] == {"type": "ephemeral"}
    histories = [request.body["messages"] for request in model.requests]
    for before, after in pairwise(histories):
        assert after[: len(before)] == before  # what was sent once is sent again as it was
    assert str(histories[-1]).count("Dana leads the data team") == 2  # by us, and by the model's own answer
    [report] = assistant.cache_report(conversation.session).sessions
    assert report.held
    assert report.answers == len(model.requests) == 5
    assert report.cacheable_tokens == 4 * conversation.brief.tokens
    assert report.reported["cache_read_tokens"] == 5 * 3_000
    assert "Dana leads the data team" in talk().brief.text


def test_the_advice_to_update_is_one_that_a_model_can_follow(
    assistant: Memories, talk: NewConversation
) -> None:
    conversation = talk()
    for text in ("Alec is my boss by the way", "Yes", "Alec is my boss by the way"):
        conversation.say(text)

    answer = conversation.say("Yes")  # what it stored itself, its brief does not show

    [memory] = assistant.find().memories
    assert answer.startswith(f"Done. Updated {memory.id}: ")


def test_the_model_of_these_tests_goes_by_what_it_is_sent(assistant: Memories) -> None:
    said = [{"role": "user", "content": "Alec is my boss by the way"}]
    tools = for_messages_api(assistant.profile)

    def answer(**body: object) -> str | Tool:
        return Reading(Request("/v1/messages", {}, {"messages": said, **body})).answer()

    assert isinstance(answer(tools=tools, system="Remember everything."), Tool)
    assert answer(tools=tools, system="only after a yes") == (
        "Would you like me to remember that Alec is the user's boss?"
    )
    assert answer(system="Remember everything.") == "I have no place to keep that."
    assert answer(tools=tools, system="- [id:a1b2c3d4] [Alec] Alec is the boss") == "I know Alec."


def test_the_tools_reach_the_model_as_they_are_defined(
    assistant: Memories, talk: NewConversation, model: AttentiveModel
) -> None:
    talk().say("Hello")

    assert model.requests[0].body["tools"] == for_messages_api(assistant.profile)
