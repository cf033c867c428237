"""What is said in a project belongs to it, until somebody makes it global."""

from collections.abc import Callable

import pytest

from holdfast import Memories
from holdfast.engine.revise import Revised
from tests.requirements_ledger import requirement
from tests.scenarios.told import add

Space = Callable[[str], Memories]


def captured(memories: Memories, *said: str, project: str = "alpha") -> dict[str, str | None]:
    """The projects of what is captured from what a person said in one, by text."""
    for number, text in enumerate(said):
        memories.open_session(f"s{number}", project=project)
        memories.say(f"s{number}", "user", text)
        memories.capture(f"s{number}")
    return {memory.content: memory.project for memory in memories.find().memories}


@requirement("scope.promote")
@pytest.mark.parametrize("profile", ["semantic", "assistant"])
def test_what_is_captured_in_a_project_stands_in_no_other_ones_brief(space: Space, profile: str) -> None:
    memories = space(profile)

    found = captured(
        memories,
        "In this project we always use tabs, never spaces.",
        "I use pytest here and never unittest.",
        "I like short answers, please no long explanations.",
    )

    assert len(found) == 3
    everywhere = {text for text, project in found.items() if project is None}
    assert everywhere == {"The user likes short answers, please no long explanations."}
    assert "tabs" not in memories.brief(project="beta").text
    assert "tabs" in memories.brief(project="alpha").text


@requirement("scope.promote")
def test_what_is_known_of_services_belongs_to_no_project(ops: Memories) -> None:
    found = captured(ops, "We decided that jellyfin is always restarted with docker compose, never by hand.")

    assert set(found.values()) <= {None}
    assert (
        add(ops.speaking_as("assistant", project="alpha"), "Needs caddy", category="dependency").project
        is None
    )


@requirement("scope.promote")
def test_a_promoted_memory_holds_in_every_project_and_that_can_be_undone(memories: Memories) -> None:
    made = add(memories, "Answers should be short", category="fact", project="alpha")
    since = memories.last_change()

    promoted = memories.promote(made.id)
    everywhere = memories.brief(project="beta").included
    again = memories.promote(made.id)
    memories.undo(made.id, since=since)

    assert isinstance(promoted, Revised)
    assert (promoted.memory.project, promoted.previous.project) == (None, "alpha")
    assert everywhere == (made.id,)
    assert isinstance(again, Revised)
    assert again.memory == promoted.memory
    assert memories.show(made.id).memory.project == "alpha"
    assert [entry.action for entry in memories.why(made.id).entries] == ["added", "revised", "undone"]


@requirement("scope.promote")
def test_recall_says_how_many_matches_other_projects_hold(memories: Memories) -> None:
    add(memories, "The staging database runs on port 5433", category="fact", project="alpha")
    add(memories, "The staging database is reset on Mondays", category="fact", project="beta")
    add(memories, "Deploys happen on Fridays", category="fact", project="beta")

    outside = memories.recall("staging database", project="gamma")
    inside = memories.recall("staging database", project="alpha")
    unrelated = memories.recall("favourite colour", project="gamma")

    assert (outside.hits, outside.other_projects) == ((), 2)
    assert (len(inside.hits), inside.other_projects) == (1, 1)
    assert unrelated.other_projects == 0
