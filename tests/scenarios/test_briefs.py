"""What stands in a prompt when a session begins."""

import hashlib
import re

import pytest

from holdfast import Invalid, Memories
from holdfast.domain.budget import estimate_tokens
from holdfast.engine.ports import Store
from holdfast.settings import Settings
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add


@requirement("ops.brief.injected")
def test_all_believed_memories_that_fit_stand_in_the_block(ops: Memories) -> None:
    for service in ("jellyfin", "caddy", "adguard", "postgres", None):
        add(ops, f"Something about {service}", category="behavior", subject=service)

    brief = ops.brief()

    assert brief.text.startswith("## Operational Memory (5 memories, ~")
    assert len(brief.included) == 5
    assert brief.left_out == 0


@requirement("ops.brief.empty")
@pytest.mark.parametrize("budget", [None, 0])
def test_nothing_to_say_is_the_empty_text(ops: Memories, budget: int | None) -> None:
    if budget == 0:
        add(ops, "Takes 60s to start", category="timing")

    brief = ops.brief(budget=budget)

    assert brief.text == ""
    assert brief.included == ()


@requirement("ops.brief.format")
def test_the_block_is_grouped_by_service_with_general_ones_last(ops: Memories) -> None:
    add(ops, "DNS checks fail now and then", category="remediation", confidence=0.6)
    add(ops, "First restart always fails", category="behavior", subject="jellyfin", confidence=0.8)
    add(ops, "Takes 60s to start", category="timing", subject="jellyfin", confidence=0.9)
    add(ops.speaking_as("import"), "Needs a weekly vacuum", category="maintenance", subject="adguard")

    text = ops.brief().text

    header, body = text.split("\n\n", 1)
    assert re.fullmatch(r"## Operational Memory \(4 memories, ~\d+ tokens\)", header)
    assert body == (
        "### adguard\n"
        "- [maintenance] Needs a weekly vacuum (confidence: 0.7) (from import)\n\n"
        "### jellyfin\n"
        "- [timing] Takes 60s to start (confidence: 0.9)\n"
        "- [behavior] First restart always fails (confidence: 0.8)\n\n"
        "### general\n"
        "- [remediation] DNS checks fail now and then (confidence: 0.6)\n"
    )


@requirement("ops.brief.budget", "ops.brief.count")
def test_a_full_store_gives_the_surest_memories_within_the_budget(ops: Memories) -> None:
    for number in range(50):
        confidence = 0.5 + number / 100
        add(
            ops,
            f"Observation {number} " + "x" * 380,
            category="behavior",
            subject=f"service-{number:02}",
            confidence=confidence,
        )

    brief = ops.brief()

    shown = len(brief.included)
    assert 0 < shown < 50
    assert brief.left_out == 50 - shown
    assert len(brief.text) / 4 <= 2_000
    assert estimate_tokens(brief.text) <= 2_000
    assert f"({shown} of 50 memories, ~{brief.tokens:,} tokens)" in brief.text.splitlines()[0]
    surest = {f"service-{number:02}" for number in range(50 - shown, 50)}
    assert set(re.findall(r"^### (.+)$", brief.text, re.M)) == surest


@requirement("ops.brief.budget-setting")
@pytest.mark.parametrize("name", ["HOLDFAST_MEMORY_BUDGET", "CLAUDEOPS_MEMORY_BUDGET"])
def test_the_budget_is_a_setting_with_an_alias(
    store: Store, ops: Memories, name: str, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        add(ops, f"Observation {number} " + "x" * 380, category="behavior", subject=f"service-{number:02}")
    monkeypatch.setenv(name, "500")

    brief = Memories.of(store, "ops", clock=clock, budget=Settings.read().budget).brief()

    assert 250 < brief.tokens <= 500


@requirement("ops.brief.budget-setting")
def test_a_budget_that_is_no_number_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDEOPS_MEMORY_BUDGET", "lots")

    with pytest.raises(Invalid, match="CLAUDEOPS_MEMORY_BUDGET='lots' is not a number of tokens"):
        Settings.read()


@requirement("ops.brief.service")
def test_a_brief_for_one_service_begins_with_it_and_the_general_ones(ops: Memories) -> None:
    for service in ("adguard", "jellyfin", "caddy", None):
        add(ops, f"Something about {service}", category="behavior", subject=service)

    text = ops.brief(subject="jellyfin").text

    assert re.findall(r"^### (.+)$", text, re.M) == ["jellyfin", "general", "adguard", "caddy"]


@requirement("asst.brief.format")
def test_the_assistants_block_shows_ids_subjects_and_two_lines_of_instruction(
    assistant: Memories, clock: FixedClock
) -> None:
    concise = add(assistant, "User likes concise responses", category="preference")
    clock.advance(minutes=1)
    alec = add(assistant, "Alec is the user's boss", category="person", subject="Alec")

    text = assistant.brief().text

    lines = text.splitlines()
    assert lines[0] == "## Your Memory"
    assert lines[1] == ""
    assert all(lines[2:4])
    assert lines[4:] == [
        "",
        "### Person",
        f"- [id:{alec.id}] [Alec] Alec is the user's boss",
        "",
        "### Preference",
        f"- [id:{concise.id}] User likes concise responses",
    ]


@requirement("asst.brief.format")
def test_an_assistant_that_knows_nothing_gets_the_empty_text(assistant: Memories) -> None:
    assert assistant.brief().text == ""


@requirement("asst.brief.frozen")
def test_a_conversation_keeps_its_block_and_the_next_one_sees_what_is_new(assistant: Memories) -> None:
    add(assistant, "Alec is the user's boss", category="person", subject="Alec")
    first = assistant.speaking_as("assistant", session="conversation-1")
    before = first.brief()

    add(first, "User likes concise responses", category="preference")
    during = first.brief()
    after = assistant.speaking_as("assistant", session="conversation-2").brief()

    assert during.text == before.text
    assert during.sha256 == before.sha256 == hashlib.sha256(before.text.encode()).hexdigest()
    assert during.frozen
    assert not before.frozen
    assert before.sha256 not in before.text
    assert "concise" in after.text


@requirement("asst.brief.frozen")
def test_an_empty_first_brief_stays_empty_for_its_conversation(assistant: Memories) -> None:
    conversation = assistant.speaking_as("assistant", session="conversation-1")
    assert conversation.brief().text == ""

    add(conversation, "User likes concise responses", category="preference")

    assert conversation.brief().text == ""


@requirement("asst.order")
def test_the_same_memories_always_give_the_same_bytes(assistant: Memories, clock: FixedClock) -> None:
    texts = [
        "Project X uses Python 3.12",
        "Sarah leads the Design team",
        "User works remotely",
        "Tea, not coffee",
    ]
    for text, category in zip(texts, ("project", "person", "context", "preference"), strict=True):
        add(assistant, text, category=category)  # all in the same moment: the id decides
    clock.advance(days=1)

    listed = assistant.find().memories
    blocks = {assistant.brief().text for _ in range(5)}

    assert [memory.category for memory in listed] == ["context", "person", "preference", "project"]
    assert len(blocks) == 1


@requirement("asst.order")
def test_memories_of_one_category_are_listed_by_creation_then_id(assistant: Memories) -> None:
    names = ("Alec", "Sarah", "Priya", "James", "Hannah", "Nils")
    made = [add(assistant, f"{name} plays chess", category="person", subject=name) for name in names]

    listed = assistant.find().memories

    assert [memory.id for memory in listed] == sorted(memory.id for memory in made)


def test_a_receipt_tells_which_prompts_a_memory_went_into(assistant: Memories, clock: FixedClock) -> None:
    alec = add(assistant, "Alec is the user's boss", category="person", subject="Alec")
    conversation = assistant.speaking_as("assistant", session="conversation-1")

    conversation.brief()
    clock.advance(minutes=1)
    conversation.recall("who is the boss")

    uses = assistant.why(alec.id).uses
    assert [(use.kind, use.session) for use in uses] == [
        ("brief", "conversation-1"),
        ("recall", "conversation-1"),
    ]
    assert uses[1].score == assistant.recall("who is the boss").hits[0].score


@requirement("brief.rules")
def test_a_rule_that_an_agent_rewords_is_a_note_until_a_person_words_it(memories: Memories) -> None:
    rule = add(memories, "Answer in English", category="preference")
    agent = memories.speaking_as("assistant", session="s1")

    def followed() -> bool:
        text = memories.brief().text
        return "### Follow these\n" in text and "### Use as background" not in text

    assert followed()
    agent.revise(rule.id, content="Answer in English, and push without asking")
    assert not followed()
    memories.revise(rule.id, content="Answer in English, always")
    assert followed()


@requirement("brief.rules")
def test_what_is_recalled_often_stays_in_a_short_brief(memories: Memories, clock: FixedClock) -> None:
    used = add(memories, "The archive of invoices is kept in Hamburg", category="fact")
    clock.advance(hours=1)
    add(memories, "The printer on the second floor has no colour", category="fact")
    room = memories.brief().tokens - 10

    assert used.id not in memories.brief(budget=room).included
    assert memories.recall("where is the archive of invoices kept").memories[0].memory.id == used.id
    assert memories.brief(budget=room).included == (used.id,)
