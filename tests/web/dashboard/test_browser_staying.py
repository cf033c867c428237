"""A page that stays open: signed out, cut off, gone back to, worked on by keys; nothing typed is lost."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.requirements_ledger import requirement
from tests.web.dashboard.browsing import Watched
from tests.web.dashboard.serving import Running
from tests.web.dashboard.test_browser_memories import remembered, row

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LOOK_AGAIN = "htmx.trigger(document.body, 'changed')"


def editing(page: Page, memory: Any, text: str) -> Any:
    row(page, memory).get_by_role("button", name="Edit").click()
    field = row(page, memory).get_by_label("Text")
    field.fill(text)
    return field


@requirement("dash.live")
def test_who_is_signed_out_keeps_what_was_typed_and_goes_on_after_signing_in(
    watched: Watched, running: Running
) -> None:
    known = remembered(running, "Takes 60s to start", subject="jellyfin")
    page = watched.go("/memories?space=ops")
    field = editing(page, known, "Takes 70s to start")
    cookies = watched.context.cookies()

    watched.context.clear_cookies()
    page.evaluate(LOOK_AGAIN)
    expect(page.get_by_text("You are signed out")).to_be_visible()
    assert page.locator("#out a").get_attribute("href") == "/login?next=%2Fmemories%3Fspace%3Dops"
    expect(field).to_have_value("Takes 70s to start")
    watched.context.add_cookies(cookies)  # type: ignore[arg-type]  # as they were told
    page.evaluate(LOOK_AGAIN)

    expect(page.get_by_text("You are signed out")).to_be_hidden()
    row(page, known).get_by_role("button", name="Save").click()
    expect(row(page, known)).to_contain_text("Takes 70s to start")


def test_a_page_says_when_the_service_is_away_and_when_it_is_back(watched: Watched) -> None:
    page = watched.go("/memories?space=ops")
    line = page.get_by_text("The service is unreachable, so")

    watched.context.set_offline(True)
    for _ in range(2):
        with page.expect_event("requestfailed"):
            page.evaluate(LOOK_AGAIN)
    expect(line).to_be_visible()
    watched.context.set_offline(False)
    page.evaluate(LOOK_AGAIN)

    expect(line).to_be_hidden()
    watched.trouble = [one for one in watched.trouble if not one.startswith("htmx:")]  # what was cut off


@requirement("dash.browser")
def test_the_keys_stay_in_the_row_when_it_was_edited_or_left(watched: Watched, running: Running) -> None:
    known = remembered(running, "Needs the extension vectors", category="dependency", subject="immich")
    page = watched.go("/memories?space=ops")
    edit = row(page, known).get_by_role("button", name="Edit")

    edit.press("Enter")
    expect(row(page, known).get_by_label("Text")).to_be_focused()
    page.keyboard.press("Escape")
    expect(edit).to_be_focused()
    page.keyboard.press("Enter")
    row(page, known).get_by_label("Text").fill("Needs the extension vectors 0.3")
    page.keyboard.press("Control+Enter")

    expect(row(page, known)).to_contain_text("vectors 0.3")
    expect(edit).to_be_focused()


@requirement("dash.delete")
def test_a_row_that_is_deleted_while_it_is_edited_goes(watched: Watched, running: Running) -> None:
    known = remembered(running, "Listens on port 8096", category="behavior", subject="emby")
    page = watched.go("/memories?space=ops")
    editing(page, known, "Listens on port 8097")

    row(page, known).get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete for good").click()

    expect(row(page, known)).to_have_count(0)
    expect(page.locator("main")).to_be_focused()


@requirement("dash.bulk")
def test_what_popped_up_for_an_action_closes_with_it(watched: Watched, running: Running) -> None:
    known = remembered(running, "Writes its log at 05:00", category="behavior", subject="relay")
    page = watched.go("/memories?space=ops")
    approve = page.get_by_role("button", name="Approve")
    row(page, known).get_by_role("checkbox").check()

    expect(approve).to_be_disabled()  # what is selected does not wait
    page.get_by_text("Tag", exact=True).click()
    page.get_by_label("Tags to add").fill("night")
    page.get_by_role("button", name="Add", exact=True).click()

    expect(row(page, known)).to_contain_text("night")
    expect(page.get_by_label("Tags to add")).to_be_hidden()


@requirement("dash.history")
def test_undo_on_a_memorys_own_page_shows_it_as_it_was(watched: Watched, running: Running) -> None:
    known = remembered(running, "Runs on port 9000", category="behavior", subject="portainer")
    page = watched.go(f"/memories/{known.id}?space=ops")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("Runs on port 9443")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#title")).to_have_text("Runs on port 9443")

    page.get_by_role("button", name="Undo").click()

    expect(page.locator("#title")).to_have_text("Runs on port 9000")
    expect(page.get_by_role("heading", name="Version 3")).to_be_visible()


@requirement("dash.filter")
def test_back_goes_to_the_choice_before(watched: Watched, running: Running) -> None:
    remembered(running, "Queues mail for an hour", category="behavior", subject="mailer")
    page = watched.go("/memories?space=ops")
    search = page.get_by_label("Search")

    search.press_sequentially("mai")
    page.wait_for_url("**q=mai")
    search.press_sequentially("l")
    page.wait_for_url("**q=mail")
    page.get_by_role("radio", name="Inactive").check()
    page.wait_for_url("**state=inactive**")
    page.go_back(wait_until="commit")
    expect(page.get_by_role("radio", name="All")).to_be_checked()  # loaded anew
    page.wait_for_load_state("load")
    assert page.url.endswith("/memories?space=ops&q=mail")
    page.go_back(wait_until="commit")

    expect(search).to_have_value("")
    assert page.url.endswith("/memories?space=ops")


@requirement("dash.browser")
def test_an_empty_space_fits_a_phone(chromium: Any, running: Running) -> None:
    window = Watched(chromium, running, viewport={"width": 390, "height": 800})
    wide = []
    for path in ("", "memories", "sessions", "events", "cooldowns", "inbox", "search", "stats", "files"):
        page = window.go(f"/{path}?space=helper")
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wide.append(path)

    assert wide == []
    window.close()
