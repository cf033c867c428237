"""What a memory filled from conversations may rely on."""

from collections.abc import Callable

import pytest

from holdfast import Contradicting, Filter, Invalid, Memories, Merged, NotFound
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add, now


@requirement("sem.store")
def test_what_is_stored_can_be_read_back_field_by_field(semantic: Memories) -> None:
    source = semantic.speaking_as("assistant", session="chat-7")

    memory = add(
        source,
        "We moved the broker to its own host",
        importance=4,
        category="decision",
        tags=["infra", "mqtt"],
    )

    stored = now(semantic, memory)
    assert stored == memory
    assert (stored.importance, stored.category, stored.tags) == (4, "decision", ("infra", "mqtt"))
    assert stored.source.session == "chat-7"


@requirement("sem.store")
def test_importance_is_three_and_category_general_unless_said(semantic: Memories) -> None:
    memory = add(semantic, "We moved the broker to its own host")

    assert (memory.importance, memory.category) == (3, "general")


@requirement("sem.store")
@pytest.mark.parametrize("importance", [0, 6, -1])
def test_importance_outside_of_one_to_five_is_refused(semantic: Memories, importance: int) -> None:
    with pytest.raises(Invalid, match="must be 1 to 5"):
        semantic.remember("We moved the broker", importance=importance)


@requirement("sem.store")
def test_tags_filter_list_and_recall(semantic: Memories) -> None:
    tagged = add(semantic, "We moved the broker to its own host", tags=["infra", "mqtt"])
    add(semantic, "The broker was chosen for its price", tags=["buying"])
    where = Filter(tags=("infra", "mqtt"))

    listed = semantic.find(where)
    recalled = semantic.recall("broker", where=where)

    assert listed.memories == (tagged,)
    assert [hit.memory.id for hit in recalled.memories] == [tagged.id]


@requirement("sem.store")
def test_recall_counts_an_access_and_when(semantic: Memories, clock: FixedClock) -> None:
    memory = add(semantic, "We moved the broker to its own host")
    other = add(semantic, "Lunch is at noon")
    clock.advance(hours=3)

    semantic.recall("broker")
    semantic.recall("broker host")

    assert (now(semantic, memory).accesses, now(semantic, memory).accessed_at) == (2, clock.now())
    assert (now(semantic, other).accesses, now(semantic, other).accessed_at) == (0, None)


@requirement("sem.store")
def test_a_deleted_memory_is_gone_for_good(semantic: Memories) -> None:
    memory = add(semantic, "We moved the broker to its own host")

    forgotten = semantic.forget(memory.id)

    assert not forgotten.restorable
    with pytest.raises(NotFound):
        semantic.show(memory.id)
    with pytest.raises(NotFound, match="deleted permanently"):
        semantic.restore(memory.id)


@requirement("sem.links")
@pytest.mark.parametrize("kind", ["related", "supersedes", "contradicts", "elaborates"])
def test_memories_can_be_linked_in_four_ways(semantic: Memories, kind: str) -> None:
    one = add(semantic, "We moved the broker to its own host")
    other = add(semantic, "Lunch is at noon")

    assert semantic.link(one.id, other.id, kind)  # type: ignore[arg-type]
    assert not semantic.link(one.id, other.id, kind)  # type: ignore[arg-type]

    [link] = semantic.show(other.id).links
    assert (link.from_id, link.to_id, link.kind) == (one.id, other.id, kind)


@requirement("sem.links")
def test_links_go_when_either_end_is_purged(semantic: Memories) -> None:
    one, two, three = (
        add(semantic, text) for text in ("Lunch is at noon", "Tea is at four", "Dinner at eight")
    )
    semantic.link(one.id, two.id)
    semantic.link(two.id, three.id, "elaborates")

    semantic.forget(two.id)

    assert semantic.show(one.id).links == ()
    assert semantic.show(three.id).links == ()


@requirement("sem.links")
def test_a_link_needs_two_known_memories_and_a_known_kind(
    semantic: Memories, space: Callable[..., Memories]
) -> None:
    one = add(semantic, "Lunch is at noon")
    foreign = add(space("semantic", "other"), "Tea is at four")

    with pytest.raises(NotFound):
        semantic.link(one.id, foreign.id)
    with pytest.raises(Invalid, match="use one of related, supersedes, contradicts, elaborates"):
        semantic.link(one.id, one.id, "likes")  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="itself"):
        semantic.link(one.id, one.id)


@requirement("sem.dedup")
def test_what_is_known_is_merged_with_a_new_version_and_more_importance(semantic: Memories) -> None:
    known = add(semantic, "Takes 60s to start after restart", category="fact", tags=["a"])

    outcome = semantic.remember(
        "Takes about 60 seconds to start after a restart", category="fact", tags=["b"]
    )

    assert isinstance(outcome, Merged)
    merged = now(semantic, known)
    assert (merged.version, merged.importance, merged.tags) == (2, 4, ("a", "b"))
    assert semantic.find().total == 1
    assert semantic.show(known.id).versions[0].content == "Takes 60s to start after restart"


@requirement("sem.dedup")
def test_importance_rises_to_five_at_most(semantic: Memories) -> None:
    known = add(semantic, "Takes 60s to start after restart", importance=5)

    semantic.remember("Takes 60s to start after restart")

    assert now(semantic, known).importance == 5
    assert now(semantic, known).version == 1


@requirement("sem.dedup")
def test_what_contradicts_is_kept_beside_it_and_linked(semantic: Memories) -> None:
    known = add(semantic, "Takes 60s to start after restart")

    outcome = semantic.remember("Takes 30s to start after restart")

    assert isinstance(outcome, Contradicting)
    assert now(semantic, known).confidence == known.confidence
    assert [link.kind for link in semantic.show(known.id).links] == ["contradicts", "supersedes"]


def test_two_spaces_know_nothing_of_each_other(space: Callable[..., Memories]) -> None:
    mine, theirs = space("semantic", "mine"), space("semantic", "theirs")
    memory = add(mine, "We moved the broker to its own host")

    assert theirs.find().total == 0
    assert theirs.recall("broker").hits == ()
    for call in (theirs.show, theirs.forget, theirs.why, theirs.erase):
        with pytest.raises(NotFound):
            call(memory.id)


def test_a_note_with_a_known_name_is_overwritten_with_a_version(notes: Memories) -> None:
    first = add(notes, "- Uses vim", category="user", subject="User Preferences", summary="Editor")

    outcome = notes.remember("- Uses emacs", category="user", subject="User Preferences")

    assert isinstance(outcome, Merged)
    assert outcome.memory.id == first.id
    assert now(notes, first).content == "- Uses emacs"
    assert [version.content for version in notes.show(first.id).versions] == ["- Uses vim", "- Uses emacs"]
    assert notes.file_index() == "# Memory\n\n## User\n- [User Preferences](user_preferences.md) - Editor\n"


@requirement("scope.project")
def test_brief_and_recall_take_this_projects_memories_and_those_of_none(memories: Memories) -> None:
    for project in ("atlas", "borealis", None):
        add(memories, f"The build of {project or 'everything'} needs twenty minutes", project=project)

    text = memories.brief(project="atlas").text
    found = {hit.memory.project for hit in memories.recall("build minutes", project="atlas").memories}
    everywhere = {hit.memory.project for hit in memories.recall("build minutes", where=Filter()).memories}

    assert "atlas" in text
    assert "everything" in text
    assert "borealis" not in text
    assert found == {"atlas", None}
    assert everywhere == {"atlas", "borealis", None}


@requirement("scope.project")
def test_without_a_project_only_general_memories_are_shown(memories: Memories) -> None:
    add(memories, "The build of atlas needs twenty minutes", project="atlas")

    assert memories.brief().text == ""
    assert memories.recall("build minutes").hits == ()


@requirement("scope.project")
def test_a_session_of_a_project_is_briefed_for_it_without_asking(memories: Memories) -> None:
    for project in ("atlas", "borealis"):
        add(memories, f"The build of {project} needs twenty minutes", project=project)
    memories.open_session("s1", project="atlas", client="claude-code", directory="/home/me/atlas")
    agent = memories.speaking_as("assistant", session="s1")

    text = agent.brief().text
    found = agent.recall("build minutes").memories

    assert "atlas" in text
    assert "borealis" not in text
    assert [hit.memory.project for hit in found] == ["atlas"]


@requirement("sem.session")
def test_a_session_records_who_ran_it_where_and_when(memories: Memories, clock: FixedClock) -> None:
    memories.open_session(
        "host-id-1", name="nightly", client="claude-code", directory="/home/me/atlas", project="atlas"
    )
    started = clock.now()
    memory = add(memories.speaking_as("assistant", session="host-id-1"), "The build needs twenty minutes")
    clock.advance(minutes=5)

    memories.close_session("host-id-1", exit_code=0)

    session = memories.why(memory.id).session
    assert session is not None
    assert (session.id, session.name, session.client) == ("host-id-1", "nightly", "claude-code")
    assert (session.directory, session.project) == ("/home/me/atlas", "atlas")
    assert (session.started_at, session.ended_at, session.exit_code) == (started, clock.now(), 0)
