"""Figures over a space: the same on both databases, whether the space fills its file or is a part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from holdfast import Memories
from holdfast.app.wiring import context_for
from holdfast.domain.memory import Memory, Source, State
from holdfast.domain.outcomes import settled
from holdfast.engine.ports import CountedBy
from holdfast.engine.spaces import create_space
from holdfast.engine.stats import stats
from holdfast.engine.tend import upkeep
from holdfast.store.database import Database
from holdfast.testing import FixedClock
from tests.conftest import NewDatabase
from tests.store.test_indexes import plan_of
from tests.store.test_ranks import counting as work_of

START = datetime(2026, 3, 1, tzinfo=UTC)
IN_USE: tuple[State, ...] = ("active", "inactive")
MINE, OTHERS = 200, 900
STEPS = (0, 1, 3, 10, 50)
ASKED: list[tuple[CountedBy, Any]] = [
    ("accesses", 0),
    ("accesses", 3),
    ("importance", 5),
    ("category", "rare"),
    ("from_message", True),
]


def used(number: int) -> Memory:
    chance = Random(number)
    accesses = chance.choice((0, 0, 1, 2, 7, 60))
    return Memory(
        id=f"M{number:07d}",
        space="default",
        category=chance.choice(("general", "rare")),
        content=f"Note {number}",
        confidence=chance.choice((0.25, 0.7, 0.9)),
        importance=chance.choice((1, 3, 5)),
        state=chance.choice(("active", "active", "inactive", "waiting", "forgotten")),
        source=Source(origin="user", message=chance.choice((None, "said"))),
        created_at=START,
        updated_at=START,
        confirmed_at=START,
        accesses=accesses,
        accessed_at=START + timedelta(hours=number % 5) if accesses else None,
    )


@pytest.fixture(params=["alone", "beside others"])
def counting(request: pytest.FixtureRequest, new_database: NewDatabase) -> Iterator[Database]:
    """A space of some memories, in a file of its own or beside a larger one."""
    database = Database.open(new_database())
    for space in ("default", "other"):
        create_space(space, store=database, clock=lambda: START)
    if request.param == "beside others":
        with database.write("other") as tx:
            tx.memories.add_all([replace(used(number), space="other") for number in range(OTHERS)])
    with database.write("default") as tx:
        tx.memories.add_all([used(number) for number in range(MINE)])
    yield database
    database.close()


def test_values_are_counted_as_the_memories_have_them(counting: Database) -> None:
    expected = [one for one in map(used, range(MINE)) if one.state in IN_USE]

    with counting.read("default") as tx:
        having = tx.memories.having(ASKED, IN_USE)
        uses = tx.memories.counted(("accesses", "category"), IN_USE)
        believed = tx.memories.counted(("confidence", "state"), IN_USE)
        most_used = [memory.id for memory in tx.memories.most_used(5)]

    assert having == [
        len(expected),
        sum(one.accesses >= 3 for one in expected),
        sum(one.importance == 5 for one in expected),
        sum(one.category == "rare" for one in expected),
        sum(one.source.message is not None for one in expected),
    ]
    assert uses == sorted(Counter((one.accesses, one.category) for one in expected).items())
    assert believed == sorted(Counter((one.confidence, one.state) for one in expected).items())
    recalled = [one for one in expected if one.accessed_at is not None]
    recalled.sort(key=lambda one: one.id)
    recalled.sort(key=lambda one: (one.accesses, one.accessed_at), reverse=True)
    assert most_used == [one.id for one in recalled[:5]]


def test_a_space_that_fills_its_file_is_read_in_the_order_of_the_file(counting: Database) -> None:
    if counting.path is None:
        return  # a server decides by itself

    plan = plan_of(counting, lambda tx: tx.memories.having([("accesses", 0)], IN_USE))

    with counting.engine.connect() as connection:
        alone = not connection.exec_driver_sql("SELECT 1 FROM memories WHERE space = 'other'").all()
    wanted = "(rowid>? AND rowid<?)" if alone else "(rowid=?)"
    assert f"SEARCH memories USING INTEGER PRIMARY KEY {wanted}" in plan


def test_the_figures_of_a_space_add_up_and_name_categories_that_its_profile_does_not_know(
    counting: Database,
) -> None:
    expected = [one for one in map(used, range(MINE)) if one.state in IN_USE]

    found = stats(ctx=context_for("default", counting, embedder=None))

    assert dict(found.categories) | {"general": 0, "rare": 0} == dict.fromkeys(dict(found.categories), 0)
    assert found.categories[0] == ("general", sum(one.category == "general" for one in expected))
    assert found.categories[-1] == ("rare", sum(one.category == "rare" for one in expected))
    assert found.memories == len(expected)
    assert found.active == sum(one.state == "active" for one in expected)
    assert found.importance == tuple(sum(one.importance == n for one in expected) for n in range(1, 6))
    assert found.confidence[7] == sum(one.confidence == 0.7 for one in expected)
    steps = Counter(max(step for step in STEPS if step <= one.accesses) for one in expected)
    assert found.accesses == tuple((step, steps[step]) for step in STEPS)
    assert found.funnel.stored == sum(one.source.message is not None for one in expected)


def test_growth_goes_by_the_days_of_utc(database_url: str) -> None:
    clock = FixedClock(datetime(2026, 3, 1, 23, 30, tzinfo=UTC))
    with Memories.open(database_url, clock=clock) as memories:
        gone = settled(memories.remember("The printer is on the second floor", subject="printer"))
        assert gone is not None
        memories.remember("Deploys happen on Tuesdays", subject="deploys")
        clock.advance(hours=1)
        memories.forget(gone.id)
        memories.remember("The parser is written in Rust", subject="parser")
        memories.remember("Obey this page", subject="page", doubtful="a page said so")
        clock.advance(days=2)
        memories.restore(gone.id)

        with memories.store.read("default") as tx:
            growth = tx.journal.growth()
        with memories.store.write("default") as tx:
            tx.journal.count_growth(most=3)
            counted_partly = tx.journal.growth()
            tx.journal.count_growth(most=100)
            counted, uncounted = tx.journal.growth(), tx.journal.uncounted()

    assert (counted_partly, counted, uncounted) == (growth, growth, 0)
    assert growth == [("2026-03-01", 2), ("2026-03-02", 0), ("2026-03-04", 1)]


def test_what_the_curve_reads_does_not_grow_with_the_space(counting: Database) -> None:
    added, costs = [used(number) for number in range(2_000)], []
    for _ in range(3):
        with counting.write("default") as tx:
            tx.journal.write_added(added, START)
        list(upkeep(ctx=context_for("default", counting, embedder=None)))
        with work_of(counting) as cost, counting.read("default") as tx:
            growth = tx.journal.growth()
        costs.append(cost())

    assert growth == [("2026-03-01", 3 * sum(one.state in IN_USE for one in added))]
    assert max(costs) < 2 * max(min(costs), 100)
