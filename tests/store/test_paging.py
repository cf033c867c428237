"""Pages of lists: whatever the order and the sizes, they are the whole list, cut into pieces."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from random import Random
from typing import get_args

import pytest

from holdfast.app.wiring import context_for
from holdfast.domain.memory import Memory, Source, State
from holdfast.domain.query import Filter, Group, MemoryCursor, Order, admits, in_order
from holdfast.engine import find as finding
from holdfast.engine.space_context import SpaceContext
from holdfast.engine.spaces import create_space
from holdfast.store import memory_lists
from holdfast.store.database import Database

START = datetime(2026, 3, 1, tzinfo=UTC)
SEEN: tuple[State, ...] = ("active", "inactive", "waiting")
FILTERS = {
    "all": Filter(states=SEEN),
    "one state": Filter(states=("inactive",)),
    "none": Filter(states=("forgotten",)),
    "category": Filter(states=SEEN, category="rare"),
    "subject": Filter(states=SEEN, subject="s3"),
    "general": Filter(states=SEEN, general=True),
    "session": Filter(states=SEEN, session="run-1"),
    "text": Filter(states=SEEN, text="NOTE 1"),
    "a part of a word": Filter(states=SEEN, text="ote"),
    "tag": Filter(states=SEEN, tags=("odd",)),
    "origin": Filter(states=SEEN, origin="tool"),
}


def some_memories() -> list[Memory]:
    """Most about nothing, some about the same; few values of confidence, many moments that are equal."""
    chance = Random(0)
    moments = [START + timedelta(hours=number) for number in range(40)]
    return [
        Memory(
            id=f"M{number:07d}",
            space="default",
            category=chance.choice(("general", "general", "general", "rare")),
            content=f"Note {number}",
            subject=chance.choice((None, None, None, "s1", "s2", "s3", f"only-{number}")),
            confidence=chance.choice((0.7, 0.7, 0.7, 0.9, 0.25, number / 400)),
            tags=("odd",) if number % 2 else (),
            state=chance.choice(("active", "active", "active", "inactive", "waiting")),
            source=Source(
                origin=chance.choice(("user", "tool")), session=chance.choice((None, "run-1"))
            ),
            created_at=chance.choice(moments),
            updated_at=chance.choice(moments),
            confirmed_at=START,
        )
        for number in chance.sample(range(120), 120)
    ]  # fmt: skip


@pytest.fixture
def stocked(database_url: str) -> Iterator[SpaceContext]:
    database = Database.open(database_url)
    for space in ("default", "other"):
        if database.space(space) is None:
            create_space(space, store=database, clock=lambda: START)
    with database.write("default") as tx:
        tx.memories.add_all(some_memories())
    yield context_for("default", database, embedder=None)
    database.close()


def leafed(ctx: SpaceContext, where: Filter, order: Order, group: Group | None, limit: int) -> list[str]:
    found: list[str] = []
    place: MemoryCursor | None = None
    while len(found) <= 120:
        page = finding.find(where, ctx=ctx, order=order, group=group, limit=limit, after=place)
        found += [memory.id for memory in page.memories]
        if len(page.memories) < limit:
            return found
        place = MemoryCursor.of(page.memories[-1])
    return found


@pytest.mark.parametrize("few", [1_000, 3])
@pytest.mark.parametrize("each", [8, pytest.param(1, marks=pytest.mark.faults)])
def test_pages_of_any_list_follow_each_other_as_the_whole_list_does(
    stocked: SpaceContext, monkeypatch: pytest.MonkeyPatch, few: int, each: int
) -> None:
    monkeypatch.setattr(memory_lists, "_MOST_VALUES", few)
    orders: list[tuple[Order, Group | None]] = list(product(get_args(Order), (None, *get_args(Group))))

    for at, (name, where) in enumerate(FILTERS.items()):
        admitted = [memory for memory in some_memories() if admits(where, memory)]
        for order, group in orders[at % each :: each]:  # so that each order meets some of the filters
            whole = [memory.id for memory in in_order(admitted, order, group)]
            assert leafed(stocked, where, order, group, 17) == whole, (name, order, group)


def test_every_way_to_a_page_tells_the_same_total(stocked: SpaceContext) -> None:
    for name, where in FILTERS.items():
        admitted = [memory for memory in some_memories() if admits(where, memory)]
        page = finding.find(where, ctx=stocked, order="recent", limit=5)
        assert (page.total, page.more) == (len(admitted), False), name


def test_what_fits_very_often_is_counted_to_the_end_only_for_who_asks(
    stocked: SpaceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "MOST", 20)
    where = FILTERS["a part of a word"]
    newest = in_order([memory for memory in some_memories() if admits(where, memory)], "recent")[:5]

    quick = finding.find(where, ctx=stocked, order="recent", limit=5, exact=False)
    exact = finding.find(where, ctx=stocked, order="recent", limit=5)

    assert (quick.total, quick.more) == (20, True)
    assert (exact.total, exact.more) == (120, False)
    assert list(quick.memories) == list(exact.memories)
    assert [memory.id for memory in quick.memories] == [memory.id for memory in newest]
