"""/ as plain HTML, on both databases: what is worth knowing at first sight."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from holdfast.app.wiring import utc_now
from holdfast.domain.jobs import Job
from holdfast.engine.memories import Memories
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board


def shown(board: Board, space: str = "ops") -> Page:
    answer = board.browser().get(f"/?space={space}")
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def test_an_empty_space_tells_how_to_get_its_first_memory(board: Board) -> None:
    page = shown(board)

    assert "No memories yet" in page.by_id("main").whole_text
    commands = [one.attributes["data-copy"] for one in page.all("button") if "data-copy" in one.attributes]
    assert [command.split()[1] for command in commands] == ["connect", "up"]
    assert "--space ops" in commands[0]
    assert "Add a memory" in page.by_id("main").whole_text


def test_what_is_new_and_what_was_known_are_told_apart(board: Board) -> None:
    past = Memories.of(board.memories().store, "ops", clock=lambda: utc_now() - timedelta(days=9))
    past.remember("Known for long", category="timing", subject="caddy")
    assert "Nothing new since yesterday" in shown(board).by_id("card-new").whole_text
    board.memories().remember("Learnt just now", category="timing", subject="jellyfin")

    page = shown(board)

    assert "2 active memories, 1 new since yesterday." in page.by_id("in-short").whole_text
    assert "Learnt just now" in page.by_id("card-new").whole_text
    listed = {
        one.whole_text for one in page.all("li") if "Known" in one.whole_text or "Learnt" in one.whole_text
    }
    assert {text.endswith("new") or " new " in text for text in listed if "Learnt" in text} == {True}
    assert {" new " in text for text in listed if "Known" in text} == {False}
    assert "Nothing needs attention" in page.by_id("card-needs").whole_text


def test_what_needs_a_person_stands_first(board: Board) -> None:
    memories = board.memories()
    memories.speaking_as("tool").remember(
        "Runs in a box", category="behavior", subject="caddy", doubtful="a page said so"
    )
    memories.record_event("critical", "Disk is full", service="restic")
    for _ in range(2):
        memories.record_attempt("restart", "jellyfin", False)

    text = shown(board).by_id("card-needs").whole_text

    assert "1 memory waiting for review" in text
    assert "Disk is full" in text
    assert "the next restart is allowed" in text


def test_work_that_failed_or_is_late_is_told(board: Board) -> None:
    past = utc_now() - timedelta(days=1)
    late = Job(id="late", kind="late-work", payload={}, due_at=past, created_at=past)
    odd = replace(late, id="odd", kind="odd-work", state="failed", error="it is not possible")
    with board.memories().store.write("ops") as tx:
        tx.jobs.add(late)
        tx.jobs.add(odd)
    board.memories().remember("So that there is something", category="timing")
    text = shown(board).by_id("card-needs").whole_text
    assert "1 job of kind 'odd-work' failed" in text
    assert "1 job has been waiting for more than an hour" in text


def test_recent_sessions_are_named_and_an_open_page_hears_of_the_next(board: Board) -> None:
    board.memories().open_session("run-1", name="Nightly check", client="codex")
    browser = board.browser()
    page = Page(browser.get("/?space=ops").text)
    region = page.by_id("overview-around")
    asked = {"HX-Request": "true", "X-Seen": region.attributes["data-seen"]}

    unchanged = browser.get(region.attributes["hx-get"], headers=asked)
    board.memories().open_session("run-2", name="Jellyfin stutters")
    changed = browser.get(region.attributes["hx-get"], headers=asked)

    assert "Nightly check open" in page.by_id("card-sessions").whole_text
    assert unchanged.status_code == 204
    assert "Jellyfin stutters" in Page(f"<div>{changed.text}</div>").by_id("card-sessions").whole_text


def test_the_start_is_the_overview_and_first_in_the_sidebar(board: Board) -> None:
    page = shown(board)

    names = [one.whole_text for one in page.all("nav")[0].children[0].children]
    assert names[:4] == ["Overview", "Sessions", "Events", "Memories"]
    assert names[4:6] == ["Cooldowns", "Inbox"]
