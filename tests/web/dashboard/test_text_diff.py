"""Wordings as pages show them: marked where they differ, unmarked where they have nothing in common."""

from __future__ import annotations

import pytest

from holdfast.web.dashboard.formats import compared, named, shared
from tests.requirements_ledger import requirement
from tests.web.dashboard.serving import Board
from tests.web.dashboard.test_inbox_page import cards, knows, parts, waits


@pytest.mark.parametrize(
    ("before", "after", "in_common"),
    [
        ("Takes 60 s", "Takes 60 s", 1.0),
        ("Takes 60 s", "Takes 70 s", 6 / 8),
        ("abc", "xyz", 0.0),
        ("", "xyz", 0.0),
    ],
)
def test_what_is_shared_is_told_as_a_part_of_the_whole(before: str, after: str, in_common: float) -> None:
    assert shared(compared(before, after)[0]) == pytest.approx(in_common)


@requirement("trust.inbox")
def test_a_reason_names_the_memory_that_it_is_about_and_not_its_id(board: Board) -> None:
    known = board.memories().show(knows(board, "The UPS holds for 11 minutes")).memory

    pieces = named(f"it contradicts {known.id}, and {known.id}x is none", [known])

    assert pieces == [("it contradicts ", None), (known.id, known), (f", and {known.id}x is none", None)]
    assert named("nothing", []) == [("nothing", None)]


@requirement("trust.inbox")
def test_what_is_only_near_is_not_struck_out(board: Board) -> None:
    knows(board, "Mount options were copied from the wiki")
    far = waits(board, "Set JAVA_OPTS as its documentation says")
    near = waits(board, "Mount options are listed in the handbook too")

    found = cards(board.browser())

    assert parts(found[far], "del") == parts(found[far], "ins") == parts(found[far], "mark") == []
    assert parts(found[near], "del") == []


@requirement("trust.inbox")
def test_a_card_quotes_the_known_memory_that_it_waits_for(board: Board) -> None:
    known = knows(board, "The UPS holds for 11 minutes")
    waiting = waits(board, "The UPS holds for 30 minutes", why=f"it contradicts {known}")

    card = cards(board.browser())[waiting]

    assert f"it contradicts {known}" not in card.whole_text
    assert "“The UPS holds for 11 minutes”" in parts(card, "a")
