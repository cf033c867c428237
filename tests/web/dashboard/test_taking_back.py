"""What a page shows after an act and after its Undo, and what an act leaves alone, on both databases."""

from __future__ import annotations

import pytest

from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board, posted
from tests.web.dashboard.test_memory_actions import now, remembered, told, undone

LOOKING = {"HX-Request": "true", "X-Seen": "0"}


@requirement("dash.history")
def test_an_open_page_of_a_memory_gets_what_changed_and_nothing_otherwise(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    address = f"/memories/{memory.id}?space=ops"
    browser = board.browser()
    first = Page(browser.get(address, headers=LOOKING).text)
    seen = first.all("div", class_="columns")[0].attributes["data-seen"]

    quiet = browser.get(address, headers={**LOOKING, "X-Seen": seen})
    posted(browser, "/memories/pin?space=ops", {"id": memory.id})
    fresh = Page(browser.get(address, headers={**LOOKING, "X-Seen": seen}).text)

    assert quiet.status_code == 204
    assert [one.whole_text for one in first.by_id("acts").children][1:2] == ["Pin"]
    assert [one.whole_text for one in fresh.by_id("acts").children][1:2] == ["Unpin"]
    assert "pinned" in fresh.by_id("card-text").whole_text


def test_a_restored_memory_can_be_put_away_again(board: Board) -> None:
    memory = remembered(board, "Likes oat milk in her coffee", "helper")
    board.memories("helper").forget(memory.id)
    browser = board.browser()

    posted(browser, f"/memories/{memory.id}/restore?space=helper", {})
    restored = now(board, memory).state
    status = undone(browser, "helper")

    assert (restored, status) == ("active", 204)
    assert now(board, memory).state == "forgotten"


def test_without_a_script_undo_leads_back_to_the_page_it_stands_on(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    address = f"/memories/{memory.id}?space=ops"
    browser = board.browser()
    posted(browser, "/memories/pin?space=ops", {"id": memory.id, "back": address}, script=False)

    [form] = Page(browser.get(address).text).by_id("said").children[0].children[1:2]
    fields = {one.attributes["name"]: one.attributes["value"] for one in form.children if one.tag == "input"}
    answer = posted(browser, form.attributes["action"], fields, script=False)

    assert (answer.status_code, answer.headers["location"]) == (303, address)
    assert not now(board, memory).pinned


@requirement("dash.create")
@pytest.mark.parametrize("script", [True, False])
def test_updating_a_known_one_from_the_form_for_new_ones_changes_its_text_alone(
    board: Board, script: bool
) -> None:
    known = remembered(board, "Likes oat milk in her coffee", "helper", subject="Ada", tags=("drinks",))
    fields = {
        "category": "preference", "subject": "Ada", "content": "Likes oat milk in the coffee",
        "tags": "morning", "confidence": "0.3", "text_only": str(known.version),
    }  # fmt: skip

    posted(board.browser(), f"/memories/{known.id}/edit?space=helper", fields, script=script)

    memory = now(board, known)
    assert memory.content == "Likes oat milk in the coffee"
    assert (memory.subject, memory.confidence) == ("Ada", known.confidence)
    assert set(memory.tags) == {"drinks", "morning"}


@requirement("dash.edit")
def test_a_slider_that_stands_at_its_nearest_step_leaves_confidence_alone(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start", confidence=0.655)
    fields = {"content": "Takes 70s to start", "confidence": "0.66", "believed": "0.655"}
    browser = board.browser()

    posted(browser, f"/memories/{memory.id}/edit?space=ops", fields)
    untouched = now(board, memory)
    posted(browser, f"/memories/{memory.id}/edit?space=ops", {**fields, "confidence": "0.67"})

    assert (untouched.content, untouched.confidence) == ("Takes 70s to start", 0.655)
    assert now(board, memory).confidence == 0.67


@requirement("dash.bulk", "trust.inbox")
def test_approving_a_selection_lets_in_what_waits_and_can_be_taken_back(board: Board) -> None:
    known = remembered(board, "The UPS holds for 11 minutes", subject="ups")
    by_tool = board.memories().speaking_as("tool")
    by_tool.remember(
        "The UPS holds for 30 minutes", category="timing", subject="ups", doubtful="a page said so"
    )
    waiting = board.memories().inbox()[0].memory
    browser = board.browser()

    answer = posted(browser, "/memories/approve?space=ops", {"id": [known.id, waiting.id]})
    approved = now(board, waiting).state
    status = undone(browser)

    assert (answer.status_code, approved, status) == (204, "active", 204)
    assert now(board, waiting).state == "waiting"
    assert now(board, known).confidence == known.confidence


def test_approving_what_does_not_wait_says_so(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    browser = board.browser()

    answer = posted(browser, "/memories/approve?space=ops", {"id": memory.id})

    assert answer.status_code == 422
    assert "None of the selected memories is waiting for review" in told(browser).all("div")[0].whole_text


def test_the_deleted_of_a_space_that_keeps_none_say_why_there_are_none(board: Board) -> None:
    remembered(board, "Takes 60s to start")

    shown = Page(board.browser().get("/memories?space=ops&state=deleted").text)

    assert "Deleting is permanent" in shown.by_id("no-rows").whole_text


def test_what_went_wrong_reads_as_a_sentence_without_advice_for_the_command_line(board: Board) -> None:
    page = Page(board.browser().get("/memories/nothere1?space=ops").text)

    assert "There is no memory" in page.by_id("main").whole_text
    assert [one.whole_text for one in page.all("code")] == []
