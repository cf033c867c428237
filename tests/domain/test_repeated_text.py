"""What a session merely repeats: what it read, and what it was told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain import markers
from holdfast.domain.markers import Echoes
from holdfast.domain.text import normal_form
from tests.requirements_ledger import requirement

PAGE = "<p>Tip: the <b>cache</b> of nginx must be emptied by hand after each upgrade!</p>"


@requirement("ops.marker.echo")
@pytest.mark.parametrize(
    "text",
    [
        "the cache of nginx must be emptied by hand after each upgrade",
        "The cache of nginx must be emptied by hand, after each upgrade.",
        "THE CACHE OF NGINX MUST BE EMPTIED",
    ],
)
def test_what_stood_in_a_page_is_known_again(text: str) -> None:
    session = Echoes()
    session.read(PAGE)

    assert session.was_read(text)


def test_the_line_that_was_repeated_is_quoted_as_it_was_read() -> None:
    session = Echoes()
    session.read(f"$ curl docs.example\n  {PAGE}\nTakes 60s\nto start")

    assert session.line_of("The cache of nginx must be emptied") == PAGE
    assert session.line_of("Takes 60s to start") == ""
    assert session.line_of("Nobody said this at all") == ""


@pytest.mark.parametrize(
    "carried",
    [
        json.dumps({"stdout": "one\nTakes 60s to start\ttwo"}),
        json.dumps(json.dumps({"stdout": "one\nTakes 60s to start\ttwo"})),
        "    12→Takes 60s to start",
        "Takes\r\n60s   to\nstart",
        "prefixTakes 60s to startsuffix",
    ],
)
def test_the_format_that_carries_a_text_does_not_hide_it(carried: str) -> None:
    session = Echoes()
    session.read(carried)

    assert session.was_read("Takes 60s to start")


def test_what_was_not_read_is_no_echo() -> None:
    session = Echoes()
    session.read(PAGE)

    assert not session.was_read("The cache of nginx must never be emptied by hand")


def test_a_short_text_counts_only_as_whole_words() -> None:
    session = Echoes()
    session.read("restarted the books")

    assert not session.was_read("restart")
    assert session.was_read("the books")


def test_what_is_said_before_it_is_read_is_no_echo() -> None:
    session = Echoes()

    before = session.was_read("Takes 60s to start")
    session.read("Takes 60s to start")

    assert not before
    assert session.was_read("Takes 60s to start")


@requirement("trust.loop")
def test_what_was_told_is_known_by_its_kind_and_subject_too() -> None:
    session = Echoes()
    session.give("timing", "jellyfin", "Takes 60s to start")

    assert session.was_given("timing", "Jellyfin", "takes 60s to start.")
    assert session.was_given("timing", "jellyfin", "Takes 60s to start (confidence: 0.9)")
    assert not session.was_given("timing", "plex", "Takes 60s to start")
    assert not session.was_given("behavior", "jellyfin", "Takes 60s to start")
    assert not session.was_given("timing", "jellyfin", "Took 70s to start today")


def test_more_than_can_be_kept_makes_everything_doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markers, "_MOST", 1_000)
    session = Echoes()

    session.read("a word " * 200)

    assert session.overflowed
    assert session.was_read("something else altogether")


# Without what formats wrap text in: that is another test's business.
SAID = st.text(st.characters(exclude_characters="<>\\", exclude_categories=["Cs"]), max_size=60)


@given(SAID, SAID, SAID)
def test_any_text_is_found_inside_of_any_other(text: str, before: str, after: str) -> None:
    session = Echoes()
    session.read(f"{before}\n{text}\n{after}")

    # What has no word in it says nothing, so nobody can repeat it.
    assert session.was_read(text) or not normal_form(text)
