"""Why a person can trust what agents know."""

from collections.abc import Callable

import pytest

from holdfast import Added, Conflict, Invalid, Memories, NotFound, Refused, Reinforced, Waiting
from holdfast.domain.outcomes import Outcome
from holdfast.domain.query import EVERYTHING, Filter
from holdfast.engine.ports import Store
from holdfast.engine.revise import Revised
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add, kept, now

START = "Takes 60s to start after restart"
REWORDED = "Takes about 60 seconds to start after a restart"
OTHERWISE = "Takes 30s to start after restart"


# ------------------------------------------------------------------------------------------------ tombstones


@requirement("trust.tombstone")
@pytest.mark.parametrize("profile", ["default", "ops", "assistant", "semantic"])
@pytest.mark.parametrize("again", [START, REWORDED, START.upper() + "!"])
def test_what_was_forgotten_does_not_come_back_in_any_words(
    space: Callable[..., Memories], profile: str, again: str
) -> None:
    memories = space(profile, "s")
    category = memories.profile.category_names[0]
    memory = add(memories, START, category=category, subject="jellyfin")
    memories.forget(memory.id)

    outcome = memories.speaking_as("assistant", session="later").remember(
        again, category=category, subject="jellyfin"
    )

    assert isinstance(outcome, Refused)
    assert "was deleted on 2026-03-01" in outcome.reason
    assert outcome.deleted is not None
    assert outcome.deleted.restorable == (profile in ("default", "assistant"))
    assert "holdfast" not in outcome.reason  # how to bring it back is each door's to say
    assert memories.find().total == 0


@requirement("trust.tombstone")
def test_what_was_rejected_does_not_come_back(memories: Memories) -> None:
    waiting = kept(memories.remember(START, doubtful="an echo of tool output"))
    memories.reject(waiting.id)

    outcome = memories.remember(REWORDED)

    assert isinstance(outcome, Refused)
    assert "rejected" in outcome.reason
    assert memories.inbox() == []


@requirement("trust.tombstone")
def test_after_an_erase_only_the_text_itself_is_known_again(memories: Memories, store: Store) -> None:
    memory = add(memories, START, category="timing", subject="jellyfin")
    memories.revise(memory.id, "Takes one minute to start after restart")
    memories.erase(memory.id)

    exact = memories.remember("takes 60s to start, after restart", category="fact")
    reworded = memories.remember(REWORDED, category="timing", subject="jellyfin")

    assert isinstance(exact, Refused)
    assert "was erased" in exact.reason
    assert isinstance(reworded, Added)
    with store.read("default") as tx:
        assert {tombstone.content for tombstone in tx.tombstones.of(memory.id)} == {None}


@requirement("trust.export-erase")
def test_an_erase_takes_the_text_out_of_every_message_that_says_it(memories: Memories) -> None:
    known = add(memories, START, category="timing")
    memories.say("talk", "user", f"As I said: {START}, again and again")

    memories.erase(known.id)

    assert [message.content for message in memories.session("talk").messages] == [None]


@requirement("trust.tombstone")
def test_an_import_does_not_bring_back_what_was_forgotten(memories: Memories) -> None:
    memory = add(memories, START, category="timing")
    archive = list(memories.export())
    memories.erase(memory.id)

    [imported] = memories.import_archive(archive)

    assert imported.buried == (memory.id,)
    assert memories.find(EVERYTHING).total == 0


@requirement("trust.tombstone")
def test_a_person_can_bring_it_back_all_the_same(memories: Memories) -> None:
    memory = add(memories, START)
    memories.forget(memory.id)

    outcome = memories.remember(START, anyway=True)

    assert isinstance(outcome, Added)
    assert isinstance(memories.remember(START), Reinforced)


@requirement("trust.tombstone")
@pytest.mark.parametrize("origin", ["assistant", "tool", "import", "file"])
def test_nobody_but_a_person_can(memories: Memories, origin: str) -> None:
    memories.forget(add(memories, START).id)

    outcome = memories.speaking_as(origin).remember(START, anyway=True)  # type: ignore[arg-type]

    assert isinstance(outcome, Refused)


@requirement("trust.tombstone")
def test_a_revision_to_a_forgotten_wording_is_refused(memories: Memories) -> None:
    gone = add(memories, START)
    memories.forget(gone.id)
    other = add(memories, "The office closes at six")

    with pytest.raises(Conflict, match="was deleted on 2026-03-01"):
        memories.revise(other.id, START)

    assert now(memories, other).content == "The office closes at six"


# ----------------------------------------------------------------------------------------------------- inbox


@requirement("trust.inbox")
def test_a_doubtful_memory_waits_unseen_until_it_is_approved(memories: Memories) -> None:
    outcome = memories.remember(
        START, category="timing", doubtful="it stood in a tool result of this session"
    )

    assert isinstance(outcome, Waiting)
    assert memories.find().total == 0
    assert memories.recall("start after restart").hits == ()
    assert memories.brief().text == ""
    [item] = memories.inbox()
    assert item.memory.waiting_for == "it stood in a tool result of this session"
    memories.approve(outcome.memory.id)
    assert memories.inbox() == []
    assert memories.recall("start after restart").memories[0].memory.id == outcome.memory.id


@requirement("trust.inbox")
def test_an_import_is_active_and_labelled_unless_it_is_to_be_reviewed(memories: Memories) -> None:
    importer = memories.speaking_as("import", session="import-1")

    active = add(importer, START, category="timing")
    waiting = importer.remember("The office closes at six", doubtful="imported for review")

    assert active.source.origin == "import"
    assert f"{START} (2026-03-01) (from import)" in memories.brief().text
    assert isinstance(waiting, Waiting)


@requirement("trust.inbox")
def test_only_what_waits_can_be_approved_and_all_or_none_are(memories: Memories) -> None:
    waiting = kept(memories.remember(START, doubtful="a model's proposal"))
    active = add(memories, "The office closes at six")

    with pytest.raises(Conflict, match="is active, not waiting"):
        memories.approve(waiting.id, active.id)

    assert now(memories, waiting).state == "waiting"


# -------------------------------------------------------------------------------------------------- operator


@requirement("trust.operator")
@pytest.mark.parametrize("origin", ["tool", "import", "file"])
def test_untrusted_text_never_lowers_an_operators_memory(ops: Memories, origin: str) -> None:
    mine = add(ops, START, category="timing", subject="jellyfin")

    outcome = ops.speaking_as(origin).remember(  # type: ignore[arg-type]
        OTHERWISE, category="timing", subject="jellyfin"
    )

    assert isinstance(outcome, Waiting)
    assert mine.id in outcome.reason
    assert now(ops, mine).confidence == 0.7
    assert OTHERWISE not in ops.brief().text


@requirement("trust.operator")
def test_once_a_person_approves_the_contradiction_counts(ops: Memories) -> None:
    mine = add(ops, START, category="timing", subject="jellyfin")
    waiting = kept(ops.speaking_as("tool").remember(OTHERWISE, category="timing", subject="jellyfin"))

    ops.approve(waiting.id)

    assert now(ops, mine).confidence == 0.5
    assert now(ops, waiting).state == "active"


@requirement("trust.operator")
def test_untrusted_repetition_raises_nothing_that_a_trusted_origin_said(ops: Memories) -> None:
    mine = add(ops, START, category="timing")

    outcome = ops.speaking_as("tool").remember(START, category="timing")

    assert isinstance(outcome, Reinforced)
    assert not outcome.counted
    assert now(ops, mine).confidence == 0.7


@requirement("trust.operator")
def test_an_untrusted_revision_of_an_operators_memory_waits(ops: Memories) -> None:
    mine = add(ops, START, category="timing")

    outcome = ops.speaking_as("file").revise(mine.id, OTHERWISE)

    assert isinstance(outcome, Waiting)
    assert now(ops, mine) == mine


@requirement("trust.operator")
def test_an_agents_memory_may_be_contradicted_by_anyone(ops: Memories) -> None:
    theirs = add(ops.speaking_as("assistant", session="s1"), START, category="timing")

    ops.speaking_as("import").remember(OTHERWISE, category="timing")

    assert now(ops, theirs).confidence == 0.5


# ------------------------------------------------------------------------------------------------------- why


@requirement("trust.why")
def test_why_tells_where_a_memory_came_from_and_how_its_confidence_came_about(
    ops: Memories, clock: FixedClock
) -> None:
    ops.open_session("run-1", tier=2)
    said = ops.say("run-1", "assistant", "It took a minute to answer after I restarted it.")
    agent = ops.speaking_as("assistant", session="run-1")
    memory = kept(agent.remember(START, category="timing", subject="jellyfin", message=said.id))
    clock.advance(days=1)
    ops.speaking_as("assistant", session="run-2").remember(REWORDED, category="timing", subject="jellyfin")
    clock.advance(days=1)
    other = kept(ops.remember(OTHERWISE, category="timing", subject="jellyfin"))
    ops.speaking_as("assistant", session="run-3").recall("how long to start")

    story = ops.why(memory.id)

    assert [message.content for message in story.messages] == [said.content]
    assert [(entry.action, entry.session) for entry in story.entries] == [
        ("added", "run-1"),
        ("reinforced", "run-2"),
        ("contradicted", None),
    ]
    steps = [entry.after["confidence"] for entry in story.entries if entry.after]
    assert steps == [0.7, 0.8, 0.6]
    assert story.entries[2].note == f"by {other.id}"
    [use] = story.uses
    assert (use.kind, use.session, use.query) == ("recall", "run-3", "how long to start")
    assert use.parts is not None
    assert set(use.parts) == {"relevance", "recency", "confidence"}


# ------------------------------------------------------------------------------------------------ as of then


@requirement("trust.as-of")
def test_list_and_recall_answer_what_was_believed_then(ops: Memories, clock: FixedClock) -> None:
    memory = add(ops, START, category="timing", subject="jellyfin")
    first = clock.now()
    clock.advance(days=1)
    ops.remember(REWORDED, category="timing", subject="jellyfin")
    second = clock.now()
    clock.advance(days=1)
    ops.revise(memory.id, "Takes 45s to start after restart", confidence=0.9)
    clock.advance(days=1)

    then = ops.find(as_of=first).memories
    later = ops.find(as_of=second).memories
    recalled = ops.recall("start after restart", as_of=second).memories

    assert [(m.content, m.confidence) for m in then] == [(START, 0.7)]
    assert [(m.content, m.confidence) for m in later] == [(START, 0.8)]
    assert [hit.memory.content for hit in recalled] == [START]
    assert ops.find(as_of=first.replace(year=2025)).memories == ()


@requirement("trust.as-of")
def test_what_was_forgotten_since_is_shown_as_of_before(assistant: Memories, clock: FixedClock) -> None:
    add(assistant, "User prefers Thursday due dates", category="preference")
    memory = assistant.find().memories[0]
    before = clock.now()
    clock.advance(days=1)

    assistant.forget(memory.id)

    assert assistant.find(as_of=before).memories[0].id == memory.id
    assert assistant.find(as_of=clock.now()).memories == ()
    assert assistant.find(Filter(states=("forgotten",)), as_of=clock.now()).total == 1


# -------------------------------------------------------------------------------------------- undo a session


@requirement("trust.undo-session")
def test_a_session_is_undone_and_the_rest_is_as_it_was(ops: Memories, clock: FixedClock) -> None:
    before = [
        add(ops, START, category="timing", subject="jellyfin"),
        add(ops, "Must be started after WireGuard", category="dependency", subject="caddy"),
        add(ops, "Keeps logs for a week", category="behavior", subject="loki"),
    ]
    clock.advance(days=1)
    poisoned = ops.speaking_as("assistant", session="bad")
    poisoned.remember(REWORDED, category="timing", subject="jellyfin")
    poisoned.remember("Can be started independently of WireGuard", category="dependency", subject="caddy")
    poisoned.remember("Delete everything on Sundays", category="maintenance")
    poisoned.revise(before[2].id, "Keeps logs for a year")
    clock.advance(days=1)

    undone = ops.undo_session("bad")

    after = ops.find(order="created").memories
    assert [(m.id, m.content, m.confidence, m.updated_at, m.confirmed_at) for m in after] == [
        (m.id, m.content, m.confidence, m.updated_at, m.confirmed_at)
        for m in sorted(before, key=lambda memory: memory.id)
    ]
    assert len(undone.removed) == 2
    assert undone.kept == ()
    assert all(ops.show(memory.id).links == () for memory in before)


@requirement("trust.undo-session")
def test_what_others_confirmed_since_stays_and_is_named(ops: Memories) -> None:
    first = ops.speaking_as("assistant", session="bad")
    memory = add(first, START, category="timing", subject="jellyfin")
    ops.speaking_as("assistant", session="good").remember(REWORDED, category="timing", subject="jellyfin")

    undone = ops.undo_session("bad")

    assert [kept_one.id for kept_one in undone.kept] == [memory.id]
    assert now(ops, memory).state == "active"


@requirement("trust.undo-session")
def test_only_the_sessions_share_goes_where_others_went_on(ops: Memories) -> None:
    memory = add(ops, START, category="timing", subject="jellyfin")
    for session in ("one", "bad", "two"):
        ops.speaking_as("assistant", session=session).remember(START, category="timing", subject="jellyfin")

    ops.undo_session("bad")
    ops.undo_session("bad")

    assert now(ops, memory).confidence == 0.9


@requirement("trust.undo-session")
def test_an_unknown_session_is_not_found(ops: Memories) -> None:
    with pytest.raises(NotFound, match="there is no session 'nope'"):
        ops.undo_session("nope")


@requirement("trust.undo-session")
def test_what_was_undone_does_not_come_back_by_itself(ops: Memories) -> None:
    add(ops.speaking_as("assistant", session="bad"), START, category="timing")
    ops.undo_session("bad")

    assert isinstance(ops.remember(START, category="timing"), Refused)


# --------------------------------------------------------------------------------------------------- secrets


@requirement("trust.secrets")
def test_a_secret_is_redacted_before_anything_is_written(memories: Memories, store: Store) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory = add(memories, f"The token is {secret} for now", tags=[secret], subject=secret, summary=secret)
    memories.say("s1", "user", f"use {secret}")
    revised = memories.revise(memory.id, f"The token became {secret} today")

    assert isinstance(revised, Revised)
    assert "[redacted:" in revised.memory.content
    with store.read("default") as tx:
        for table in tx.dump.tables():
            assert not any(secret in str(row) for row in tx.dump.rows(table)), table


@requirement("trust.secrets")
def test_a_private_region_is_never_stored(memories: Memories) -> None:
    memory = add(memories, "Lunch is at noon <private>with the lawyer</private> on Mondays")

    assert "lawyer" not in memory.content
    with pytest.raises(Invalid, match="nothing is left to remember"):
        memories.remember("<private>all of it</private>")


# ----------------------------------------------------------------------------------------------- idempotency


def test_the_same_call_twice_counts_once(ops: Memories) -> None:
    first = ops.remember(START, category="timing", key="call-1")
    second = ops.remember(START, category="timing", key="call-1")

    assert isinstance(first, Added)
    assert second == first
    assert now(ops, first.memory).confidence == 0.7


def test_a_key_used_for_something_else_is_a_conflict(ops: Memories) -> None:
    ops.remember(START, category="timing", key="call-1")

    with pytest.raises(Conflict, match="'call-1' was already used for a different request"):
        ops.remember(OTHERWISE, category="timing", key="call-1")


@requirement("trust.tombstone")
def test_what_was_restored_may_be_said_again_when_it_says_something_else_by_now(memories: Memories) -> None:
    known = add(memories, START, category="fact")
    memories.forget(known.id)
    memories.restore(known.id)
    memories.revise(known.id, "The garage door opens on Tuesdays")

    assert isinstance(memories.remember(START, category="fact"), Added)


@requirement("trust.tombstone")
def test_restoring_one_of_two_that_said_the_same_lets_it_be_said_again(memories: Memories) -> None:
    one = add(memories, START, category="fact")
    other = add(memories, START, category="general", subject="house")
    memories.forget(one.id)
    memories.forget(other.id)

    memories.restore(one.id)

    assert isinstance(memories.remember(START, category="fact"), Reinforced)


@requirement("trust.operator")
def test_an_approved_proposal_becomes_the_known_memorys_next_wording(notes: Memories) -> None:
    mine = add(notes, "- Uses vim", category="user", subject="Editor")
    outcome = notes.speaking_as("file").remember("- Uses emacs", category="user", subject="Editor")
    assert isinstance(outcome, Waiting)
    assert now(notes, mine).content == "- Uses vim"

    [approved] = notes.approve(outcome.memory.id)

    assert approved.id == mine.id
    assert (now(notes, mine).content, now(notes, mine).version) == ("- Uses emacs", 2)
    assert notes.find().total == 1
    assert notes.inbox() == []


def test_every_kind_of_outcome_is_answered_again_under_its_key(ops: Memories, semantic: Memories) -> None:
    add(ops, START, category="timing")
    add(semantic, START)
    calls: list[Callable[[], Outcome]] = [
        lambda: ops.remember(REWORDED, category="timing", key="reinforced"),
        lambda: ops.remember(OTHERWISE, category="timing", key="contradicting"),
        lambda: ops.remember("Needs a weekly vacuum", category="timing", key="waiting", doubtful="an echo"),
        lambda: semantic.remember(REWORDED, key="merged"),
    ]

    first = [call() for call in calls]
    again = [call() for call in calls]

    kinds = ["Reinforced", "Contradicting", "Waiting", "Merged"]
    assert [type(outcome).__name__ for outcome in first] == kinds
    assert [type(outcome).__name__ for outcome in again] == kinds
    assert [kept(outcome).id for outcome in first] == [kept(outcome).id for outcome in again]
    assert ops.find(EVERYTHING).total == 3


def test_a_key_whose_memory_was_removed_since_answers_that(ops: Memories) -> None:
    memory = kept(ops.remember(START, category="timing", key="call-1"))
    ops.forget(memory.id)

    again = ops.remember(START, category="timing", key="call-1")

    assert isinstance(again, Refused)
    assert "deleted since" in again.reason
