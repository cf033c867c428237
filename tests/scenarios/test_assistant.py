"""What an assistant that keeps facts about a person's world may rely on."""

import re

import pytest

from holdfast import Added, Conflict, Memories, NotFound, UpdateSuggested
from holdfast.app.wiring import new_id, open_store
from holdfast.engine.ports import Store
from holdfast.engine.revise import Revised
from holdfast.errors import TooLong, TooShort, UnknownCategory
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add, now


@requirement("asst.ids")
def test_ids_are_eight_letters_and_digits() -> None:
    ids = {new_id() for _ in range(2_000)}

    assert len(ids) == 2_000
    assert all(re.fullmatch(r"[A-Za-z0-9]{8}", made) for made in ids)
    assert len(set("".join(ids))) == 62


@requirement("asst.ids")
def test_a_clash_of_ids_is_tried_again_and_overwrites_nothing(store: Store, clock: FixedClock) -> None:
    coming = iter(["aaaaaaaa", "aaaaaaaa", "aaaaaaaa", "bbbbbbbb"])
    memories = Memories.of(store, "default", clock=clock, ids=lambda: next(coming))

    first = add(memories, "Alec is the user's boss", category="person")
    second = add(memories, "The office closes at six", category="fact")

    assert (first.id, second.id) == ("aaaaaaaa", "bbbbbbbb")
    assert now(memories, first).content == "Alec is the user's boss"


@requirement("asst.versions")
def test_every_change_of_wording_adds_a_version_and_keeps_the_id(
    assistant: Memories, clock: FixedClock
) -> None:
    memory = add(assistant, "Sarah works on the Platform team", category="person", subject="Sarah")
    wordings = ["Sarah works on the Design team", "Sarah is Design team lead"]

    for number, wording in enumerate(wordings, start=2):
        clock.advance(days=1)
        revised = assistant.speaking_as("assistant", session=f"s{number}").revise(memory.id, wording)
        assert isinstance(revised, Revised)
        assert revised.memory.content == wording
        assert revised.previous.content != wording

    versions = assistant.show(memory.id).versions
    assert [version.number for version in versions] == [1, 2, 3]
    assert [version.content for version in versions] == ["Sarah works on the Platform team", *wordings]
    assert [version.source.session for version in versions] == [None, "s2", "s3"]
    assert versions[2].created_at == clock.now()
    assert now(assistant, memory).version == 3


@requirement("asst.versions")
def test_a_change_of_labels_alone_adds_no_version(assistant: Memories) -> None:
    memory = add(assistant, "Sarah works on the Platform team", category="person")

    assistant.revise(memory.id, subject="Sarah")

    assert now(assistant, memory).version == 1
    assert now(assistant, memory).subject == "Sarah"


@requirement("asst.versions")
def test_an_earlier_wording_comes_back_as_a_new_version(assistant: Memories) -> None:
    memory = add(assistant, "Sarah works on the Platform team", category="person")
    assistant.revise(memory.id, "Sarah works on the Design team")

    assistant.revise(memory.id, version=1)

    assert [v.content for v in assistant.show(memory.id).versions][2] == "Sarah works on the Platform team"


def test_a_lost_update_is_a_conflict(assistant: Memories) -> None:
    memory = add(assistant, "Sarah works on the Platform team", category="person")
    assistant.revise(memory.id, "Sarah works on the Design team", expect_version=1)

    with pytest.raises(Conflict, match="is at version 2, not 1"):
        assistant.revise(memory.id, "Sarah works on the Sales team", expect_version=1)

    assert now(assistant, memory).content == "Sarah works on the Design team"


@requirement("asst.categories")
@pytest.mark.parametrize("category", ["person", "preference", "context", "project"])
def test_the_assistant_knows_four_categories(assistant: Memories, category: str) -> None:
    assert isinstance(assistant.remember("Something to remember", category=category), Added)


@requirement("asst.categories")
def test_any_other_category_is_refused_with_the_list(assistant: Memories) -> None:
    with pytest.raises(UnknownCategory, match="person, preference, context, project"):
        assistant.remember("Something to remember", category="timing")


@pytest.mark.parametrize(("content", "error"), [("four", TooShort), ("x" * 501, TooLong)])
def test_texts_outside_of_the_limits_are_refused(
    assistant: Memories, content: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        assistant.remember(content, category="person")


@pytest.mark.parametrize("content", ["five!", "x" * 500])
def test_texts_at_the_limits_are_taken(assistant: Memories, content: str) -> None:
    assert isinstance(assistant.remember(content, category="person"), Added)


@pytest.mark.parametrize(
    ("again", "relation"),
    [("Sarah works on the platform team.", "same"), ("Sarah works on the Design team", "contradicts")],
)
def test_what_is_known_or_contradicted_is_not_stored_but_suggested(
    assistant: Memories, again: str, relation: str
) -> None:
    known = add(assistant, "Sarah works on the Platform team", category="person", subject="Sarah")

    outcome = assistant.remember(again, category="person", subject="Sarah")

    assert outcome == UpdateSuggested(known, relation)  # type: ignore[arg-type]
    assert assistant.find().total == 1


def test_a_different_fact_about_the_same_person_is_no_conflict(assistant: Memories) -> None:
    add(assistant, "Alec is the user's boss", category="person", subject="Alec")

    outcome = assistant.remember("Alec's birthday is 2 June", category="person", subject="Alec")

    assert isinstance(outcome, Added)


def test_a_forgotten_memory_is_gone_from_sight_and_can_be_restored(assistant: Memories) -> None:
    memory = add(assistant, "User prefers Thursday due dates", category="preference")

    forgotten = assistant.forget(memory.id)

    assert forgotten.restorable
    assert assistant.find().total == 0
    assert assistant.brief().text == ""
    assert assistant.recall("thursday due dates").hits == ()
    with pytest.raises(NotFound, match="is deleted; it can be restored"):
        assistant.revise(memory.id, "User prefers Friday due dates")
    assert assistant.show(memory.id).memory.state == "forgotten"
    assistant.restore(memory.id)
    assert assistant.find().memories[0].id == memory.id
    assert assistant.recall("thursday due dates").hits


@requirement("asst.postgres")
def test_memories_survive_a_restart_of_the_product(database_url: str, clock: FixedClock) -> None:
    with Memories.open(database_url, clock=clock) as first:
        memory = add(
            first, "Alec is the user's boss", category="person", tags=["work", "people"], importance=4
        )

    with Memories.open(database_url, clock=clock) as second:
        assert second.show(memory.id).memory == memory


def test_the_default_space_exists_from_first_use_and_no_other(database_url: str) -> None:
    with Memories.open(database_url, "default") as memories:
        assert memories.profile.name == "default"
    with pytest.raises(NotFound, match="there is no space 'other'") as missing:
        Memories.open(database_url, "other")
    assert missing.value.command == "use default, or create it with `holdfast space create other`"
    store = open_store(database_url)
    assert [space.name for space in store.spaces()] == ["default"]
    store.close()
