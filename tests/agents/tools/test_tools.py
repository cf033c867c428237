"""The tools in every dialect, and the text that tells an assistant how to use them."""

import json

import pytest

from holdfast import Memories
from holdfast.agents.tools import call, for_messages_api, for_openai, guidance, offered
from holdfast.app.wiring import open_store, utc_now
from holdfast.engine.spaces import create_space
from holdfast.profiles import BUILT_IN, built_in
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement


@requirement("asst.tools")
@pytest.mark.parametrize("name", BUILT_IN)
def test_every_dialect_describes_the_same_tools(name: str) -> None:
    profile = built_in(name)

    messages, openai = for_messages_api(profile), for_openai(profile)

    assert [tool["name"] for tool in messages] == [tool.name for tool in offered(profile)]
    assert [tool["function"]["name"] for tool in openai] == [tool.name for tool in offered(profile)]
    assert [tool["function"]["parameters"] for tool in openai] == [tool["input_schema"] for tool in messages]
    assert json.loads(json.dumps(messages)) == messages


@requirement("asst.tools")
def test_a_hosts_dispatcher_adds_advises_and_updates(sqlite_url: str) -> None:
    store = open_store(sqlite_url)
    create_space("me", store=store, clock=utc_now, profile="assistant")
    memories = Memories.of(store, "me").speaking_as("assistant")
    fact = {"content": "Alec is my boss", "category": "person", "subject": "Alec"}

    added = call(memories, "add_to_memory", fact)
    advised = call(memories, "add_to_memory", fact)
    assert added.values is not None
    updated = call(memories, "update_memory", {"id": added.values["id"], "content": "Alec left in May"})
    store.close()

    assert added.text == f"Remembered as {added.values['id']}."
    assert f"call update_memory with id {added.values['id']}" in advised.text
    assert updated.text.endswith("Alec is my boss -> Alec left in May")


@requirement("asst.tools")
def test_an_update_finds_its_memory_by_any_name_of_it_and_can_change_the_subject(
    sqlite_url: str, clock: FixedClock
) -> None:
    store = open_store(sqlite_url)
    create_space("me", store=store, clock=clock, profile="assistant")
    memories = Memories.of(store, "me", clock=clock).speaking_as("assistant")
    fact = {"content": "Alec is my boss", "category": "person", "subject": "Alec"}
    added = call(memories, "add_to_memory", fact).values
    assert added is not None
    names = [{"memory_id": added["id"]}, {"id": f"[id:{added['id']}]"}, {"subject": "alec"}]

    updated = [
        call(memories, "update_memory", {**name, "content": f"Alec is my boss in team {number}"})
        for number, name in enumerate(names)
    ]
    renamed = call(memories, "update_memory", {"id": added["id"], "subject": "Alec Smith"})
    lost = call(memories, "update_memory", {"subject": "Sarah", "content": "Sarah left in May"})
    call(memories, "add_to_memory", {**fact, "content": "Plays the cello", "subject": "Alec Smith"})
    several = call(memories, "update_memory", {"subject": "alec-smith", "content": "Alec left"})
    empty = call(memories, "update_memory", {"id": added["id"]})
    [memory] = [one for one in memories.find().memories if one.id == added["id"]]
    store.close()

    assert [one.failed for one in updated] == [False, False, False]
    assert (memory.content, memory.subject) == ("Alec is my boss in team 2", "Alec Smith")
    assert renamed.text.endswith("(subject Alec -> Alec Smith)")
    assert (lost.failed, lost.text) == (True, "no memory has the subject 'Sarah': give the id")
    assert several.failed
    assert f"[id:{added['id']}]" in several.text
    assert (empty.failed, "content is missing" in empty.text) == (True, True)


@requirement("asst.guidance")
def test_the_guidance_says_when_to_ask_when_to_act_and_what_to_leave_alone() -> None:
    text = guidance(built_in("assistant"))

    assert "call add_to_memory only after a yes" in text
    assert "call update_memory with the id" in text
    assert '"remember that", "from now on"' in text
    assert "Do not store" in text
    assert all(f"- {name}: " in text for name in built_in("assistant").category_names)


def test_the_guidance_names_the_tools_that_the_profile_offers() -> None:
    text = guidance(built_in("default"))

    assert "memory_remember" in text
    assert "memory_revise" in text
    assert "add_to_memory" not in text
