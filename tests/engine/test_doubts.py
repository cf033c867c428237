"""Ways around the inbox, the tombstones and the projects that a reader of the engine would try first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from holdfast.app import wiring
from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import Outcome, Refused, Waiting, settled
from holdfast.domain.query import EVERYTHING
from holdfast.engine.memories import Memories
from holdfast.engine.spaces import create_space
from holdfast.errors import Conflict
from holdfast.testing import FixedClock
from tests.engine.scripted_judge import ScriptedJudge, wording
from tests.requirements_ledger import requirement

Opened = Callable[[str], Memories]


@pytest.fixture
def opened(sqlite_url: str, clock: FixedClock) -> Iterator[Opened]:
    """A new space with the profile of this name. The rules are the engine's: one database is enough."""
    with closing(wiring.open_store(sqlite_url)) as store:

        def new(profile: str) -> Memories:
            name = f"{profile}-{len(store.spaces())}"
            create_space(name, store=store, clock=clock, profile=profile)
            return Memories.of(store, name, clock=clock, judge=ScriptedJudge())

        yield new


def kept(outcome: Outcome) -> Memory:
    memory = settled(outcome)
    assert memory is not None
    return memory


@requirement("trust.inbox")
def test_what_waits_waits_again_after_forget_and_restore(opened: Opened) -> None:
    space = opened("default")
    memory = kept(space.remember(wording(0, 0), doubtful="who says so?"))
    space.forget(memory.id)

    back = space.restore(memory.id)

    assert (back.state, back.waiting_for) == ("waiting", "who says so?")


@requirement("trust.tombstone")
def test_bringing_back_anyway_lifts_the_tombstones_of_all_wordings(opened: Opened) -> None:
    space = opened("default")
    memory = kept(space.remember(wording(0, 0, "a")))
    space.revise(memory.id, wording(0, 0, "b"))
    space.forget(memory.id)
    assert isinstance(space.remember(wording(0, 0, "a")), Refused)

    back = kept(space.remember(wording(0, 0, "a"), anyway=True))
    space.forget(back.id)
    space.remember(wording(0, 0, "c"), anyway=True)

    assert type(space.remember(wording(0, 0, "a"))).__name__ == "Reinforced"


@requirement("trust.undo-session")
def test_a_link_made_since_does_not_keep_an_undone_wording(opened: Opened, clock: FixedClock) -> None:
    space = opened("default")
    memory, other = kept(space.remember(wording(0, 0))), kept(space.remember(wording(4, 0)))
    space.speaking_as("assistant", session="s1").revise(memory.id, "something else")
    space.link(memory.id, other.id)

    space.undo_session("s1")

    assert space.show(memory.id).memory.content == wording(0, 0)


def test_a_doubtful_draft_never_overwrites_a_note(opened: Opened) -> None:
    space = opened("files")
    note = kept(space.remember("Milk, bread", category="user", subject="shopping"))

    space.remember("Poison", category="user", subject="shopping", doubtful="echoed from a page")

    assert space.show(note.id).memory.content == "Milk, bread"


def test_a_note_of_another_project_is_not_overwritten(opened: Opened) -> None:
    space = opened("files")
    space.remember("Atlas deploys on Mondays", category="project", subject="deploy", project="atlas")

    space.remember("Boreas deploys on Fridays", category="project", subject="deploy", project="boreas")

    assert {m.project for m in space.find().memories} == {"atlas", "boreas"}


def test_one_name_means_one_note_after_a_restore_too(opened: Opened) -> None:
    space = opened("files")
    first = kept(space.remember("Milk", category="user", subject="shopping"))
    space.forget(first.id)
    space.remember("Bread", category="user", subject="shopping")

    with pytest.raises(Conflict):
        space.restore(first.id)


def test_one_name_means_one_note_after_a_renaming_too(opened: Opened) -> None:
    space = opened("files")
    space.remember("Milk", category="user", subject="shopping")
    other = kept(space.remember("Bread", category="user", subject="bakery"))

    with pytest.raises(Conflict):
        space.revise(other.id, subject="shopping")


def test_a_revision_does_not_bring_back_what_was_forgotten_in_other_words(opened: Opened) -> None:
    space = opened("default")
    space.forget(kept(space.remember(wording(0, 0, "a"))).id)
    other = kept(space.remember(wording(4, 0)))

    with pytest.raises(Conflict):
        space.revise(other.id, wording(0, 0, "b"))


def test_a_proposal_of_what_was_forgotten_is_refused(opened: Opened) -> None:
    space = opened("default")
    space.forget(kept(space.remember(wording(0, 0))).id)
    other = kept(space.remember(wording(4, 0)))

    with pytest.raises(Conflict):
        space.speaking_as("tool").revise(other.id, wording(0, 0))


def test_what_an_operator_revised_is_an_operator_s_memory(opened: Opened) -> None:
    space = opened("default")
    memory = kept(space.speaking_as("assistant", session="s1").remember(wording(0, 0)))
    space.revise(memory.id, wording(0, 1))

    outcome = space.speaking_as("tool").remember(wording(0, 0))

    assert isinstance(outcome, Waiting)
    assert space.show(memory.id).memory.confidence == 0.7


def test_the_same_doubtful_draft_waits_once(opened: Opened) -> None:
    space = opened("default")

    for _ in range(3):
        space.remember(wording(0, 0), doubtful="echoed from a page")

    assert len(space.inbox()) == 1


def test_an_approved_proposal_changes_all_that_it_proposed(opened: Opened) -> None:
    space = opened("default")
    memory = kept(space.remember(wording(0, 0)))
    proposed = space.speaking_as("tool").revise(memory.id, confidence=0.9, subject="web", importance=5)

    space.approve(proposed.memory.id)

    now = space.show(memory.id).memory
    assert (now.confidence, now.subject, now.importance, now.version) == (0.9, "web", 5, 1)


def test_decay_since_does_not_keep_an_undone_wording(opened: Opened, clock: FixedClock) -> None:
    space = opened("ops")
    memory = kept(space.remember(wording(0, 0), category="timing"))
    space.speaking_as("assistant", session="s1").revise(memory.id, "something else")
    clock.advance(days=40)
    space.tend()

    space.undo_session("s1")

    assert space.show(memory.id).memory.content == wording(0, 0)


def test_what_a_session_forgot_comes_back_when_it_is_undone(opened: Opened) -> None:
    space = opened("default")
    memory = kept(space.remember(wording(0, 0)))
    space.open_session("s1")
    space.speaking_as("assistant", session="s1").forget(memory.id)

    space.undo_session("s1")

    assert space.show(memory.id).memory.state == "active"


def test_importing_an_archive_twice_adds_nothing_the_second_time(opened: Opened) -> None:
    source, target = opened("ops"), opened("ops")
    source.forget(kept(source.remember(wording(0, 0), category="timing")).id)
    source.remember(wording(2, 0), category="timing")
    target.remember(wording(4, 0), category="timing")
    lines = list(source.export())
    target.import_archive(lines)
    once = list(target.export())

    target.import_archive(lines)

    assert list(target.export()) == once


def test_the_session_that_worded_a_memory_does_not_reinforce_it(opened: Opened) -> None:
    space = opened("default")
    memory = kept(space.remember(wording(0, 0)))
    speaker = space.speaking_as("assistant", session="s1")
    speaker.revise(memory.id, wording(0, 1))

    speaker.remember(wording(0, 1, "b"))

    assert space.show(memory.id).memory.confidence == 0.7


def test_a_key_that_was_refused_can_be_tried_again_anyway(opened: Opened) -> None:
    space = opened("default")
    space.forget(kept(space.remember(wording(0, 0))).id)
    space.remember(wording(0, 0), key="k")

    space.remember(wording(0, 0), key="k", anyway=True)

    assert space.find().total == 1


def test_recall_as_of_a_moment_returns_only_what_shares_a_word(opened: Opened, clock: FixedClock) -> None:
    space = opened("default")
    space.remember(wording(0, 0))

    found = space.recall("nowhere", as_of=clock(), threshold=0.0)

    assert (found.hits, found.below) == ((), 0)


def test_everything_is_counted_once(opened: Opened) -> None:
    space = opened("default")
    for fact in range(3):
        space.remember(wording(2 * fact, 0))

    assert space.find(EVERYTHING, limit=1).total == 3
