"""Events and attempts: what is refused, and with which words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast import Memories
from holdfast.app.wiring import open_store
from holdfast.engine.spaces import create_space
from holdfast.errors import Invalid, TooLong, TooShort
from holdfast.testing import FixedClock
from tests.requirements_ledger import requirement


@pytest.fixture
def ops(database_url: str, clock: FixedClock) -> Iterator[Memories]:
    store = open_store(database_url)
    create_space("ops", store=store, clock=clock, profile="ops")
    create_space("notes", store=store, clock=clock, profile="files")
    yield Memories.of(store, "ops", clock=clock)
    store.close()


def test_an_unknown_level_names_the_allowed_ones(ops: Memories) -> None:
    with pytest.raises(Invalid, match="unknown level 'fatal': use one of info, warning, critical"):
        ops.record_event("fatal", "x")


def test_an_unknown_action_names_the_allowed_ones(ops: Memories) -> None:
    with pytest.raises(Invalid, match="unknown action 'reboot': use one of restart, redeployment"):
        ops.record_attempt("reboot", "x", True)


def test_a_space_whose_profile_has_none_keeps_none(ops: Memories, clock: FixedClock) -> None:
    notes = Memories.of(ops.store, "notes", clock=clock)

    with pytest.raises(Invalid, match="has no events"):
        notes.record_event("info", "x")
    with pytest.raises(Invalid, match="has no cooldowns"):
        notes.record_attempt("restart", "x", True)
    assert notes.events() == []
    assert notes.cooldowns() == []


@pytest.mark.parametrize("text", ["", "  \n ", "\u200b"])
def test_an_event_needs_a_text_and_an_attempt_a_service(ops: Memories, text: str) -> None:
    with pytest.raises(TooShort):
        ops.record_event("info", text)
    with pytest.raises(TooShort):
        ops.record_attempt("restart", text, True)


def test_what_is_too_long_is_refused(ops: Memories) -> None:
    with pytest.raises(TooLong, match="the limit is 16,384"):
        ops.record_event("info", "x" * 16_385)
    with pytest.raises(TooLong, match="service"):
        ops.record_event("info", "x", service="s" * 201)


def test_negative_pages_are_refused(ops: Memories) -> None:
    with pytest.raises(Invalid, match="limit must be 0 or more"):
        ops.events(limit=-1)
    with pytest.raises(Invalid, match="offset must be 0 or more"):
        ops.events(offset=-1)


def test_a_space_sees_its_own_alone(ops: Memories, clock: FixedClock) -> None:
    create_space("other", store=ops.store, clock=clock, profile="ops")
    other = Memories.of(ops.store, "other", clock=clock)
    ops.record_event("info", "mine")
    ops.record_attempt("restart", "mine", True)

    assert other.events() == []
    assert other.cooldowns() == []


def test_a_page_of_events_goes_on_where_the_last_one_ended(ops: Memories, clock: FixedClock) -> None:
    for number in range(5):
        ops.record_event("info", f"number {number}")
        clock.advance(hours=1)

    pages = [[event.content for event in ops.events(limit=2, offset=offset)] for offset in (0, 2, 4)]

    assert pages == [["number 4", "number 3"], ["number 2", "number 1"], ["number 0"]]


@requirement("ops.cooldowns")
def test_the_spellings_of_a_service_are_one_cooldown(ops: Memories, clock: FixedClock) -> None:
    ops.record_attempt("restart", "Jellyfin", True)
    clock.advance(minutes=1)
    ops.record_attempt("restart", "jellyfin", True)

    [standing] = ops.cooldowns()

    assert standing.service == "Jellyfin"
    assert len(standing.attempts) == 2
    assert not standing.allowed
    assert ops.cooldowns(service="JELLYFIN") == [standing]


@requirement("ops.events")
def test_events_are_found_by_any_spelling_of_their_service(ops: Memories, clock: FixedClock) -> None:
    ops.record_event("info", "went down", service="Media Server")
    clock.advance(minutes=1)
    ops.record_event("info", "is up again", service="media-server")
    ops.record_event("info", "is something else", service="mediaserver2")

    found = ops.events(service="media_server")

    assert [event.content for event in found] == ["is up again", "went down"]
