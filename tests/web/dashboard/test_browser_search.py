"""Search, Stats, Files and Settings in a real browser: live while typing, slider, lazy parts, dialogs."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.requirements_ledger import requirement
from tests.web.dashboard.browsing import Watched
from tests.web.dashboard.serving import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def told(running: Running) -> None:
    with running.memories() as memories:
        memories.remember("Takes 60s to start after a restart", category="timing", subject="jellyfin")
        memories.remember("Needs the NFS mount before it starts", category="dependency", subject="jellyfin")
        memories.remember("It is currently broken again", category="behavior", subject="plex")


@requirement("dash.search", "dash.browser", "trust.as-of")
def test_search_answers_while_one_types_and_the_slider_goes_back_in_time(watched: Watched) -> None:
    page = watched.go("/search?space=ops")

    page.keyboard.press("/")
    page.keyboard.type("how long does jellyfin take to start")
    expect(page.locator(".hit").first).to_contain_text("Takes 60s to start")
    expect(page.locator(".hit").first).to_contain_text("Relevance")
    assert "q=how+long" in page.url
    assert page.get_by_label("Question").evaluate("field => field === document.activeElement")
    page.get_by_label("Go back in time").focus()
    page.keyboard.press("ArrowLeft")

    expect(page.get_by_text("No hits")).to_be_visible()
    assert "as_of=" in page.url
    page.go_back()
    expect(page.locator(".hit").first).to_contain_text("Takes 60s to start")


@requirement("dash.stats", "dash.browser")
def test_stats_look_for_junk_by_themselves_and_open_their_tables(watched: Watched) -> None:
    page = watched.go("/stats?space=ops")

    expect(page.locator("#audit")).to_contain_text("It is currently broken again")
    page.locator(".as-table summary").first.click()
    expect(page.get_by_role("cell", name="3", exact=True).first).to_be_visible()


@requirement("files.by-hand", "dash.browser")
def test_files_are_synced_by_a_button(watched: Watched, running: Running, tmp_path: Path) -> None:
    running.run("files", "init", str(tmp_path / "memory"), "--space", "helper")
    with running.memories("helper") as memories:
        memories.remember("Mara drinks green tea", category="person", subject="mara")
    page = watched.go("/files?space=helper")

    page.get_by_role("button", name="Sync now").click()

    expect(page.get_by_role("status").filter(has_text="sync")).to_be_visible()
    page.get_by_role("link", name=".md").first.click()
    expect(page.get_by_text("Mara drinks green tea")).to_be_visible()


@requirement("dash.browser")
def test_settings_check_test_make_and_revoke(watched: Watched) -> None:
    page = watched.go("/settings?space=ops")

    expect(page.locator("#checkup")).to_contain_text("holdfast.db")
    page.get_by_role("button", name="Test").click()
    expect(page.locator("#trials")).to_contain_text("No model is configured")
    page.locator("summary", has_text="Create a token").click()
    page.get_by_label("Name").fill("For a script")
    page.get_by_role("button", name="Create token").click()
    expect(page.locator(".made code")).to_contain_text("hf_")
    page.wait_for_load_state()  # until its scripts have run, "Revoke…" opens a page of its own
    page.get_by_role("button", name="Revoke…").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("can’t be undone")
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("Revoked the token For a script.")).to_be_visible()


@requirement("dash.search", "dash.browser")
def test_on_a_phone_no_word_of_a_score_is_broken(watched: Watched, running: Running) -> None:
    with running.memories() as memories:
        memories.say("talk", "user", "The gate of the marina opens at seven in the morning")
    watched.page.set_viewport_size({"width": 390, "height": 844})
    page = watched.go("/search?space=ops&q=when+does+the+gate+of+the+marina+open")

    expect(page.locator(".score-sum").first).to_contain_text("of its own text")
    assert page.evaluate(_BROKEN_WORDS) == []


_BROKEN_WORDS = """() => {
  const broken = [];
  for (const list of document.querySelectorAll("details[open] dl")) {
    const texts = document.createTreeWalker(list, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      for (const word of node.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) broken.push(word[0]);
      }
    }
  }
  return broken;
}"""
