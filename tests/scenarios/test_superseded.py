"""Where two memories contradict, the newer leads: in briefs, in prompts, in recall and in lists."""

import pytest

from holdfast import Memories
from holdfast.domain.memory import Draft, Source
from holdfast.domain.outcomes import Contradicting, UpdateSuggested, Waiting
from holdfast.domain.query import Filter
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add

OLD = "Takes 60s to start after a restart"
NEW = "Takes 30s to start after a restart"
QUESTION = "how long does jellyfin take to start"


@pytest.fixture
def default(store: Store, clock: FixedClock) -> Memories:
    return Memories.of(store, "default", clock=clock)


def opened(store: Store, clock: FixedClock, profile: str) -> Memories:
    create_space(f"of-{profile}", store=store, clock=clock, profile=profile)
    return Memories.of(store, f"of-{profile}", clock=clock)


def contradicted(memories: Memories, clock: FixedClock, category: str = "timing") -> tuple[str, str]:
    """The ids of a memory and of a newer one that contradicts it."""
    older = add(memories, OLD, category=category, subject="jellyfin")
    clock.advance(days=2)
    newer = memories.speaking_as("assistant", session="run-2").remember(
        NEW, category=category, subject="jellyfin"
    )
    assert isinstance(newer, Contradicting)
    assert [old.superseded_by for old in newer.weakened] == [newer.memory.id]
    return older.id, newer.memory.id


def shown(memories: Memories) -> list[tuple[str, str | None]]:
    return [(memory.id, memory.superseded_by) for memory in memories.find().shown]


@requirement("trust.superseded")
@pytest.mark.parametrize(("profile", "category"), [("default", "timing"), ("semantic", "fact")])
def test_a_brief_leaves_out_what_a_newer_memory_contradicts(
    store: Store, clock: FixedClock, profile: str, category: str
) -> None:
    memories = opened(store, clock, profile)
    _, newer = contradicted(memories, clock, category)

    brief = memories.brief()

    assert brief.included == (newer,)
    assert OLD not in brief.text


@requirement("ops.brief.format")
@requirement("trust.superseded")
def test_in_a_block_by_service_the_newer_stands_above_what_it_supersedes(
    ops: Memories, clock: FixedClock
) -> None:
    older = add(ops, OLD, category="timing", subject="jellyfin", confidence=1.0)
    add(ops, "First restart always fails", category="behavior", subject="jellyfin", confidence=0.75)
    clock.advance(days=2)
    ops.remember(NEW, category="timing", subject="jellyfin")

    lines = [line for line in ops.brief().text.splitlines() if line.startswith("- ")]

    assert lines == [
        f"- [timing] {NEW} (confidence: 0.7)",
        f"- [timing] {OLD} (confidence: 0.8)",
        "- [behavior] First restart always fails (confidence: 0.75)",
    ]
    assert ops.show(older.id).memory.superseded_by is not None


@requirement("trust.superseded")
def test_recall_shows_the_superseded_one_below_its_successor(default: Memories, clock: FixedClock) -> None:
    older, newer = contradicted(default, clock)

    hits = default.recall(QUESTION).memories

    assert [(hit.memory.id, hit.memory.superseded_by) for hit in hits] == [(newer, None), (older, newer)]
    assert hits[0].score >= hits[1].score


@requirement("trust.superseded")
def test_a_question_that_meets_the_old_wording_alone_is_answered_by_the_newer_too(
    default: Memories, clock: FixedClock
) -> None:
    older = add(default, "Sarah works on the Platform team", category="person", subject="Sarah")
    clock.advance(days=2)
    newer = add(default, "Joined the designers in May", category="person", subject="Sarah")
    default.link(newer.id, older.id, "supersedes")

    found = default.recall("who works on Platform", limit=2)
    first_alone = default.recall("who works on Platform", limit=1)

    assert [hit.memory.id for hit in found.memories] == [newer.id, older.id]
    assert [hit.memory.id for hit in first_alone.memories] == [newer.id]


@requirement("trust.superseded")
def test_what_goes_into_a_prompt_holds_the_newer_alone(default: Memories, clock: FixedClock) -> None:
    contradicted(default, clock)
    agent = default.speaking_as("assistant", session="run-3")

    given = agent.context(["How long does jellyfin take to start after a restart?"])

    assert NEW in given.text
    assert OLD not in given.text
    assert agent.context(["And how long does jellyfin take to start again?"]).text == ""


@requirement("trust.superseded")
def test_a_list_shows_the_superseded_one_below_its_successor(default: Memories, clock: FixedClock) -> None:
    older, newer = contradicted(default, clock)

    assert shown(default) == [(newer, None), (older, newer)]
    assert [one.id for one in default.find().memories] == [older, newer]


@requirement("trust.superseded")
@pytest.mark.parametrize("how", ["undo", "undo-session", "forget"])
def test_what_ends_the_newer_lets_the_older_lead_again(
    default: Memories, clock: FixedClock, how: str
) -> None:
    since = default.last_change()
    older, newer = contradicted(default, clock)

    match how:
        case "undo":
            default.speaking_as("assistant", session="run-2").undo(newer, since=since)
        case "undo-session":
            default.undo_session("run-2")
        case "forget":
            default.forget(newer)

    assert shown(default) == [(older, None)]
    assert default.brief().included == (older,)


@requirement("trust.superseded")
def test_what_is_said_again_leads_again(default: Memories, clock: FixedClock) -> None:
    older, newer = contradicted(default, clock)
    clock.advance(days=2)
    default.speaking_as("assistant", session="run-3").remember(OLD, category="timing", subject="jellyfin")

    assert default.brief().included == (older,)

    default.undo_session("run-3")
    assert default.brief().included == (newer,)


@requirement("trust.superseded")
def test_what_waits_supersedes_only_once_it_is_approved(default: Memories, clock: FixedClock) -> None:
    older = add(default, OLD, category="timing", subject="jellyfin")
    clock.advance(days=2)
    waiting = default.speaking_as("tool").remember(NEW, category="timing", subject="jellyfin")
    assert isinstance(waiting, Waiting)
    assert default.brief().included == (older.id,)
    since = default.last_change()

    default.approve(waiting.memory.id)
    approved = default.brief().included
    default.undo(waiting.memory.id, older.id, since=since)
    undone = default.brief().included
    default.approve(waiting.memory.id)

    assert approved == (waiting.memory.id,)
    assert undone == (older.id,)
    assert default.brief().included == (waiting.memory.id,)
    assert default.show(older.id).memory.content == OLD


@requirement("trust.superseded")
def test_an_older_word_that_is_read_later_does_not_lead(default: Memories, clock: FixedClock) -> None:
    known = add(default, OLD, category="timing", subject="jellyfin")
    past = default.speaking_as("assistant", session="past")
    earlier = clock().replace(year=2025)
    past.say("past", "assistant", NEW, message_id="m1", said_at=earlier)

    read = past.remember(NEW, category="timing", subject="jellyfin", message="m1")

    assert isinstance(read, Contradicting)
    assert default.brief().included == (known.id,)


@requirement("trust.superseded")
def test_at_a_past_moment_nothing_is_superseded_yet(default: Memories, clock: FixedClock) -> None:
    before = clock()
    older, newer = contradicted(default, clock)

    then = default.find(as_of=before).shown
    now = default.find(as_of=clock()).shown

    assert [(one.id, one.superseded_by) for one in then] == [(older, None)]
    assert [(one.id, one.superseded_by) for one in now] == [(newer, None), (older, newer)]


@requirement("trust.superseded")
@pytest.mark.parametrize("door", ["captured", "imported"])
def test_where_advice_is_read_by_nobody_an_update_is_proposed(
    store: Store, clock: FixedClock, door: str
) -> None:
    memories = opened(store, clock, "assistant")
    known = add(memories, "Sarah works on the Platform team", category="person", subject="Sarah")
    clock.advance(days=2)
    said = "Sarah works on the Design team"
    asked = memories.remember(said, category="person", subject="Sarah")
    assert isinstance(asked, UpdateSuggested)

    if door == "imported":
        draft = Draft(content=said, category="person", subject="Sarah", source=Source(origin="import"))
        memories.import_drafts([(1, draft)])
    else:
        memories.speaking_as("assistant", session="run").remember(
            said, category="person", subject="Sarah", unattended=True
        )
    [item] = memories.inbox()
    [approved] = memories.approve(item.memory.id)

    assert [one.id for one in item.known] == [known.id]
    assert (approved.id, approved.content) == (known.id, said)
    assert [one.content for one in memories.find(Filter()).memories] == [said]
    assert [version.content for version in memories.show(known.id).versions] == [known.content, said]


@requirement("trust.superseded")
def test_a_proposal_that_is_rejected_stays_away(store: Store, clock: FixedClock) -> None:
    memories = opened(store, clock, "assistant")
    known = add(memories, "Sarah works on the Platform team", category="person", subject="Sarah")
    draft = Draft(content="Sarah works on the Design team", category="person", subject="Sarah")
    memories.import_drafts([(1, draft)])
    [item] = memories.inbox()

    memories.reject(item.memory.id)
    memories.import_drafts([(1, draft)])

    assert memories.inbox() == []
    assert [one.id for one in memories.find().memories] == [known.id]
