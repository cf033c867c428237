"""What an agent that runs on a schedule may rely on."""

import pytest

from holdfast import Contradicting, Invalid, Memories, Memory, Reinforced
from holdfast.domain.query import EVERYTHING, Filter
from holdfast.errors import UnknownCategory
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement
from tests.scenarios.told import add, now

CATEGORIES = ("timing", "dependency", "behavior", "remediation", "maintenance")


@requirement("ops.category.accepted")
@pytest.mark.parametrize("category", CATEGORIES)
def test_each_of_the_five_categories_is_stored(ops: Memories, category: str) -> None:
    memory = add(ops, "Returns HTTP 302 when healthy", category=category, subject="adguard")

    assert now(ops, memory).category == category


@requirement("ops.category.refused")
@pytest.mark.parametrize("category", ["misc", "Timing", "", "timing "])
def test_another_category_stores_nothing_and_names_the_allowed_ones(ops: Memories, category: str) -> None:
    with pytest.raises(UnknownCategory) as refusal:
        ops.remember("Some observation", category=category)

    assert repr(category) in str(refusal.value)
    assert all(name in str(refusal.value) for name in CATEGORIES)
    assert ops.find(EVERYTHING).total == 0


def test_a_category_is_needed_where_the_profile_has_no_default(ops: Memories) -> None:
    with pytest.raises(Invalid, match="category is required: use one of timing"):
        ops.remember("Some observation")


@requirement("ops.confidence.default")
def test_a_new_memory_starts_at_seventy_percent(ops: Memories, clock: FixedClock) -> None:
    agent = ops.speaking_as("assistant", session="run-1")

    memory = add(agent, "Takes 60s to start after restart", category="timing", subject="jellyfin")

    assert now(ops, memory).confidence == 0.7
    assert (memory.created_at, memory.updated_at, memory.confirmed_at) == (clock.now(),) * 3


@requirement("ops.confidence.default")
def test_the_default_profile_does_not_decay(memories: Memories, clock: FixedClock) -> None:
    memory = add(memories, "The office closes at six", category="fact")
    clock.advance(days=3650)

    memories.tend()

    assert now(memories, memory).confidence == 0.7


@requirement("ops.confidence.clamped")
@pytest.mark.parametrize(("given", "stored"), [(1.5, 1.0), (-1, 0.0), (0.95, 0.95)])
def test_confidence_is_clamped_when_written_and_when_revised(
    ops: Memories, given: float, stored: float
) -> None:
    written = add(ops, "Needs a weekly vacuum", category="maintenance", subject="postgres", confidence=given)
    revised = add(ops, "Fails without a route", category="dependency", subject="caddy")

    ops.revise(revised.id, confidence=given)

    assert now(ops, written).confidence == stored
    assert now(ops, revised).confidence == stored


@requirement("ops.confidence.floor")
def test_a_memory_below_the_floor_is_never_in_a_brief(ops: Memories) -> None:
    add(ops, "Barely believed", category="behavior", subject="loki", confidence=0.29)
    add(ops, "Just believed", category="behavior", subject="tempo", confidence=0.3)

    text = ops.brief().text

    assert "Just believed" in text
    assert "Barely believed" not in text


@requirement("ops.reinforce")
def test_saying_it_again_in_other_words_makes_it_more_certain(ops: Memories, clock: FixedClock) -> None:
    first = add(ops, "Takes 60s to start after restart", category="timing", subject="jellyfin")
    clock.advance(days=2)

    outcome = ops.remember(
        "Takes about 60 seconds to start after a restart", category="timing", subject="jellyfin"
    )

    assert isinstance(outcome, Reinforced)
    assert outcome.memory.id == first.id
    assert now(ops, first).confidence == 0.8
    assert now(ops, first).updated_at == clock.now()
    assert ops.find(EVERYTHING).total == 1


@requirement("ops.reinforce")
def test_an_inactive_memory_is_not_reinforced(ops: Memories) -> None:
    doubted = add(ops, "Takes 60s to start after restart", category="timing", confidence=0.2)

    fresh = add(ops, "Takes 60s to start after restart", category="timing")

    assert fresh.id != doubted.id
    assert now(ops, doubted).confidence == 0.2


@requirement("ops.reinforce.cap")
def test_reinforcement_stops_at_one(ops: Memories) -> None:
    memory = add(ops, "Takes 60s to start", category="timing", subject="jellyfin")

    for _ in range(5):
        ops.remember("Takes 60s to start", category="timing", subject="jellyfin")

    assert now(ops, memory).confidence == 1.0


@requirement("ops.reinforce.cap")
def test_a_session_counts_once_per_memory_and_its_writer_not_at_all(ops: Memories) -> None:
    writer = ops.speaking_as("assistant", session="run-1")
    other = ops.speaking_as("assistant", session="run-2")
    memory = add(writer, "Takes 60s to start", category="timing", subject="jellyfin")

    own = writer.remember("Takes 60s to start", category="timing", subject="jellyfin")
    for _ in range(3):
        other.remember("Takes 60s to start", category="timing", subject="jellyfin")

    assert isinstance(own, Reinforced)
    assert not own.counted
    assert now(ops, memory).confidence == 0.8


@requirement("ops.reinforce.category")
@pytest.mark.parametrize("other", [{"category": "behavior"}, {"subject": "immich"}, {"subject": None}])
def test_another_category_or_service_makes_a_new_memory(ops: Memories, other: dict[str, str | None]) -> None:
    known = {"category": "timing", "subject": "jellyfin"}
    first = add(ops, "Takes 60s to start", **known)

    second = add(ops, "Takes 60s to start", **{**known, **other})

    assert second.id != first.id
    assert now(ops, first).confidence == 0.7


@requirement("ops.contradict")
def test_a_conflicting_conclusion_lowers_the_known_one_and_links_the_two(ops: Memories) -> None:
    old = add(ops, "Must be started after WireGuard", category="dependency", subject="caddy", confidence=0.8)

    outcome = ops.remember(
        "Can be started independently of WireGuard", category="dependency", subject="caddy"
    )

    assert isinstance(outcome, Contradicting)
    assert now(ops, old).confidence == 0.6
    assert now(ops, outcome.memory).confidence == 0.7
    links = {(link.from_id, link.to_id, link.kind) for link in ops.show(outcome.memory.id).links}
    assert links == {(outcome.memory.id, old.id, kind) for kind in ("contradicts", "supersedes")}


@requirement("ops.contradict")
def test_a_session_lowers_a_memory_once_however_often_it_contradicts_it(ops: Memories) -> None:
    old = add(ops, "Takes 60s to start after restart", category="timing", subject="jellyfin", confidence=1.0)
    agent = ops.speaking_as("assistant", session="run-1")

    agent.remember("Takes 30s to start after restart", category="timing", subject="jellyfin")
    agent.remember("Takes 45s to start after restart", category="timing", subject="jellyfin")

    assert now(ops, old).confidence == 0.8


@requirement("ops.contradict.deactivate")
def test_a_contradiction_takes_a_doubtful_memory_out(ops: Memories) -> None:
    old = add(ops, "Must be started after WireGuard", category="dependency", subject="caddy", confidence=0.4)

    ops.remember("Can be started independently of WireGuard", category="dependency", subject="caddy")

    assert (now(ops, old).confidence, now(ops, old).state) == (0.2, "inactive")


@requirement("ops.decay.fresh")
def test_a_memory_confirmed_fifteen_days_ago_keeps_its_confidence(ops: Memories, clock: FixedClock) -> None:
    memory = add(ops, "Takes 60s to start", category="timing")
    clock.advance(days=15)

    ops.open_session("run-1", tier=1)

    assert now(ops, memory).confidence == 0.7


@requirement("ops.decay.stale")
def test_two_full_weeks_past_the_grace_take_two_tenths(ops: Memories, clock: FixedClock) -> None:
    memory = add(ops, "Takes 60s to start", category="timing")
    clock.advance(days=44)

    ops.open_session("run-1", tier=1)

    after = now(ops, memory)
    assert after.confidence == 0.5
    assert (after.updated_at, after.confirmed_at) == (memory.updated_at, memory.confirmed_at)


@requirement("ops.decay.stale")
@pytest.mark.parametrize(
    ("confirmation", "restarts"),
    [("reinforce", True), ("operator edit", True), ("contradiction", False), ("agent edit", False)],
)
def test_only_confirmation_starts_the_count_anew(
    ops: Memories, clock: FixedClock, confirmation: str, restarts: bool
) -> None:
    memory = add(ops, "Takes 60s to start after restart", category="timing", confidence=0.9)
    clock.advance(days=40)

    if confirmation == "reinforce":
        ops.remember("Takes about 60 seconds to start after a restart", category="timing")
    elif confirmation == "operator edit":
        ops.revise(memory.id, "Takes 60s to start after a restart of the host")
    elif confirmation == "agent edit":
        ops.speaking_as("assistant", session="s").revise(memory.id, "Takes 60s to start after a restart")
    else:
        ops.remember("Takes 30s to start after restart", category="timing")

    assert (now(ops, memory).confirmed_at == clock.now()) is restarts


@requirement("ops.decay.deactivate")
def test_decay_makes_a_doubtful_memory_inactive(ops: Memories, clock: FixedClock) -> None:
    memory = add(ops, "Takes 60s to start", category="timing", confidence=0.4)
    clock.advance(days=44)

    ops.tend()

    assert (now(ops, memory).confidence, now(ops, memory).state) == (0.2, "inactive")


@requirement("ops.decay.idempotent")
def test_decay_runs_before_the_brief_and_twice_is_once(ops: Memories, clock: FixedClock) -> None:
    memory = add(ops, "Takes 60s to start", category="timing", confidence=0.4)
    clock.advance(days=44)

    first, second = ops.brief().text, ops.brief().text

    assert first == second == ""
    assert len([entry for entry in ops.why(memory.id).entries if entry.action == "decayed"]) == 1


@requirement("ops.decay.idempotent")
def test_one_run_after_ten_weeks_equals_ten_weekly_runs(ops: Memories, clock: FixedClock) -> None:
    ten = add(ops, "Takes 60s to start", category="timing", subject="ten", confidence=1.0)
    clock.advance(days=30)
    for _ in range(4):
        clock.advance(weeks=1)
        ops.tend()
    by_weeks = now(ops, ten)

    one = add(ops, "Takes 60s to start", category="timing", subject="one", confidence=1.0)
    clock.advance(days=30, weeks=4)
    ops.tend()

    assert by_weeks.confidence == 0.6
    assert now(ops, one).confidence == 0.6
    assert now(ops, one).decayed_weeks == by_weeks.decayed_weeks == 4


@requirement("ops.inactive.kept")
def test_an_inactive_memory_is_kept_editable_and_out_of_every_prompt(ops: Memories) -> None:
    memory = add(ops, "Barely believed thing", category="behavior", subject="loki", confidence=0.1)

    assert ops.find(Filter(states=("inactive",))).memories == (memory,)
    assert ops.brief().text == ""
    assert ops.recall("barely believed thing").hits == ()
    ops.revise(memory.id, "Barely believed thing, reworded")
    assert now(ops, memory).state == "inactive"
    ops.forget(memory.id)
    assert ops.find(EVERYTHING).total == 0


@requirement("ops.inactive.reactivate")
def test_raising_an_inactive_memory_to_the_floor_makes_it_active(ops: Memories) -> None:
    memory = add(ops, "Barely believed thing", category="behavior", confidence=0.1)

    ops.revise(memory.id, confidence=0.3)

    assert now(ops, memory).state == "active"
    assert "Barely believed thing" in ops.brief().text
    assert ops.recall("barely believed").memories[0].memory.id == memory.id


@requirement("ops.tiers")
@pytest.mark.parametrize("tier", [1, 2, 3])
def test_every_tier_writes_and_leaves_its_mark(ops: Memories, tier: int) -> None:
    ops.open_session(f"run-{tier}", tier=tier)
    agent = ops.speaking_as("assistant", session=f"run-{tier}")

    memory = add(agent, "Returns HTTP 302 when healthy", category="behavior", subject="adguard")

    assert now(ops, memory).source.tier == tier
    assert ops.why(memory.id).session is not None
    assert ops.show(memory.id).versions[0].source.tier == tier


def test_a_tier_that_does_not_exist_is_refused(ops: Memories) -> None:
    with pytest.raises(Invalid, match="use 1, 2 or 3"):
        ops.open_session("run-4", tier=4)


def test_an_observation_is_one_line(ops: Memories) -> None:
    memory: Memory = add(ops, "First line\nsecond line\r\nthird", category="behavior")

    assert memory.content == "First line second line third"
