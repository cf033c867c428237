"""The upkeep proposes, archives and previews, on both databases; it never deletes or merges by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from holdfast import Conflict, Filter, Memories, Memory, NotFound, Reinforced
from holdfast.domain.memory import Draft
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement

BROKER = "The broker runs on host alpha"
BROKER_AGAIN = "It is host alpha that the broker runs on"


@pytest.fixture
def space(store: Store, clock: FixedClock) -> Callable[[str], Memories]:
    def made(profile: str) -> Memories:
        create_space("tended", store=store, clock=clock, profile=profile)
        return Memories.of(store, "tended", clock=clock)

    return made


@pytest.fixture
def memories(space: Callable[[str], Memories]) -> Memories:
    return space("default")


def two_alike(memories: Memories, clock: FixedClock) -> tuple[Memory, Memory]:
    """Two that say the same, one of them under a subject that no text names: remembering keeps them apart."""
    first = kept(memories, BROKER, category="fact", tags=["infra"])
    clock.advance(days=1)
    return first, kept(memories, BROKER_AGAIN, category="reference", subject="house", tags=["mqtt"])


def kept(memories: Memories, content: str, **labels: object) -> Memory:
    outcome = memories.remember(content, **labels)  # type: ignore[arg-type]
    memory = getattr(outcome, "memory", None)
    assert isinstance(memory, Memory)
    return memory


def wordings(memories: Memories) -> list[str]:
    return sorted(memory.content for memory in memories.find().memories)


@requirement("sem.dedup")
def test_two_that_say_the_same_are_proposed_and_stay_until_somebody_decides(
    memories: Memories, clock: FixedClock
) -> None:
    first, second = two_alike(memories, clock)

    done = memories.tend()
    again = memories.tend()

    (item,) = memories.inbox()
    assert done.proposed == (item.memory,)
    assert again.proposed == ()
    assert {known.id for known in item.known} == {first.id, second.id}
    assert item.memory.content == BROKER_AGAIN
    assert wordings(memories) == sorted([BROKER, BROKER_AGAIN])


@requirement("sem.dedup")
def test_an_approved_proposal_makes_them_one_with_history(memories: Memories, clock: FixedClock) -> None:
    first, second = two_alike(memories, clock)
    memories.tend()

    (merged,) = memories.approve(memories.inbox()[0].memory.id)

    assert (merged.id, merged.version, merged.content) == (first.id, 2, BROKER_AGAIN)
    assert merged.tags == ("infra", "mqtt")
    assert wordings(memories) == [BROKER_AGAIN]
    assert [one.content for one in memories.show(first.id).versions] == [BROKER, BROKER_AGAIN]
    assert memories.show(second.id).memory.state == "forgotten"
    assert memories.inbox() == []


@requirement("sem.dedup")
def test_an_approved_proposal_is_taken_back_in_one_step(memories: Memories, clock: FixedClock) -> None:
    first, second = two_alike(memories, clock)
    memories.tend()
    memories.approve(memories.inbox()[0].memory.id)
    (entry,) = [one for one in memories.why(second.id).entries if one.action == "forgotten"]

    assert entry.session is not None
    undone = memories.undo_session(entry.session)

    assert wordings(memories) == sorted([BROKER, BROKER_AGAIN])
    assert memories.show(first.id).memory.tags == ("infra",)
    assert memories.tend().proposed == ()
    assert [one.memory for one in memories.inbox()] == [undone.proposal]


@requirement("sem.dedup")
def test_a_proposal_that_came_back_is_approved_again_or_leaves_with_the_undo(
    memories: Memories, clock: FixedClock
) -> None:
    first, second = two_alike(memories, clock)
    memories.tend()
    memories.approve(memories.inbox()[0].memory.id)
    [entry] = [one for one in memories.why(second.id).entries if one.action == "forgotten"]
    session = str(entry.session)

    since = memories.last_change()
    undone = memories.undo_session(session)
    assert undone.proposal is not None
    memories.undo(first.id, second.id, undone.proposal.id, since=since)
    assert (memories.inbox(), wordings(memories)) == ([], [BROKER_AGAIN])

    again = memories.undo_session(session).proposal
    assert again is not None
    assert memories.approve(again.id)[0].content == BROKER_AGAIN
    assert (memories.inbox(), wordings(memories)) == ([], [BROKER_AGAIN])


@requirement("sem.dedup")
def test_a_rejected_pair_is_not_proposed_again_and_its_words_are_not_forbidden(
    memories: Memories, clock: FixedClock
) -> None:
    _, second = two_alike(memories, clock)
    memories.tend()

    memories.reject(memories.inbox()[0].memory.id)
    clock.advance(days=1)
    memories.revise(second.id, tags=["touched"])
    done = memories.tend()
    speaking = memories.speaking_as("user", session="other")
    said = speaking.remember(BROKER_AGAIN, category="reference", subject="house")

    assert done.proposed == ()
    assert isinstance(said, Reinforced)
    assert len(memories.find().memories) == 2


@requirement("trust.tombstone", "sem.dedup")
def test_what_was_merged_does_not_come_back_from_where_it_came(memories: Memories, clock: FixedClock) -> None:
    two_alike(memories, clock)
    memories.tend()
    memories.approve(memories.inbox()[0].memory.id)

    memories.import_drafts([(1, Draft(content=BROKER_AGAIN, category="fact", subject="house"))])
    memories.import_drafts([(1, Draft(content=BROKER, category="fact", subject="house"))])
    memories.tend()

    assert wordings(memories) == [BROKER_AGAIN]


def test_a_proposal_about_what_was_reworded_since_can_only_be_rejected(
    memories: Memories, clock: FixedClock
) -> None:
    first, _ = two_alike(memories, clock)
    memories.tend()
    clock.advance(hours=1)
    memories.revise(first.id, "The broker runs on host beta")

    with pytest.raises(Conflict, match="has changed since this was proposed"):
        memories.approve(memories.inbox()[0].memory.id)

    assert memories.show(first.id).memory.content == "The broker runs on host beta"


@pytest.mark.parametrize("profile", ["semantic", "ops"])
def test_where_removal_is_for_good_a_merge_can_still_be_undone(
    profile: str, space: Callable[[str], Memories], clock: FixedClock
) -> None:
    memories = space(profile)
    categories = memories.profile.category_names[:2]
    for category, text, subject in zip(categories, (BROKER, BROKER_AGAIN), (None, "mqtt"), strict=True):
        kept(memories, text, category=category, subject=subject)
    memories.tend()
    memories.approve(memories.inbox()[0].memory.id)
    (gone,) = memories.find(Filter(states=("forgotten",))).memories

    (entry,) = [one for one in memories.why(gone.id).entries if one.action == "forgotten"]
    memories.undo_session(entry.session or "")

    assert wordings(memories) == sorted([BROKER, BROKER_AGAIN])


def test_what_differs_in_subject_project_or_number_is_not_proposed(memories: Memories) -> None:
    kept(memories, "Takes 60s to start after a restart", category="timing", subject="jellyfin")
    kept(memories, "Takes 60s to start after a restart", category="fact", subject="gitea")
    kept(memories, "Backups run at 3 in the morning", category="fact")
    kept(memories, "Backups run at 4 in the morning", category="timing")
    kept(memories, "The broker runs on host alpha", category="fact", project="one")
    kept(memories, "The broker runs on host alpha", category="fact", project="two")

    assert memories.tend().proposed == ()


def test_an_open_contradiction_is_proposed_when_nobody_stood_up_for_the_older(
    memories: Memories, clock: FixedClock
) -> None:
    old = kept(memories, "The export takes 60 seconds", category="timing", subject="billing")
    clock.advance(days=3)
    new = kept(memories, "The export takes 90 seconds", category="timing", subject="billing")
    early = memories.tend().proposed
    clock.advance(days=15)

    (proposal,) = memories.tend().proposed
    memories.approve(proposal.id)

    assert early == ()
    assert f"{new.id} contradicts the older {old.id}" in (proposal.waiting_for or "")
    assert wordings(memories) == ["The export takes 90 seconds"]


@requirement("trust.export-erase")
def test_erasing_what_was_merged_erases_all_that_said_it(memories: Memories, clock: FixedClock) -> None:
    first, second = two_alike(memories, clock)
    memories.tend()
    memories.approve(memories.inbox()[0].memory.id)

    done = memories.erase(first.id)

    assert set(done.memories) == {first.id, second.id}
    with pytest.raises(NotFound):
        memories.show(second.id)


@requirement("trust.export-erase")
def test_erasing_a_memory_erases_the_proposal_that_quotes_it(memories: Memories, clock: FixedClock) -> None:
    _, second = two_alike(memories, clock)
    memories.tend()

    memories.erase(second.id)

    assert memories.inbox() == []
    assert wordings(memories) == [BROKER]


def test_a_killed_round_proposes_each_pair_once(memories: Memories, clock: FixedClock, store: Store) -> None:
    from holdfast.engine import consolidate

    two_alike(memories, clock)
    kept(memories, "Miriam is our landlord", category="person")
    kept(memories, "Our landlord is Miriam", category="fact", subject="home")
    memories.tend()
    with store.write("tended") as tx:  # as if the round had died before it could mark its end
        job = tx.jobs.get(consolidate.KIND)
        assert job is not None
        tx.jobs.save(replace(job, payload={"upto": "2000-01-01T00:00:00+00:00"}))

    again = memories.tend()

    assert again.proposed == ()
    assert len(memories.inbox()) == 2
