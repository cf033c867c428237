"""The Memories pages in a real browser, while another process writes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import settled
from holdfast.domain.query import EVERYTHING
from holdfast.errors import NotFound
from tests.requirements_ledger import requirement
from tests.web.dashboard.browsing import Watched
from tests.web.dashboard.serving import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def remembered(running: Running, content: str, space: str = "ops", **fields: Any) -> Memory:
    fields.setdefault("category", "timing" if space == "ops" else "preference")
    with running.memories(space) as memories:
        memory = settled(memories.remember(content, **fields))
    assert memory is not None
    return memory


def now(running: Running, memory: Memory) -> Memory | None:
    with running.memories(memory.space) as memories:
        try:
            return memories.show(memory.id).memory
        except NotFound:
            return None


def row(page: Page, memory: Memory) -> Any:
    return page.locator(f"#m-{memory.id}")


@requirement("dash.browser")
def test_a_link_opens_the_dashboard_once(chromium: Any, running: Running) -> None:
    window = Watched(chromium, running)
    window.context.clear_cookies()
    link = running.login()

    window.page.goto(link)
    window.page.wait_for_url(lambda url: "/login" not in url)
    expect(window.page.get_by_role("heading", level=1)).to_have_text("Overview")
    window.context.clear_cookies()
    window.page.goto(link)

    expect(window.page.get_by_role("alert")).to_contain_text("already used")
    window.close()


@requirement("dash.live", "dash.browser")
def test_what_another_process_writes_appears_without_disturbing_an_edit(
    watched: Watched, running: Running
) -> None:
    known = remembered(running, "Takes 60s to start after a restart", subject="jellyfin")
    page = watched.go("/memories?space=ops")
    row(page, known).get_by_role("button", name="Edit").click()
    field = row(page, known).get_by_label("Text")
    field.fill("Takes 70s to start")

    running.run("remember", "Renews certificates 30 days early", "-c", "maintenance", "-s", "caddy")

    expect(page.get_by_role("row", name="Renews certificates 30 days early")).to_be_visible()
    expect(field).to_have_value("Takes 70s to start")
    expect(field).to_be_focused()


@requirement("dash.live")
def test_a_change_elsewhere_reaches_the_row_and_a_tick_stays(watched: Watched, running: Running) -> None:
    known = remembered(running, "Answers 502 while it reloads", category="behavior", subject="nginx")
    page = watched.go("/memories?space=ops")
    row(page, known).get_by_role("checkbox").check()
    page.get_by_role("heading", level=1).click()

    with running.memories() as memories:
        memories.revise(known.id, "Answers 502 for 3s while it reloads")

    expect(row(page, known)).to_contain_text("502 for 3s")
    expect(row(page, known).get_by_role("checkbox")).to_be_checked()


@requirement("dash.create", "dash.browser")
def test_a_memory_is_added_in_the_dialog_and_undone(watched: Watched, running: Running) -> None:
    page = watched.go("/memories?space=ops")
    page.get_by_role("button", name="Add memory").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Text").fill("Needs manual VACUUM FULL weekly")
    dialog.get_by_label("Category").select_option("maintenance")
    dialog.get_by_label("Service").fill("postgres")
    dialog.get_by_label("Confidence").fill("0.9")
    dialog.get_by_role("button", name="Add", exact=True).click()

    expect(page.get_by_role("row", name="Needs manual VACUUM FULL weekly")).to_contain_text("0.9")
    expect(dialog).to_be_hidden()
    page.locator("#said").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("row", name="Needs manual VACUUM FULL weekly")).to_have_count(0)


@requirement("dash.create")
def test_the_form_shows_a_known_one_and_updates_it(watched: Watched, running: Running) -> None:
    known = remembered(running, "Likes oat milk in her coffee", "helper", subject="Ada")
    page = watched.go("/memories?space=helper")
    page.get_by_role("button", name="Add memory").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Text").fill("Likes oat milk in the coffee")
    dialog.get_by_label("Category").select_option("preference")
    dialog.get_by_label("About").fill("Ada")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("Likes oat milk in her coffee")
    dialog.get_by_role("button", name="Update it with this text").click()

    expect(row(page, known)).to_contain_text("Likes oat milk in the coffee")
    found = now(running, known)
    assert found is not None
    assert found.version == 2


@requirement("dash.edit", "dash.confidence", "dash.browser")
def test_text_and_confidence_are_edited_in_place_by_keyboard_alone(
    watched: Watched, running: Running
) -> None:
    known = remembered(running, "Fails over within a minute", category="behavior", subject="haproxy")
    page = watched.go("/memories?space=ops&q=haproxy")
    row(page, known).get_by_role("button", name="Edit").focus()

    page.keyboard.press("Enter")
    expect(row(page, known).get_by_label("Text")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("Fails over within two minutes")
    slider = row(page, known).get_by_label("Confidence")
    for _ in range(10):
        if slider.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    for _ in range(25):
        page.keyboard.press("ArrowRight")
    expect(row(page, known).locator("output")).to_have_text("0.95")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.locator("#said")).to_contain_text("Saved.")
    found = now(running, known)
    assert found is not None
    assert (found.content, found.confidence, found.version) == ("Fails over within two minutes", 0.95, 2)
    assert found.updated_at > known.updated_at


def test_escape_leaves_an_edit_without_a_change(watched: Watched, running: Running) -> None:
    known = remembered(running, "Sends mail through the relay", category="behavior", subject="postfix")
    page = watched.go("/memories?space=ops&q=postfix")
    row(page, known).get_by_role("button", name="Edit").click()
    row(page, known).get_by_label("Text").fill("Something else")
    page.keyboard.press("Escape")

    expect(row(page, known).get_by_role("link", name="Sends mail through the relay")).to_be_visible()
    assert now(running, known) == known


@requirement("dash.delete")
@pytest.mark.parametrize("space", ["ops", "helper"])
def test_deleting_asks_first_and_says_whether_it_can_be_undone(
    watched: Watched, running: Running, space: str
) -> None:
    known = remembered(running, "Drinks tea in the afternoon", space, subject=f"{space}-subject")
    page = watched.go(f"/memories?space={space}&q={space}-subject")
    row(page, known).get_by_role("button", name="Edit").click()
    row(page, known).get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    for_good = dialog.get_by_text("can’t be undone")
    expect(for_good).to_have_count(1 if space == "ops" else 0)
    dialog.get_by_role("button", name="Keep").click()
    expect(dialog).to_be_hidden()
    assert now(running, known) == known

    row(page, known).get_by_role("button", name="Delete…").click()
    dialog.get_by_role("button", name=re.compile("^Delete")).click()

    told = "Deleted 1 memory for good." if space == "ops" else "Deleted 1 memory."
    expect(page.locator("#said")).to_contain_text(told)
    found = now(running, known)
    assert (found.state if found else None) == (None if space == "ops" else "forgotten")


@requirement("dash.bulk")
def test_selected_memories_are_changed_and_deleted_together(watched: Watched, running: Running) -> None:
    made = [remembered(running, f"Job {n} runs at minute {n}", subject=f"cron-{n}") for n in range(5)]
    page = watched.go("/memories?space=ops&q=cron-")
    bulk = page.get_by_role("group", name="Actions for the selected memories")
    delete = bulk.get_by_role("button", name="Delete…")
    expect(delete).to_be_hidden()
    for memory in made:
        row(page, memory).get_by_role("checkbox").check()
    expect(bulk).to_contain_text("5 selected")

    bulk.get_by_text("Confidence").first.click()
    bulk.get_by_label("Confidence").fill("0.95")
    bulk.get_by_role("button", name="Set").click()
    expect(page.locator("#said")).to_contain_text("5 memories now have confidence 0.95")
    assert {found.confidence for memory in made if (found := now(running, memory))} == {0.95}
    delete.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete for good").click()

    expect(page.locator("#said")).to_contain_text("Deleted 5 memories for good.")
    expect(page.locator("tr.memory")).to_have_count(0)
    with running.memories() as memories:
        left = {memory.id for memory in memories.find(EVERYTHING).memories}
    assert not left & {memory.id for memory in made}
    expect(delete).to_be_hidden()


@requirement("dash.filter", "dash.inactive")
def test_filters_narrow_the_list_and_stand_in_the_address(watched: Watched, running: Running) -> None:
    faint = remembered(running, "May need a second restart", subject="minio", confidence=0.1)
    firm = remembered(running, "Listens on port 9000", category="behavior", subject="minio", confidence=1.0)
    page = watched.go("/memories?space=ops")

    page.keyboard.press("/")
    page.keyboard.type("minio")
    expect(page.locator("tr.memory")).to_have_count(2)
    page.get_by_label("Sort by").select_option("confidence")
    expect(page.locator("tr.memory").first).to_have_id(f"m-{firm.id}")
    page.get_by_role("radio", name="Inactive").check()
    expect(page.locator("tr.memory")).to_have_count(1)

    expect(row(page, faint)).to_have_class(re.compile("inactive"))
    address = page.url
    assert all(part in address for part in ("q=minio", "sort=confidence", "state=inactive"))
    page.goto(address)
    expect(page.locator("tr.memory")).to_have_count(1)
    expect(page.get_by_label("Search")).to_have_value("minio")


@requirement("dash.browse")
def test_long_lists_come_page_by_page(watched: Watched, running: Running) -> None:
    for number in range(53):
        remembered(running, f"Disk {number} spins at {number}", subject=f"disk-{number}")
    page = watched.go("/memories?space=ops&q=spins")

    expect(page.locator("tr.memory")).to_have_count(50)
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("tr.memory")).to_have_count(3)
    page.get_by_role("link", name="First page").click()
    expect(page.locator("tr.memory")).to_have_count(50)


@requirement("dash.history")
def test_a_memorys_page_shows_what_changed_and_goes_back(watched: Watched, running: Running) -> None:
    known = remembered(running, "Backs up at two", subject="restic")
    with running.memories() as memories:
        memories.revise(known.id, "Backs up at three")
    page = watched.go(f"/memories/{known.id}?space=ops")

    expect(page.locator("ins")).to_have_text("three")
    page.get_by_role("button", name="Go back to version 1").click()

    expect(page.locator("#said")).to_contain_text("Went back to version 1")
    expect(page.locator("#title")).to_have_text("Backs up at two")
    page.get_by_role("button", name="Erase…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 versions")
    dialog.get_by_label("Erase it for good").check()
    dialog.get_by_role("button", name="Erase", exact=True).click()
    page.wait_for_url("**/memories?space=ops")
    assert now(running, known) is None


def test_pages_can_be_read_and_forms_sent_without_a_script(chromium: Any, running: Running) -> None:
    known = remembered(running, "Needs 2 GB of memory", category="dependency", subject="gitlab")
    window = Watched(chromium, running, java_script_enabled=False)
    page = window.go("/memories?space=ops&q=gitlab")
    expect(page.locator("tr.memory")).to_have_count(1)
    page.get_by_role("link", name="Needs 2 GB of memory").click()
    page.wait_for_url("**/memories/*")
    page.locator("summary", has_text="Edit").click()
    page.get_by_label("Text").fill("Needs 4 GB of memory")
    page.get_by_role("button", name="Save").click()

    expect(page.locator("#said")).to_contain_text("Saved.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#said")).to_contain_text("Undone")
    found = now(running, known)
    assert found is not None
    assert (found.content, found.version) == ("Needs 2 GB of memory", 3)
    window.close()


def test_a_heading_sorts_the_list(watched: Watched, running: Running) -> None:
    remembered(running, "Dumps are kept for a week", subject="postgres")
    page = watched.go("/memories?space=ops")

    page.get_by_role("link", name="Confidence").click()

    expect(page.get_by_role("columnheader", name="Confidence")).to_have_attribute("aria-sort", "descending")
    assert "sort=confidence" in page.url
