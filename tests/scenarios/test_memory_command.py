"""`/memory`: what people are told, whichever door they type it at."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast import Memories
from holdfast.agents.memory_command import answer, asked, reply
from holdfast.domain.access import Grant
from holdfast.domain.query import Filter
from holdfast.engine.ports import Store
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add, now


class NoModel:
    """Whoever asks it fails."""

    name = "none of your business"

    def __getattr__(self, wanted: str) -> object:
        raise AssertionError(f"a model was asked for {wanted}")


@requirement("asst.command")
def test_the_list_is_grouped_and_ends_with_how_to_delete_one(assistant: Memories, clock: FixedClock) -> None:
    friday = add(assistant, "The user prefers Friday due dates", category="preference")
    alec = add(assistant, "Alec is the user's boss", category="person", subject="Alec")
    clock.advance(days=1)
    sarah = add(assistant, "Works on the Design team", category="person", subject="Sarah")

    told = answer(assistant, "/memory")

    assert told == (
        "Your memories (3):\n\n"
        f"Person\n• [{alec.id}] Alec is the user's boss\n• [{sarah.id}] Sarah: Works on the Design team\n\n"
        f"Preference\n• [{friday.id}] The user prefers Friday due dates\n\n"
        "Use /memory delete ID to remove one."
    )
    assert answer(assistant, "/memory list") == answer(assistant, " /Memory  LIST ") == told
    assert answer(assistant, "list") == told


@requirement("asst.command")
def test_deleting_answers_the_text_and_names_how_to_restore(assistant: Memories) -> None:
    memory = add(assistant, "The user prefers Thursday due dates", category="preference")

    deleted = answer(assistant, f"/memory delete {memory.id}")

    assert deleted.splitlines()[0] == "Deleted: 'The user prefers Thursday due dates'"
    assert deleted.splitlines()[1] == f"Undo: /memory restore {memory.id}"
    assert answer(assistant, "/memory") == "No memories yet."
    assert assistant.find(Filter(states=("forgotten",))).total == 1
    assert answer(assistant, f"/memory restore {memory.id}") == (
        "Restored: 'The user prefers Thursday due dates'"
    )
    assert now(assistant, memory).state == "active"


@requirement("asst.command")
def test_what_rest_takes_can_be_typed_too(assistant: Memories) -> None:
    told = answer(assistant, "/Memory ADD #Preference The user prefers\n  Thursday due dates")
    [memory] = assistant.find().memories

    assert told == f"Added: [{memory.id}] 'The user prefers Thursday due dates'"
    assert (memory.category, memory.source.origin) == ("preference", "operator")
    again = reply(assistant, "/memory add #preference The user prefers Thursday due dates")
    assert again.failed
    assert f"To change it: /memory update {memory.id} TEXT" in again.text
    assert reply(assistant, "/memory add The user likes tea").text.startswith("Failed: ")
    assert answer(assistant, f"/memory update [ID:{memory.id}] The user prefers Friday due dates") == (
        "Updated: 'The user prefers Thursday due dates' -> 'The user prefers Friday due dates'"
    )
    shown = answer(assistant, f"/memory show {memory.id}")
    assert shown.splitlines()[0] == f"[{memory.id}] The user prefers Friday due dates"
    assert shown.splitlines()[-1].endswith(": 'The user prefers Thursday due dates'")


@requirement("asst.command")
def test_several_ids_are_taken_at_once_and_the_list_can_be_narrowed(assistant: Memories) -> None:
    friday = add(assistant, "The user prefers Friday due dates", category="preference")
    alec = add(assistant, "Alec is the user's boss", category="person", subject="Alec")

    person = answer(assistant, "/memory list Person")
    deleted = reply(assistant, f"/memory delete {friday.id}, zzzzzzzz {alec.id}")

    assert alec.id in person
    assert friday.id not in person
    assert answer(assistant, "/memory list project") == "No memories in category project."
    assert deleted.failed
    assert "No memory zzzzzzzz" in deleted.text
    assert deleted.text.count("Deleted: ") == 2
    gone = answer(assistant, "/memory list deleted")
    assert gone.startswith("Your deleted memories (2):")
    assert gone.endswith("Use /memory restore ID to restore one.")
    assert answer(assistant, f"/memory restore {friday.id} {alec.id}").count("Restored: ") == 2


def test_an_id_may_be_copied_with_what_stands_around_it(assistant: Memories) -> None:
    memory = add(assistant, "The user prefers Thursday due dates", category="preference")

    assert answer(assistant, f"/memory delete [id:{memory.id}]").startswith("Deleted: ")
    assert answer(assistant, f"/memory restore [{memory.id}],").startswith("Restored: ")


def test_where_nothing_can_be_restored_deleting_says_so(ops: Memories) -> None:
    memory = add(ops, "Takes 60s to start", category="timing", subject="jellyfin")

    assert answer(ops, f"/memory delete {memory.id}").endswith("It can't be restored.")


@requirement("asst.command")
def test_an_unknown_id_gets_a_helpful_line(assistant: Memories) -> None:
    memory = add(assistant, "Alec is the user's boss", category="person")
    mistyped = memory.id.swapcase()

    assert answer(assistant, "/memory delete zzzzzzzz") == ("No memory zzzzzzzz. /memory lists the ids.")
    assert f"Did you mean {memory.id}? 'Alec is the user's boss'" in answer(
        assistant, f"/memory delete {mistyped}"
    )
    assert answer(assistant, "/memory delete") == ("Missing id: /memory delete ID. /memory lists the ids.")
    assert answer(assistant, f"/memory restore {memory.id}").endswith(
        "nothing to do: 'Alec is the user's boss'"
    )
    answer(assistant, f"/memory delete {memory.id}")
    assert answer(assistant, f"/memory delete {memory.id}") == (
        f"{memory.id} is deleted. Restore it with /memory restore {memory.id}."
    )


@requirement("asst.command")
@pytest.mark.parametrize(
    "text", ["/memory remove it", "/memory list a b", "/memory \x07\u202e😀", "/memory " + "x" * 9_999]
)
def test_a_wrong_word_gets_the_words_that_there_are(assistant: Memories, text: str) -> None:
    told = reply(assistant, text)

    assert told.failed
    assert told.text.startswith("Unknown command '")
    assert "/memory delete ID - delete one or more memories" in told.text
    assert len(told.text) < 700
    assert "\x07" not in told.text


@requirement("asst.command")
def test_what_waits_is_listed_and_decided(
    assistant: Memories, clock: FixedClock, space: Callable[[str], Memories]
) -> None:
    known = add(assistant, "Dana leads the data team", category="person", subject="Dana")
    tool = assistant.speaking_as("tool")
    tool.remember("Dana has left the company", category="person", subject="Dana", doubtful="a page says so")
    clock.advance(minutes=1)
    tool.remember("The office is in Leeds", category="context", doubtful="a page says so")
    first, second = (item.memory.id for item in assistant.inbox())

    listed = reply(assistant, "/memory inbox")

    assert "2 waiting for approval: /memory inbox" in answer(assistant, "/memory")
    assert [question.memory_id for question in listed.questions] == [first, second]
    assert listed.text.startswith(f"Waiting for approval (2):\n\n[{first}] Dana has left the company\n")
    assert "  from tool: a page says so" in listed.text
    assert answer(assistant, f"/memory approve {second}").startswith("Approved: 'The office is in Leeds'")
    assert answer(assistant, f"/memory inbox reject {first}") == (
        "Rejected: 'Dana has left the company'\nIt will not be proposed again."
    )
    assert answer(assistant, "/memory inbox") == "The inbox is empty."
    assert now(assistant, known).state == "active"
    assert answer(assistant, f"/memory approve {known.id}").startswith(f"{known.id} is active, nothing to do")


@requirement("asst.command")
def test_no_model_is_called(store: Store, clock: FixedClock, assistant: Memories) -> None:
    memory = add(assistant, "Alec is the user's boss", category="person")
    none = NoModel()
    memories = Memories.of(store, "assistant", clock=clock, judge=none, embedder=none)  # type: ignore[arg-type]

    for words in ("", "list", f"delete {memory.id}", f"restore {memory.id}", "inbox", "reject x", "what"):
        assert answer(memories, f"/memory {words}")


def test_a_memory_can_not_break_out_of_its_line(assistant: Memories) -> None:
    memory = add(assistant, "One line\n\nUse /memory delete ID\u202e to remove\x07 all", category="person")

    told = answer(assistant, "/memory")

    assert f"• [{memory.id}] One line Use /memory delete ID to remove all\n" in told


def test_a_long_memory_is_shortened(semantic: Memories) -> None:
    memory = add(semantic, "word " * 3_000, category="fact")

    assert len(answer(semantic, "/memory")) < 700
    assert len(answer(semantic, f"/memory delete {memory.id}")) < 700


def test_who_may_only_read_is_told_so(assistant: Memories) -> None:
    memory = add(assistant, "Alec is the user's boss", category="person")
    reader = assistant.granted(Grant.of("read"))

    told = reply(reader, f"/memory delete {memory.id}")

    assert told.failed
    assert "may not change memories" in told.text
    assert now(assistant, memory).state == "active"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/memory", True),
        ("/Memory list", True),
        ("/MEMORY", True),
        ("/memorylist", False),
        ("my /memory", False),
        ("", False),
    ],
)
def test_a_host_can_tell_whether_it_is_meant(text: str, expected: bool) -> None:
    assert asked(text) is expected
