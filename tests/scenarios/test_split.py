"""A wording that was taken for a repetition is kept, and a person can make it a memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from holdfast import Added, Memories, Memory, NotFound, Refused, Reinforced, UpdateSuggested
from holdfast.domain.query import EVERYTHING
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.language.comparison import Statement, Verdict
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add, now

BROTHER = "The brother of Ada lives in Porto"
IN_LAW = "The brother-in-law of Ada lives in Porto"
START = "Takes 60s to start after restart"


class Credulous:
    """A judge that takes everything for the same."""

    def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Verdict]:
        return [Verdict(relation="same", certain=True, similarity=0.9) for _ in pairs]


@pytest.fixture
def swallowing(store: Store, clock: FixedClock) -> Callable[..., Memories]:
    """A space whose judge merges whatever it is shown."""

    def made(profile: str = "ops", name: str = "swallowing") -> Memories:
        create_space(name, store=store, clock=clock, profile=profile)
        return Memories.of(store, name, clock=clock, judge=Credulous())

    return made


def merged(memories: Memories, clock: FixedClock) -> Memory:
    """A memory that swallowed another fact in session later."""
    category = memories.profile.category_names[0]
    add(memories, BROTHER, category=category, subject="ada")
    clock.advance(days=2)
    agent = memories.speaking_as("assistant", session="later")
    said = agent.say("later", "assistant", f"I see: {IN_LAW}")
    outcome = agent.remember(IN_LAW, category=category, subject="ada", message=said.id)
    assert isinstance(outcome, Reinforced)
    return outcome.memory


@requirement("trust.split")
def test_why_tells_each_wording_that_was_counted_as_a_repetition_with_its_source_and_date(
    swallowing: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = swallowing()
    memory = merged(memories, clock)

    [wording] = memories.why(memory.id).repetitions

    assert (wording.number, wording.content, wording.created_at) == (1, IN_LAW, clock.now())
    assert (wording.source.origin, wording.source.session) == ("assistant", "later")
    assert wording.source.message is not None


@requirement("trust.split")
def test_a_repetition_that_counts_for_nothing_is_kept_as_well_and_each_wording_once(
    swallowing: Callable[..., Memories],
) -> None:
    memories = swallowing()
    agent = memories.speaking_as("assistant", session="one")
    memory = add(agent, BROTHER, category="behavior")
    for said in (BROTHER, f"{BROTHER.upper()}!", IN_LAW, IN_LAW, "The mother of Ada lives in Porto"):
        outcome = agent.remember(said, category="behavior")
        assert isinstance(outcome, Reinforced)
        assert not outcome.counted

    wordings = [wording.content for wording in memories.why(memory.id).repetitions]

    assert wordings == [IN_LAW, "The mother of Ada lives in Porto"]


@requirement("trust.split")
@pytest.mark.parametrize("profile", ["ops", "default"])
def test_a_split_makes_two_memories_and_takes_back_what_the_wording_added(
    swallowing: Callable[..., Memories], clock: FixedClock, profile: str
) -> None:
    memories = swallowing(profile)
    before = merged(memories, clock)
    clock.advance(days=1)

    done = memories.split(before.id, 1)

    assert (before.confidence, done.original.confidence, done.memory.confidence) == (0.8, 0.7, 0.7)
    assert done.original.confirmed_at == done.original.created_at
    assert (done.memory.content, done.memory.subject) == (IN_LAW, "ada")
    assert (done.memory.source.origin, done.memory.source.session) == ("assistant", "later")
    assert done.memory.created_at == before.updated_at
    story = memories.why(before.id)
    assert story.repetitions == ()
    assert [entry.action for entry in story.entries] == ["added", "reinforced", "split"]
    assert [version.content for version in memories.why(done.memory.id).versions] == [IN_LAW]
    assert {memory.content for memory in memories.find().memories} == {BROTHER, IN_LAW}


@requirement("trust.split")
@pytest.mark.parametrize(("again", "other"), [(BROTHER, IN_LAW), (IN_LAW, BROTHER)])
def test_what_was_split_is_not_merged_again_by_either_text_nor_proposed_by_the_upkeep(
    swallowing: Callable[..., Memories], clock: FixedClock, again: str, other: str
) -> None:
    memories = swallowing()
    done = memories.split(merged(memories, clock).id, 1)
    by_text = {each.content: each for each in (done.memory, done.original)}

    outcome = memories.speaking_as("assistant", session="next").remember(
        f"{again.upper()}!", category="timing", subject="ada"
    )
    memories.tend()

    assert isinstance(outcome, Reinforced)
    assert outcome.memory.id == by_text[again].id
    assert now(memories, by_text[other]).confidence == 0.7
    assert memories.inbox() == []


@requirement("trust.split")
def test_a_split_is_undone_and_can_be_done_again(
    swallowing: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = swallowing()
    before = merged(memories, clock)
    wordings = memories.why(before.id).repetitions
    since = memories.last_change()
    done = memories.split(before.id, 1)

    memories.undo(before.id, done.memory.id, since=since)

    assert now(memories, before) == before
    assert memories.why(before.id).repetitions == wordings
    assert [memory.id for memory in memories.find(EVERYTHING).memories] == [before.id]
    assert memories.split(before.id, 1).original.confidence == 0.7


@requirement("trust.split")
def test_a_merged_wording_is_split_off_and_the_memory_reads_as_before(
    swallowing: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = swallowing("semantic")
    memory = add(memories, BROTHER, category="fact")
    memories.remember(IN_LAW, category="fact")
    assert now(memories, memory).content == IN_LAW

    done = memories.split(memory.id, 1)

    assert (done.original.content, done.original.importance) == (BROTHER, memory.importance)
    assert done.memory.content == IN_LAW


@requirement("trust.split")
def test_undoing_the_session_takes_its_wordings_back_and_counts_them_once(
    swallowing: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = swallowing()
    known = merged(memories, clock)
    memories.undo_session("later")
    assert now(memories, known).confidence == 0.7
    assert memories.why(known.id).repetitions == ()

    agent = memories.speaking_as("assistant", session="again")
    agent.remember(IN_LAW, category="timing", subject="ada")
    split_off = memories.split(known.id, 2).memory
    memories.undo_session("again")

    assert now(memories, known).confidence == 0.7
    assert now(memories, split_off).state == "forgotten"


@requirement("trust.split")
@pytest.mark.parametrize("profile", ["ops", "default"])
def test_what_is_forgotten_does_not_come_back_in_a_wording_that_was_counted(
    swallowing: Callable[..., Memories], clock: FixedClock, profile: str
) -> None:
    memories = swallowing(profile)
    memories.forget(merged(memories, clock).id)

    outcome = memories.speaking_as("assistant", session="next").remember(
        IN_LAW, category=memories.profile.category_names[1], subject="elsewhere"
    )

    assert isinstance(outcome, Refused)


@requirement("trust.split")
def test_a_number_that_no_wording_has_is_not_found(
    swallowing: Callable[..., Memories], clock: FixedClock
) -> None:
    memories = swallowing()
    memory_id = merged(memories, clock).id

    with pytest.raises(NotFound, match="has no repeated wording 2: it has 1"):
        memories.split(memory_id, 2)


@requirement("trust.split")
@pytest.mark.parametrize(
    "said",
    [
        "Takes 600s to start after restart",
        "Takes a minute to start after restart on 3 May 2026 and 4 May 2026 with version 2.1",
    ],
)
def test_another_value_is_never_counted_as_a_repetition_whatever_the_judge_thinks(
    swallowing: Callable[..., Memories], said: str
) -> None:
    memories = swallowing()
    known = add(memories, "Takes 60s to start after restart with version 2.0", category="timing")

    outcome = memories.remember(said, category="timing")

    assert isinstance(outcome, Added)
    assert [near.id for near in outcome.related] == [known.id]
    assert now(memories, known).confidence == 0.7


@requirement("trust.split")
def test_an_archive_takes_the_wordings_along_but_for_those_that_were_deleted_there(
    swallowing: Callable[..., Memories], clock: FixedClock, space: Callable[..., Memories]
) -> None:
    memories = swallowing()
    memory_id = merged(memories, clock).id
    lines = list(memories.export())
    there, deleted_there = space("ops", "there"), space("ops", "elsewhere")
    deleted_there.forget(add(deleted_there, IN_LAW, category="timing").id)

    there.import_archive(lines)
    deleted_there.import_archive(lines)

    assert there.why(memory_id).repetitions == memories.why(memory_id).repetitions
    assert deleted_there.why(memory_id).repetitions == ()


# ------------------------------------------------------------------------------------------ measured values


@requirement("ops.reinforce")
@pytest.mark.parametrize(
    "again",
    [
        "Takes 61s to start after restart",
        "Takes 58 seconds today to start after restart",
        "Takes 55-65s to start after a restart",
        "Takes between 55 and 65 seconds to start after restart",
    ],
)
def test_a_measured_value_that_differs_a_little_is_a_repetition(ops: Memories, again: str) -> None:
    add(ops, START, category="timing", subject="jellyfin")

    outcome = ops.remember(again, category="timing", subject="jellyfin")

    assert isinstance(outcome, Reinforced)
    assert outcome.memory.confidence == 0.8


@requirement("ops.contradict")
@pytest.mark.parametrize(
    ("known", "other"),
    [
        ("Listens on port 8096", "Listens on port 8097"),
        ("Runs version 10.8.1", "Runs version 10.8.2"),
        ("Has 20 workers", "Has 21 workers"),
        ("The certificate expires on 3 May 2026", "The certificate expires on 4 May 2026"),
        ("Backups are kept for 30 days", "Backups are kept for 29 days"),
        ("The session timeout is set to 30 minutes", "The session timeout is set to 32 minutes"),
        ("The cache TTL is 300s", "The cache TTL is 320s"),
        ("The token expires after 60 minutes", "The token expires after 65 minutes"),
        (START, "Takes 90s to start after restart"),
    ],
)
def test_an_exact_setting_that_differs_contradicts(ops: Memories, known: str, other: str) -> None:
    old = add(ops, known, category="behavior", subject="jellyfin")

    ops.remember(other, category="behavior", subject="jellyfin")

    assert now(ops, old).confidence == 0.5


@requirement("trust.split")
def test_a_wording_that_was_captured_where_an_update_is_advised_is_kept(
    swallowing: Callable[..., Memories],
) -> None:
    memories = swallowing("assistant")
    known = add(memories, BROTHER, category="person")
    agent = memories.speaking_as("user", session="talk")
    said = agent.say("talk", "user", IN_LAW)

    outcome = agent.remember(IN_LAW, category="person", message=said.id)

    assert isinstance(outcome, UpdateSuggested)
    assert [wording.content for wording in memories.why(known.id).repetitions] == [IN_LAW]
