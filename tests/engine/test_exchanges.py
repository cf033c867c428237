"""What wins when two machines changed the same thing apart, case by case."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256

import pytest

from holdfast import Memories
from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import Refused, settled
from holdfast.engine.ports import Store
from holdfast.errors import HoldfastError
from tests.conftest import NewDatabase
from tests.engine.scripted_judge import wording
from tests.engine.two_stores import Machine, in_step, two_machines
from tests.requirements_ledger import requirement
from tests.store.full_space import fill

TEXT = wording(0, 0)
Pair = tuple[Machine, Machine]


@pytest.fixture
def pair(store: Store) -> Pair:
    return two_machines(store, "default")


def category(machine: Machine) -> str:
    """One that every profile has."""
    return machine.memories.profile.category_names[0]


def known(pair: Pair, text: str = TEXT, subject: str = "web") -> str:
    """A memory that both machines have."""
    memory = settled(pair[0].memories.remember(text, subject=subject, category=category(pair[0])))
    assert memory is not None
    pair[1].take(pair[0])
    for machine in pair:
        machine.tick(hours=1)
    return memory.id


def shown(machine: Machine, memory_id: str) -> Memory:
    return machine.memories.show(memory_id).memory


def say_the_same(pair: Pair) -> bool:
    in_step(*pair)
    return pair[0].says() == pair[1].says()


@requirement("trust.two-machines")
def test_what_each_machine_learned_both_know(pair: Pair) -> None:
    pair[0].memories.remember("The garage door opens on Fridays")
    pair[1].memories.remember("The cellar key hangs in the hall")
    pair[1].memories.say("s1", "user", "The cellar is damp")

    assert say_the_same(pair)
    assert {each.content for each in pair[0].find()} == {
        "The garage door opens on Fridays",
        "The cellar key hangs in the hall",
    }
    assert pair[0].memories.recall("cellar key hall").memories
    assert [each.content for each in pair[0].memories.session("s1").messages] == ["The cellar is damp"]


@requirement("trust.two-machines")
def test_confirmations_on_both_machines_both_count(pair: Pair) -> None:
    memory_id = known(pair)
    for machine, session in zip(pair, ("s1", "s2"), strict=True):
        machine.memories.speaking_as("assistant", session=session).remember(
            TEXT, subject="web", category=category(machine)
        )

    assert say_the_same(pair)
    assert shown(pair[0], memory_id).confidence == 0.9


@requirement("trust.two-machines")
def test_a_week_of_decay_that_both_machines_counted_is_taken_off_once(store: Store) -> None:
    pair = two_machines(store, "ops")
    memory_id = known(pair)
    for machine in pair:
        machine.tick(days=38)
        machine.memories.tend(clock_is_right=True)

    assert say_the_same(pair)
    assert shown(pair[0], memory_id).confidence == 0.6


@requirement("trust.two-machines")
def test_decay_does_not_count_where_the_other_machine_confirmed_meanwhile(store: Store) -> None:
    pair = two_machines(store, "ops")
    memory_id = known(pair)
    pair[0].tick(days=20)
    pair[0].memories.speaking_as("assistant", session="s1").remember(
        TEXT, category=category(pair[0]), subject="web"
    )
    confirmed = shown(pair[0], memory_id)
    pair[1].tick(days=38)
    pair[1].memories.tend(clock_is_right=True)

    assert say_the_same(pair)
    assert shown(pair[1], memory_id).confirmed_at == confirmed.confirmed_at
    assert shown(pair[1], memory_id).confidence == confirmed.confidence


@requirement("trust.two-machines")
def test_of_two_new_texts_the_later_one_leads_and_the_other_waits_in_both_inboxes(pair: Pair) -> None:
    memory_id = known(pair)
    pair[0].memories.revise(memory_id, "The key hangs in the hall")
    pair[1].tick(hours=1)
    pair[1].memories.revise(memory_id, "The key lies in the drawer")

    assert say_the_same(pair)
    assert shown(pair[0], memory_id).content == "The key lies in the drawer"
    for machine in pair:
        [item] = machine.memories.inbox()
        assert item.memory.content == "The key hangs in the hall"
        assert [each.id for each in item.known] == [memory_id]
        assert item.reason == f"memory {memory_id} was reworded on two machines: this is the older text"


@requirement("trust.two-machines")
@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_a_conflict_is_decided_once_for_both_machines(pair: Pair, verdict: str) -> None:
    memory_id = known(pair)
    pair[0].memories.revise(memory_id, "The key hangs in the hall")
    pair[1].tick(hours=1)
    pair[1].memories.revise(memory_id, "The key lies in the drawer")
    in_step(*pair)
    pair[1].tick()
    getattr(pair[1].memories, verdict)(pair[1].memories.inbox()[0].memory.id)

    assert say_the_same(pair)
    text = "The key hangs in the hall" if verdict == "approve" else "The key lies in the drawer"
    for machine in pair:
        assert machine.memories.inbox() == []
        assert shown(machine, memory_id).content == text


@requirement("trust.two-machines")
def test_the_same_new_text_on_both_machines_is_no_conflict(pair: Pair) -> None:
    memory_id = known(pair)
    for machine in pair:
        machine.memories.revise(memory_id, "The key hangs in the hall")

    assert say_the_same(pair)
    assert pair[0].memories.inbox() == []
    assert shown(pair[1], memory_id).content == "The key hangs in the hall"


@requirement("trust.two-machines")
@pytest.mark.parametrize("profile", ["default", "ops"])
@pytest.mark.parametrize("first", [0, 1])
def test_what_was_deleted_stays_deleted_and_its_new_text_goes_to_the_inbox(
    store: Store, profile: str, first: int
) -> None:
    pair = two_machines(store, profile)
    memory_id = known(pair)
    pair[first].tick(hours=1)
    pair[0].memories.forget(memory_id)
    pair[1].memories.revise(memory_id, "The key lies in the drawer")

    assert say_the_same(pair)
    for machine in pair:
        assert machine.find() == []
        [item] = machine.memories.inbox()
        assert item.memory.content == "The key lies in the drawer"
    pair[0].tick()
    pair[0].memories.approve(item.memory.id)
    assert say_the_same(pair)
    assert [each.content for each in pair[1].find()] == ["The key lies in the drawer"]


@requirement("trust.two-machines")
def test_a_confirmation_does_not_bring_back_what_the_other_machine_deleted(pair: Pair) -> None:
    memory_id = known(pair)
    pair[0].memories.forget(memory_id)
    pair[1].tick(hours=1)
    pair[1].memories.speaking_as("assistant", session="s1").remember(TEXT, subject="web")

    assert say_the_same(pair)
    assert pair[1].find("active", "waiting") == []
    assert isinstance(pair[1].memories.remember(TEXT, subject="web"), Refused)


@requirement("trust.two-machines")
def test_what_is_restored_comes_back_on_the_other_machine(pair: Pair) -> None:
    memory_id = known(pair)
    pair[0].memories.forget(memory_id)
    in_step(*pair)
    pair[1].tick()
    pair[1].memories.restore(memory_id)

    assert say_the_same(pair)
    assert shown(pair[0], memory_id).active
    pair[0].tick()
    pair[0].memories.revise(memory_id, f"{TEXT} or so")
    pair[0].memories.revise(memory_id, TEXT)
    assert say_the_same(pair)


@requirement("trust.two-machines")
def test_an_erase_wins_over_everything_and_leaves_no_text_anywhere(pair: Pair) -> None:
    memory_id = known(pair, "The code of the safe is 1234")
    pair[1].memories.revise(memory_id, "The code of the safe is 9876")
    pair[1].memories.say("s1", "user", "As I said, The code of the safe is 9876")
    pair[0].tick(hours=1)
    pair[0].memories.erase(memory_id)
    stale = list(pair[1].memories.export())

    assert say_the_same(pair)
    pair[0].take_lines(stale)
    assert say_the_same(pair)
    for machine in pair:
        assert not any("code of the safe" in line for line in machine.memories.export())
        assert isinstance(machine.memories.remember("The code of the safe is 9876"), Refused)
        assert isinstance(machine.memories.remember("The code of the safe is 1234"), Refused)


@requirement("trust.two-machines")
def test_a_text_that_the_other_machine_deleted_waits_for_a_decision(pair: Pair) -> None:
    gone = settled(pair[0].memories.remember(TEXT))
    assert gone is not None
    pair[0].memories.forget(gone.id)
    pair[1].tick(hours=1)
    pair[1].memories.remember(TEXT)

    assert say_the_same(pair)
    [item] = pair[0].memories.inbox()
    assert item.reason == "this text was deleted on another machine on 2026-03-01"
    pair[0].tick()
    pair[0].memories.approve(item.memory.id)
    assert say_the_same(pair)
    assert [each.content for each in pair[1].find()] == [TEXT]
    assert pair[1].memories.inbox() == []


@requirement("trust.two-machines")
def test_links_labels_and_names_of_both_machines_are_kept(pair: Pair) -> None:
    memory_id = known(pair)
    other = known(pair, "The cellar is damp", "cellar")
    pair[0].memories.open_session("s1", name="first")
    in_step(*pair)
    pair[0].memories.revise(memory_id, add_tags=["red"], importance=5)
    pair[1].memories.revise(memory_id, add_tags=["blue"], pinned=True)
    pair[0].memories.link(memory_id, other, "related")
    pair[1].memories.link(memory_id, other, "elaborates")
    pair[1].tick()
    pair[1].memories.name_session("s1", "second")

    assert say_the_same(pair)
    memory = shown(pair[0], memory_id)
    assert (set(memory.tags), memory.importance, memory.pinned) == ({"red", "blue"}, 5, True)
    assert {link.kind for link in pair[1].memories.show(memory_id).links} == {"related", "elaborates"}
    assert pair[0].memories.session("s1").session.name == "second"
    pair[1].tick()
    pair[1].memories.unlink(memory_id, other, "related")
    assert say_the_same(pair)
    assert {link.kind for link in pair[0].memories.show(memory_id).links} == {"elaborates"}


@requirement("trust.two-machines")
def test_a_session_that_was_undone_is_undone_on_both(pair: Pair) -> None:
    memory_id = known(pair)
    agent = pair[0].memories.speaking_as("assistant", session="bad")
    agent.remember("The moon is made of cheese", subject="moon")
    agent.revise(memory_id, "The web is made of cheese")
    in_step(*pair)
    pair[1].tick()
    pair[1].memories.undo_session("bad")

    assert say_the_same(pair)
    assert shown(pair[0], memory_id).content == TEXT
    assert [each.id for each in pair[0].find()] == [memory_id]


@requirement("trust.two-machines")
def test_messages_of_a_session_that_ran_on_both_machines_are_all_kept(pair: Pair) -> None:
    for machine, name in zip(pair, "ab", strict=True):
        machine.memories.say("s1", "user", f"first on {name}")
        machine.tick()
        machine.memories.say("s1", "user", f"second on {name}")

    assert say_the_same(pair)
    said = pair[0].memories.session("s1").messages
    assert [each.content for each in said] == ["first on a", "first on b", "second on a", "second on b"]
    assert [each.number for each in said] == [1, 2, 3, 4]


@requirement("trust.two-machines")
def test_a_change_wins_over_what_its_writer_saw_even_if_the_clock_was_set_back(pair: Pair) -> None:
    memory_id = known(pair)
    pair[0].tick(days=3)
    pair[0].memories.revise(memory_id, "The key hangs in the hall")
    in_step(*pair)
    pair[1].clock.advance(days=-2)
    pair[1].memories.revise(memory_id, "The key lies in the drawer")

    assert say_the_same(pair)
    assert shown(pair[0], memory_id).content == "The key lies in the drawer"
    assert pair[0].memories.inbox() == []


@requirement("trust.two-machines")
def test_two_spaces_that_began_apart_become_one(store: Store) -> None:
    pair = two_machines(store, "default", apart=True)
    gone = settled(pair[0].memories.remember("The safe is in the cellar"))
    assert gone is not None
    pair[0].memories.forget(gone.id)
    pair[0].memories.remember("The garage door opens on Fridays")
    pair[1].memories.remember("The cellar key hangs in the hall")

    assert say_the_same(pair)
    assert len(pair[0].find()) == 2
    assert isinstance(pair[1].memories.remember("The safe is in the cellar"), Refused)


@requirement("trust.two-machines")
def test_two_files_of_one_name_become_one_by_a_decision(store: Store) -> None:
    pair = two_machines(store, "files")
    for machine, text in zip(pair, ("Runs on Fridays", "Runs on Mondays"), strict=True):
        machine.memories.remember(text, subject="deploys", category=category(machine))

    assert say_the_same(pair)
    [item] = pair[1].memories.inbox()
    assert item.memory.content == "Runs on Mondays"
    pair[1].tick()
    pair[1].memories.approve(item.memory.id)
    assert say_the_same(pair)
    assert [each.content for each in pair[0].find()] == ["Runs on Mondays"]


@requirement("trust.two-machines")
def test_a_dry_run_says_what_would_change_and_changes_nothing(pair: Pair) -> None:
    memory_id = known(pair)
    pair[0].memories.revise(memory_id, "The key hangs in the hall")
    before = list(pair[1].memories.export())

    [told] = pair[1].memories.import_archive(list(pair[0].memories.export()), dry_run=True)

    assert told.updated == (memory_id,)
    assert list(pair[1].memories.export()) == before


@pytest.mark.slow
def test_a_forged_archive_is_refused_or_merged_but_breaks_nothing(
    store: Store, new_database: NewDatabase
) -> None:
    url = new_database()
    fill(url)
    with Memories.open(url) as memories:
        lines = list(memories.export())
    one, _ = two_machines(store, "default")
    one.memories.remember("The key hangs in the hall")
    before = one.says()
    wrong: Iterator[object] = itertools.cycle((None, 7, "x", [], {"version": 1}))
    first = {json.loads(line)["table"]: number for number, line in enumerate(lines[1:-1], start=1)}
    for number in first.values():
        for name in json.loads(lines[number])["row"]:
            with suppress(HoldfastError):
                one.memories.import_archive(forged(lines, number, name, next(wrong)), dry_run=True)

    assert one.says() == before


def forged(lines: list[str], number: int, name: str, wrong: object) -> list[str]:
    """An archive with another value in one field, and a footer that says so."""
    entry = json.loads(lines[number])
    entry["row"][name] = wrong
    changed = json.dumps(entry, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"
    body = [*lines[1:number], changed, *lines[number + 1 : -1]]
    footer = json.loads(lines[-1])
    footer["sha256"] = sha256("".join(body).encode()).hexdigest()
    return [lines[0], *body, json.dumps(footer)]
