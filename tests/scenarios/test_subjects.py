"""One fact once, however its subject is spelt or whether it has one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast import Added, Contradicting, Invalid, Memories, Refused, Reinforced
from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import Merged, UpdateSuggested
from holdfast.domain.query import Filter
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add, fill, now
from tests.store.some_vectors import Hashing

ALEC = "Alec is the user's boss at TechCorp"
START = "Takes 60s to start after restart"
REWORDED = "Takes about 60 seconds to start after a restart"


@requirement("asst.api.create.similar")
@pytest.mark.parametrize("subject", ["Alec", "alec", "ALEC ", None, "boss"])
def test_an_assistant_advises_to_update_what_is_known_however_the_subject_is_spelt_or_left_out(
    assistant: Memories, subject: str | None
) -> None:
    known = add(assistant, ALEC, category="person", subject="Alec")

    outcome = assistant.remember(ALEC, category="context", subject=subject)

    assert outcome == UpdateSuggested(known, "same")


@pytest.mark.parametrize("profile", ["default", "semantic"])
@pytest.mark.parametrize("subject", ["alec", None, "boss"])
def test_one_fact_is_one_memory_across_subjects_and_categories(
    space: Callable[..., Memories], profile: str, subject: str | None
) -> None:
    memories = space(profile, "s")
    known = add(memories, ALEC, category="fact", subject="Alec")

    outcome = memories.remember(ALEC, category="project", subject=subject)

    assert isinstance(outcome, Reinforced | Merged)
    assert [memory.id for memory in memories.find().memories] == [known.id]


@pytest.mark.parametrize("profile", ["default", "semantic", "assistant"])
@pytest.mark.parametrize("subject", ["plex", None])
def test_what_only_its_subject_tells_apart_stays_apart(
    space: Callable[..., Memories], profile: str, subject: str | None
) -> None:
    memories = space(profile, "s")
    add(memories, START, category="project", subject="jellyfin")

    same = memories.remember(REWORDED, category="project", subject=subject)
    other = memories.remember("Takes 90s to start after restart", category="project", subject="caddy")

    assert isinstance(same, Added)
    assert isinstance(other, Added)


def test_a_contradiction_counts_across_categories_where_the_subject_is_one_or_missing(
    memories: Memories,
) -> None:
    known = add(memories, "The office of TechCorp is in Berlin", category="fact", subject="TechCorp")

    outcome = memories.remember("The office of TechCorp is in Lisbon", category="context")

    assert isinstance(outcome, Contradicting)
    assert now(memories, known).confidence == 0.5


@requirement("ops.reinforce.category")
def test_ops_keeps_services_and_categories_apart_but_not_spellings(ops: Memories) -> None:
    known = add(ops, START, category="timing", subject="home-assistant")

    respelt = ops.remember(REWORDED, category="timing", subject="Home_Assistant")
    behavior = ops.remember(START, category="behavior", subject="home-assistant")
    elsewhere = ops.remember(START, category="timing", subject="loki")

    assert isinstance(respelt, Reinforced)
    assert respelt.memory.id == known.id
    assert isinstance(behavior, Added)
    assert isinstance(elsewhere, Added)


@requirement("ops.reinforce")
def test_one_service_in_two_spellings_is_one_in_filters_lists_and_briefs_as_it_was_spelt_first(
    ops: Memories,
) -> None:
    add(ops, START, category="timing", subject="Jellyfin")
    add(ops, "Needs the database", category="dependency", subject="jellyfin")
    add(ops, "Restarting clears the cache", category="remediation", subject="JELLYFIN")

    found = ops.find(Filter(subject="jelly-fin"))
    brief = ops.brief().text

    assert found.total == 3
    assert {memory.subject for memory in found.memories} == {"Jellyfin"}
    assert ops.subjects(limit=10) == [("Jellyfin", 3)]
    assert brief.count("### Jellyfin") == 1
    assert "### jellyfin" not in brief


def test_two_spellings_that_are_stored_already_are_shown_as_one(ops: Memories) -> None:
    add(ops, START, category="timing", subject="Jellyfin")
    other = add(ops, "Needs the database", category="dependency", subject="Jellyfin")
    ops.revise(other.id, subject="jellyfin")

    brief = ops.brief(subject="JELLYFIN").text

    assert now(ops, other).subject == "jellyfin"
    assert ops.find(Filter(subject="jellyfin")).total == 2
    assert [count for _, count in ops.subjects(limit=10)] == [2]
    assert brief.count("###") == 1


@requirement("trust.tombstone")
@pytest.mark.parametrize("profile", ["default", "ops", "assistant", "semantic"])
def test_what_was_forgotten_stays_so_under_another_spelling(
    space: Callable[..., Memories], profile: str
) -> None:
    memories = space(profile, "s")
    category = memories.profile.category_names[0]
    memories.forget(add(memories, START, category=category, subject="home-assistant").id)

    outcome = memories.remember(REWORDED, category=category, subject="HomeAssistant")

    assert isinstance(outcome, Refused)


def test_a_form_in_ops_takes_the_names_that_a_marker_can_write(ops: Memories) -> None:
    with pytest.raises(Invalid, match="use only a-z, 0-9, - and _, as in a marker") as wrong:
        ops.remember(START, category="timing", subject="Home Assistant")

    assert wrong.value.field == "subject"


def test_in_a_large_space_the_nearest_are_found_by_meaning_and_words_across_subjects(
    store: Store, clock: FixedClock
) -> None:
    create_space("s", store=store, clock=clock, profile="default")
    memories = Memories.of(store, "s", clock=clock, embedder=Hashing())
    known = add(memories, ALEC, category="person", subject="Alec")
    shelves = [f"Shelf {number} of the user holds box {number * 7 + 1000}" for number in range(80)]
    fill(memories, [Draft(content=shelf, category="general") for shelf in shelves])
    memories.recall("who is the boss")  # makes the vectors

    outcome = memories.remember(f"{ALEC}.", category="fact", subject="boss")

    assert isinstance(outcome, Reinforced)
    assert outcome.memory.id == known.id
