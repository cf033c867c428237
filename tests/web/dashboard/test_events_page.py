"""/events and /cooldowns as plain HTML, on both databases."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from holdfast.app.wiring import utc_now
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board


def shown(board: Board, path: str) -> Page:
    answer = board.browser().get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def texts(page: Page) -> list[str]:
    return [one.whole_text for one in page.all("p", class_="feed-text")]


@pytest.fixture
def eventful(board: Board) -> Board:
    agent = board.memories().speaking_as("assistant", session="run-7")
    agent.record_event("info", "All services are up")
    agent.record_event("warning", "Library was empty for six hours", service="jellyfin")
    board.memories().record_event("critical", "Disk is full", service="restic")
    return board


@requirement("ops.events")
def test_events_stand_with_level_service_time_and_session_the_latest_first(eventful: Board) -> None:
    page = shown(eventful, "/events?space=ops")

    assert texts(page) == ["Disk is full", "Library was empty for six hours", "All services are up"]
    rows = [row.whole_text for row in page.all("li") if "happening" in row.attributes.get("class", "")]
    assert {"warning", "jellyfin", "run-7"} <= set(rows[1].split())
    assert re.search(r"\b\d\d:\d\d\b", rows[1])
    assert {"info", "general"} <= set(rows[2].split())


@requirement("ops.events")
def test_the_address_says_which_events_are_shown(eventful: Board) -> None:
    for query, expected in {
        "&level=warning": ["Library was empty for six hours"],
        "&service=restic": ["Disk is full"],
        "&session=run-7": ["Library was empty for six hours", "All services are up"],
        "&session=run-7&level=critical": [],
        "&service=%25": [],
    }.items():
        assert texts(shown(eventful, f"/events?space=ops{query}")) == expected, query


@requirement("ops.events")
def test_a_strip_counts_the_events_of_each_day_by_level_and_leads_to_a_day(eventful: Board) -> None:
    today = utc_now().date()

    [*quiet, last] = shown(eventful, "/events?space=ops").by_id("strip").children[0].children

    assert last.attributes["aria-label"] == f"{today}: 1 critical, 1 info, 1 warning"
    assert all("no events" in day.attributes["aria-label"] for day in quiet)
    assert len(texts(shown(eventful, last.attributes["href"]))) == 3
    assert texts(shown(eventful, f"/events?space=ops&until={today - timedelta(days=1)}")) == []


def test_pages_of_events_follow_each_other_though_more_happen_meanwhile(board: Board) -> None:
    for number in range(130):
        board.memories().record_event("info", f"Round {number}")
    browser = board.browser()
    seen: list[str] = []
    address = "/events?space=ops"
    while address:
        page = Page(browser.get(address).text)
        seen += texts(page)
        board.memories().record_event("info", "Something new")
        following = page.all("a", rel="next")
        address = following[0].attributes["href"] if following else ""

    assert seen == [f"Round {number}" for number in range(129, -1, -1)]


def test_a_place_that_is_none_is_told_so(board: Board) -> None:
    browser = board.browser()
    for page in ("events", "sessions", "inbox"):
        for after in ("x", "W10", "WyJhIiwiYiJd", "é", "bnVsbA"):
            answer = browser.get(f"/{page}?space=ops&after={after}")
            assert answer.status_code == 422, (page, after)
            assert "first page" in answer.text


def test_an_open_page_gets_events_when_there_are_new_ones_and_nothing_otherwise(eventful: Board) -> None:
    browser = eventful.browser()
    region = Page(browser.get("/events?space=ops").text).by_id("rows-around")
    asked = {"HX-Request": "true", "X-Seen": region.attributes["data-seen"]}

    unchanged = browser.get(region.attributes["hx-get"], headers=asked)
    eventful.memories().record_event("info", "Disk has room again", service="restic")
    changed = browser.get(region.attributes["hx-get"], headers=asked)

    assert unchanged.status_code == 204
    assert texts(Page(changed.text))[0] == "Disk has room again"
    assert "<html" not in changed.text


def test_a_space_without_events_or_cooldowns_says_why(board: Board) -> None:
    browser = board.browser()

    assert "does not record events" in browser.get("/events?space=helper").text
    assert "has no cooldowns" in browser.get("/cooldowns?space=helper").text
    assert "No events yet" in browser.get("/events?space=ops").text
    assert "No active cooldowns" in browser.get("/cooldowns?space=ops").text


@requirement("ops.cooldowns")
def test_cooldowns_tell_per_service_what_was_done_and_whether_another_is_allowed(board: Board) -> None:
    agent = board.memories().speaking_as("assistant", session="run-9")
    agent.record_attempt("restart", "jellyfin", False, content="Came back, films still stutter")
    agent.record_attempt("restart", "jellyfin", True, content="Recreated it")
    agent.record_attempt("restart", "caddy", True)
    agent.record_attempt("redeployment", "caddy", True, content="Version 3")

    page = shown(board, "/cooldowns?space=ops")

    caddy, jellyfin = (page.by_id(f"service-{name}").whole_text for name in ("caddy", "jellyfin"))
    assert "Restart allowed 1 of 2 in 4 hours" in caddy
    assert "Redeployment allowed again in 23 h 1 of 1 in 24 hours" in caddy
    assert "Restart allowed again in 3 h 2 of 2 in 4 hours" in jellyfin
    assert "failure Came back, films still stutter" in jellyfin
    assert "success Recreated it" in jellyfin
    assert "run-9" in jellyfin
    window = page.by_id("service-jellyfin").children[1].children[1].children[0]
    assert [one.attributes["class"] for one in window.children] == [
        "window-past", "window-blocked", "window-now", "window-good", "window-bad"
    ]  # fmt: skip
    assert [one.whole_text for one in shown(board, "/cooldowns?space=ops&service=caddy").all("h2")] == [
        "caddy"
    ]


def test_an_open_page_of_cooldowns_hears_of_the_next_attempt(board: Board) -> None:
    browser = board.browser()
    region = Page(browser.get("/cooldowns?space=ops").text).by_id("rows-around")
    asked = {"HX-Request": "true", "X-Seen": region.attributes["data-seen"]}

    unchanged = browser.get(region.attributes["hx-get"], headers=asked)
    board.memories().record_attempt("restart", "caddy", True)
    changed = browser.get(region.attributes["hx-get"], headers=asked)

    assert unchanged.status_code == 204
    assert Page(changed.text).by_id("service-caddy")
