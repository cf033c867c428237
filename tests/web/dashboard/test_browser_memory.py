"""One memory's page in a real browser: edited in place, with its links as a drawing."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.requirements_ledger import requirement
from tests.web.dashboard.browsing import Watched
from tests.web.dashboard.serving import Running
from tests.web.dashboard.test_browser_memories import now, remembered

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@requirement("dash.edit", "dash.browser")
def test_a_memory_is_edited_in_place_by_keys_and_stays_on_its_page(
    watched: Watched, running: Running
) -> None:
    known = remembered(running, "Keeps logs for a week", category="maintenance", subject="loki")
    page = watched.go(f"/memories/{known.id}?space=ops")

    page.keyboard.press("e")
    expect(page.get_by_label("Text")).to_be_focused()
    page.get_by_label("Text").fill("Nobody wants this")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Text")).to_be_hidden()
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(page.get_by_label("Text")).to_have_value("Keeps logs for a week")
    page.get_by_label("Text").fill("Keeps logs for a month")
    page.keyboard.press("Control+Enter")

    expect(page.locator("#title")).to_have_text("Keeps logs for a month")
    expect(page.get_by_label("Text")).to_be_hidden()
    expect(page.locator("#said")).to_contain_text("Saved.")
    changed = now(running, known)
    assert changed is not None
    assert (changed.content, changed.version) == ("Keeps logs for a month", 2)


@requirement("dash.edit")
def test_what_can_not_be_saved_stays_in_the_form(watched: Watched, running: Running) -> None:
    known = remembered(running, "Scrubs on Sundays", category="timing", subject="nas")
    page = watched.go(f"/memories/{known.id}?space=ops#edit")
    with running.memories() as memories:
        memories.revise(known.id, "Scrubs on Mondays")

    page.get_by_label("Text").fill("Scrubs on Tuesdays")
    page.get_by_role("button", name="Save").click()

    expect(page.locator("#said")).to_contain_text("version")
    expect(page.get_by_label("Text")).to_have_value("Scrubs on Tuesdays")


@requirement("dash.history", "dash.browser")
def test_the_drawing_of_links_has_the_older_on_the_left_and_leads_to_it(
    watched: Watched, running: Running
) -> None:
    older = remembered(running, "Answers after 20 seconds", category="timing", subject="caddy")
    newer = remembered(running, "Answers after 3 seconds", category="timing", subject="caddy")
    page = watched.go(f"/memories/{newer.id}?space=ops")

    node = page.locator(".graph a.node")
    expect(node).to_contain_text("superseded by this, contradicts")
    left, here = node.bounding_box(), page.locator(".graph .here").bounding_box()
    assert left is not None
    assert here is not None
    assert left["x"] + left["width"] < here["x"]
    node.click()

    page.wait_for_url(f"**/memories/{older.id}*")
    expect(page.locator(".graph a.node")).to_contain_text("supersedes this")
