"""Filters and orders mean the same in Python and in both databases."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app import wiring
from holdfast.domain.memory import ORIGINS, STATES, Memory, Source
from holdfast.domain.query import EVERYTHING, Filter, Order, admits, in_order
from holdfast.engine.ports import Store
from holdfast.engine.spaces import create_space
from holdfast.testing import FixedClock

ORDERS: tuple[Order, ...] = get_args(Order)
START = datetime(2026, 3, 1, tzinfo=UTC)
# Letters that differ by case only, that collate apart from their code points, or that LIKE and JSON escape.
NAMES = ("web", "Web", "wéb", "äpfel", "zebra", "Zebra", "日本", "_", "a b")
TAGS = ("blue", "Blue", "BLUE", "blu", "50%", "5_%", 'say "hi"', "back\\slash", "日本", "a,b", "[x]", "é")
PROJECTS = (None, "atlas", "Atlas", "b")
SESSIONS = (None, "s1", "S1")
WORDS = ("TEXT", "WÉB", "ÄPFEL", "äpf", "日本", "text web", "BLUE 50%", "_", "%", "[", ",", '"', "\\", "É")
MOMENTS = tuple(START + timedelta(days=days, microseconds=days) for days in range(-3, 4))


def rows(count: int, space: str) -> list[Memory]:
    """Memories of few values, so that every filter meets some and orders meet ties."""
    chance = random.Random(20260301)
    return [
        Memory(
            id=f"{'Aa0zZ9bB'[chance.randrange(8)]}{number:07d}",
            space=space,
            category=chance.choice(("timing", "fact", "Fact", "_x")),
            content=f"text {number}",
            subject=chance.choice((None, *NAMES)),
            project=chance.choice(PROJECTS),
            confidence=chance.choice((0.0, 0.3, 0.7, 0.8, 1.0)),
            importance=chance.randint(1, 5),
            tags=tuple(sorted(chance.sample(TAGS, chance.randrange(4)))),
            state=chance.choice(STATES),
            source=Source(origin=chance.choice(ORIGINS), session=chance.choice(SESSIONS)),
            created_at=chance.choice(MOMENTS),
            updated_at=chance.choice(MOMENTS),
            confirmed_at=START,
        )
        for number in range(count)
    ]


STORED = rows(250, "query")


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """A store that holds the rows."""
    with closing(wiring.open_store(database_url)) as opened:
        create_space("query", store=opened, clock=FixedClock())
        with opened.write("query") as tx:
            for memory in STORED:
                assert tx.memories.add(memory)
        yield opened


FILTERS = st.builds(
    Filter,
    states=st.lists(st.sampled_from(STATES), min_size=1, unique=True).map(tuple),
    category=st.sampled_from((None, None, "timing", "fact", "FACT")),
    subject=st.sampled_from((None, None, None, "WEB", *NAMES)),
    general=st.sampled_from((False, False, True)),
    tags=st.lists(st.sampled_from((*TAGS, "hi", "slash", "%", '"')), max_size=2).map(tuple),
    project=st.sampled_from((*PROJECTS, "nowhere")),
    other_projects=st.booleans(),
    origin=st.sampled_from((None, None, *ORIGINS)),
    session=st.sampled_from((*SESSIONS, "s9")),
    least_confidence=st.sampled_from((None, 0.0, 0.3, 0.7000001, 1.1)),
    importance=st.sampled_from((None, None, 1, 3, 9)),
    created_after=st.sampled_from((None, *MOMENTS)),
    created_before=st.sampled_from((None, *MOMENTS)),
    changed_after=st.sampled_from((None, *MOMENTS)),
    text=st.sampled_from((None, None, *WORDS)),
)


@pytest.mark.slow
def test_a_filter_admits_the_same_memories_in_python_and_in_the_store(store: Store) -> None:
    agree(store, FILTERS)


@pytest.mark.slow
def test_a_filter_without_tags_does_so_too(store: Store) -> None:
    agree(store, FILTERS.map(lambda where: replace(where, tags=())))


def agree(store: Store, filters: st.SearchStrategy[Filter]) -> None:
    @given(filters, st.sampled_from(ORDERS))
    def found_alike(where: Filter, order: Order) -> None:
        with store.read("query") as tx:
            found = tx.memories.find(where, order=order)
            count = tx.memories.count(where)

        expected = in_order([memory for memory in STORED if admits(where, memory)], order)

        assert [memory.id for memory in found] == [memory.id for memory in expected]
        assert count == len(expected)

    found_alike()


def test_a_tag_finds_exactly_the_memories_that_carry_it(store: Store) -> None:
    for tag in TAGS:
        with store.read("query") as tx:
            found = tx.memories.find(Filter(states=STATES, tags=(tag,)))

        assert {memory.id for memory in found} == {m.id for m in STORED if tag in m.tags}


def test_a_project_has_its_own_memories_and_those_of_none(store: Store) -> None:
    for project in PROJECTS:
        with store.read("query") as tx:
            found = tx.memories.find(Filter(states=STATES, project=project, other_projects=False))

        assert {memory.id for memory in found} == {m.id for m in STORED if m.project in (None, project)}


def test_text_is_found_in_whatever_case_and_script(store: Store) -> None:
    for word in ("ÄPFEL", "äPFEL", "wÉb"):
        with store.read("query") as tx:
            found = tx.memories.find(Filter(states=STATES, text=word))

        assert {memory.subject for memory in found} == {word.lower()}


def test_rows_come_back_from_the_store_as_they_went_in(store: Store) -> None:
    with store.read("query") as tx:
        found = tx.memories.find(EVERYTHING)

    assert found == in_order(STORED, "category")


def test_pages_put_together_are_the_whole_list(store: Store) -> None:
    for order in ORDERS:
        with store.read("query") as tx:
            pages = [tx.memories.find(EVERYTHING, order=order, limit=40, offset=n) for n in range(0, 280, 40)]

        assert [memory for page in pages for memory in page] == in_order(STORED, order)
