"""Two machines that change the same memories apart and exchange archives: both say the same afterwards."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.domain.memory import LINK_KINDS
from holdfast.engine.ports import Store
from holdfast.errors import HoldfastError
from tests.engine.scripted_judge import wording
from tests.engine.two_stores import Machine, in_step, two_machines
from tests.requirements_ledger import requirement

PROFILES = ("default", "ops", "assistant", "semantic", "files")
PICK = st.integers(0, 99)
CONTENTS = st.builds(wording, st.integers(0, 3), st.integers(0, 1), st.sampled_from("ab"))
SESSIONS = st.sampled_from((None, "s1", "s2"))
KINDS = (
    *("remember", "remember", "named", "named", "anyway", "doubt", "revise", "change", "change"),
    *("label", "believe", "pin", "forget", "forget", "restore", "erase", "link", "unlink", "undo", "approve"),
    *("reject", "tend", "split", "say", "name", "recall", "take", "take", "take_old", "keep_old"),
)
STEPS = st.tuples(st.integers(0, 1), st.sampled_from(KINDS), PICK, CONTENTS, SESSIONS)


def act(
    step: tuple[int, str, int, str, str | None], pair: tuple[Machine, Machine], old: list[list[str]]
) -> None:
    """One step of a random life; what can't be done is refused, and changes nothing."""
    whose, what, pick, content, session = step
    machine, other = pair[whose], pair[1 - whose]
    machine.tick()
    memories = machine.memories
    speaker = memories.speaking_as("operator" if pick % 3 else "assistant", session=session)
    category = memories.profile.category_names[pick % 5 == 0]
    rows = machine.rows()
    here = [row["id"] for row in rows.get("memories", ())] or ["none0000"]
    in_state = {
        state: [row["id"] for row in rows.get("memories", ()) if row["state"] == state] or here
        for state in ("active", "waiting", "forgotten")
    }
    chosen = in_state["active"][pick % len(in_state["active"])]
    waiting = in_state["waiting"][pick % len(in_state["waiting"])]
    gone = in_state["forgotten"][pick % len(in_state["forgotten"])]
    link = [*rows.get("links", ()), {"from_id": chosen, "to_id": gone, "kind": None}][pick % 2 - 1]
    split = [*rows.get("repetitions", ()), {"memory_id": chosen, "number": 1}][0]
    acts: dict[str, Callable[[], object]] = {
        "remember": lambda: speaker.remember(content, category=category, subject="web"),
        "named": lambda: speaker.remember(content, category=category, subject=f"page{pick}"),
        "anyway": lambda: memories.remember(content, category=category, subject="web", anyway=True),
        "doubt": lambda: speaker.remember(content, category=category, subject="web", doubtful="look"),
        "revise": lambda: speaker.revise(chosen, content),
        "change": lambda: speaker.revise(here[pick % len(here)], f"{content} and {pick}"),
        "label": lambda: speaker.revise(
            chosen, category=category, add_tags=[f"t{pick % 4}"], importance=1 + pick % 5
        ),
        "believe": lambda: speaker.revise(chosen, confidence=pick / 99),
        "pin": lambda: speaker.revise(chosen, pinned=bool(pick % 2)),
        "forget": lambda: speaker.forget(chosen),
        "restore": lambda: memories.restore(gone),
        "erase": lambda: memories.erase(chosen),
        "link": lambda: speaker.link(chosen, here[pick // 2 % len(here)], LINK_KINDS[pick % 4]),
        "unlink": lambda: speaker.unlink(link["from_id"], link["to_id"], link["kind"]),
        "undo": lambda: memories.undo_session(session or "s1"),
        "approve": lambda: memories.approve(waiting),
        "reject": lambda: memories.reject(waiting),
        "tend": lambda: after_weeks(machine, pick % 9),
        "split": lambda: memories.split(split["memory_id"], split["number"]),
        "say": lambda: memories.say(session or "s1", "user", f"{content} {pick}"),
        "name": lambda: memories.name_session(session or "s1", f"name {pick}"),
        "recall": lambda: speaker.recall(content),
        "take": lambda: machine.take(other),
        "keep_old": lambda: old.append(list(memories.export())),
        "take_old": lambda: old and machine.take_lines(old[pick % len(old)]),
    }
    with nullcontext() if what.startswith("take") else suppress(HoldfastError):
        acts[what]()


def after_weeks(machine: Machine, weeks: int) -> None:
    machine.tick(days=7 * weeks)
    machine.memories.tend(clock_is_right=True)


@requirement("trust.two-machines")
@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    profile=st.sampled_from(PROFILES),
    steps=st.lists(STEPS, min_size=4, max_size=30),
    together=st.booleans(),
)
def test_two_machines_say_the_same_after_any_history(
    store: Store, profile: str, steps: list[tuple[int, str, int, str, str | None]], together: bool
) -> None:
    pair = one, other = two_machines(store, profile)
    old: list[list[str]] = []
    for step in steps:
        act(step, pair, old)
    if together:  # both at once, each with the archive that the other wrote before
        lines = [list(machine.memories.export()) for machine in pair]
        one.take_lines(lines[1])
        other.take_lines(lines[0])

    in_step(one, other)

    assert one.says() == other.says()
    for machine in pair:
        before = list(machine.memories.export())
        machine.take(pair[1 - pair.index(machine)])
        assert list(machine.memories.export()) == before
        damage = machine.damage()
        assert (damage.texts, damage.words, damage.orphans) == ((), 0, 0)
