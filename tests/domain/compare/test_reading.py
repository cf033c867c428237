"""What one text tells on its own: words, negation, change, order."""

from __future__ import annotations

import pytest

from holdfast.domain.compare.change import changes
from holdfast.domain.compare.lexicon import lexicon, phrase
from holdfast.domain.compare.reading import Token, read
from holdfast.domain.compare.words import plain, stem


def token(text: str, surface: str) -> Token:
    return next(one for one in read(text).tokens if one.surface == surface)


@pytest.mark.parametrize(
    "forms",
    [
        ("store", "stores", "stored", "storing"),
        ("stop", "stops", "stopped", "stopping"),
        ("take", "takes", "took", "taken", "taking"),
        ("try", "tries", "tried", "trying"),
        ("cancel", "cancelled", "canceled"),
        ("install", "installs", "installed"),
        ("child", "children"),
    ],
)
def test_the_forms_of_a_word_share_a_base(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_case_quotes_and_stops_are_no_part_of_the_plain_text() -> None:
    assert plain("Don’t  STOP.") == plain("don't stop")


@pytest.mark.parametrize(
    ("text", "word", "negated"),
    [
        ("Do not edit generated files", "edit", True),
        ("Generated files are never edited", "edited", True),
        ("Takes no sugar in tea", "sugar", True),
        ("Drinks tea without sugar", "sugar", True),
        ("Drinks tea without sugar", "tea", False),
        ("Async code is banned here", "code", True),
        ("Stop running the tests", "tests", True),
        ("Does not start without the database", "database", False),
        ("Fails to start", "start", True),
        ("Uses tabs rather than spaces", "spaces", True),
        ("It is not the case that nobody knows", "knows", False),
    ],
)
def test_a_negation_bears_on_what_it_denies(text: str, word: str, negated: bool) -> None:
    assert token(text, word).negated is negated


@pytest.mark.parametrize(
    "text",
    [
        "The zone was moved to another provider",
        "Has switched every editor to a light theme",
        "Gave up smoking in January",
        "The old token no longer works",
        "From now on replies are long",
    ],
)
def test_a_change_is_noticed(text: str) -> None:
    assert changes(text)


@pytest.mark.parametrize(
    "text",
    [
        "Moves old files to the archive",
        "Deprecated endpoints stay available for a year",
        "Use tabs instead of spaces",
        "Once the disk is full nothing is recorded any more",
    ],
)
def test_a_habit_is_no_change(text: str) -> None:
    assert not changes(text)


@pytest.mark.parametrize(
    ("one", "other"), [("reachable", "unreachable"), ("formal", "informal"), ("harmful", "harmless")]
)
def test_a_negating_prefix_or_ending_makes_an_opposite(one: str, other: str) -> None:
    assert lexicon().opposed(phrase(one), phrase(other))


@pytest.mark.parametrize(("one", "other"), [("dent", "indent"), ("stall", "install"), ("play", "display")])
def test_a_chance_beginning_makes_no_opposite(one: str, other: str) -> None:
    assert not lexicon().opposed(phrase(one), phrase(other))


def test_what_is_spoken_of_stands_before_the_verb() -> None:
    text = "The nightly backup runs on the old server"

    assert token(text, "backup").topic
    assert not token(text, "server").topic
