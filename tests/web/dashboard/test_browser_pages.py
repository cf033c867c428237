"""Every page in a real browser: accessible, not wider than a phone, light and dark, with a visible focus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from holdfast.domain.outcomes import settled
from holdfast.engine.sessions import NewMessage
from tests.requirements_ledger import requirement
from tests.web.dashboard.addresses import PAGES, Example
from tests.web.dashboard.browsing import Watched, serious
from tests.web.dashboard.serving import Running

pytestmark = [pytest.mark.browser, pytest.mark.slow]


_FOCUSED = """() => {
    const element = document.activeElement;
    const shown = [element, element.nextElementSibling].filter(Boolean).map((one) => getComputedStyle(one));
    const words = (element.textContent || element.id).trim().slice(0, 30);
    return [element.tagName, words, shown.some((style) => style.outlineStyle !== "none")];
}"""


@pytest.fixture(scope="module")
def example(running: Running) -> Example:
    """A space in which every page has something to show, long words among it."""
    with running.memories() as memories:
        agent = memories.speaking_as("assistant", session="run-1")
        agent.open_session("run-1", name="First look", client="claude-code")
        said = agent.say_all("run-1", [NewMessage(role="assistant", content=f"Said {n}") for n in range(4)])
        made = settled(
            agent.remember(
                "Must be started after WireGuard", category="dependency", subject="caddy", message=said[1].id,
                tags=["network"],
            )
        )  # fmt: skip
        assert made is not None
        memories.revise(made.id, "Must be started 5s after WireGuard", pinned=True)
        agent.brief()
        agent.record_event("critical", "Nobody could reach it", service="caddy")
        for _ in range(2):
            agent.record_attempt("restart", "caddy", False, content="Came back and fell over again")
        memories.remember("Can be started independently of WireGuard", category="dependency", subject="caddy")
        memories.remember("x" * 300, category="timing", subject="y" * 150, confidence=0.1)
        memories.speaking_as("tool").remember("Runs in a box", category="behavior", doubtful="a page said so")
        file = memories.files()[0].path
    return Example(memory=made.id, session="run-1", file=file)


@pytest.fixture(params=[(1440, "light"), (390, "light"), (390, "dark"), (1440, "dark")], ids=str)
def window(request: pytest.FixtureRequest, chromium: Any, running: Running) -> Iterator[Watched]:
    width, scheme = request.param
    made = Watched(chromium, running, viewport={"width": width, "height": 800}, color_scheme=scheme)
    yield made
    made.close()


@requirement("dash.browser")
def test_no_page_has_a_serious_finding_or_is_wider_than_the_window(
    window: Watched, example: Example, axe: Path
) -> None:
    found: dict[str, Any] = {}
    for name, address in PAGES.items():
        page = window.go(address(example))
        assert page.get_by_role("heading", level=1).count() == 1, name
        wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        if trouble := serious(page, axe) + (["wider than the window"] if wide else []):
            found[name] = trouble

    assert found == {}


@requirement("dash.browser")
def test_dark_is_dark_and_light_is_light(chromium: Any, running: Running) -> None:
    light = {}
    for scheme in ("light", "dark"):
        window = Watched(chromium, running, color_scheme=scheme)
        ground = window.page.evaluate("getComputedStyle(document.body).backgroundColor")
        light[scheme] = sum(int(part) for part in ground.removeprefix("rgb(").removesuffix(")").split(","))
        window.close()

    assert light["light"] > 600
    assert light["dark"] < 150


@requirement("dash.browser")
def test_the_menu_opens_on_a_phone_and_leads_to_the_pages(chromium: Any, running: Running) -> None:
    window = Watched(chromium, running, viewport={"width": 390, "height": 800})
    page = window.go("/memories/new?space=ops")
    assert not page.get_by_role("link", name="Memories").is_visible()

    page.get_by_text("Menu", exact=True).click()
    page.get_by_role("link", name="Memories").click()

    page.wait_for_url("**/memories?space=ops")
    window.close()


@requirement("dash.browser")
def test_tab_goes_through_a_page_with_a_visible_focus(watched: Watched, example: Example) -> None:
    page = watched.go(PAGES["memories"](example))
    seen = []
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(_FOCUSED))

    assert seen[0][1] == "Skip to content"
    assert [stop for stop in seen if not stop[2]] == []
    assert len({tuple(stop[:2]) for stop in seen}) > 8


def test_the_space_switcher_leads_to_the_other_space(watched: Watched, example: Example) -> None:
    page = watched.go(PAGES["memories"](example))

    page.get_by_label("Space").select_option("helper")

    page.wait_for_url("**/memories?space=helper")
    assert page.get_by_text("No memories yet").is_visible()


def test_the_theme_is_the_readers_choice_and_stays(watched: Watched) -> None:
    page = watched.go("/memories")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)

    page.get_by_label("Theme").last.select_option("Dark")
    dark = page.evaluate(ground)
    page = watched.go("/stats")

    assert dark != light
    assert page.evaluate(ground) == dark
    page.get_by_label("Theme").last.select_option("System")
    assert page.evaluate(ground) == light


def test_on_a_phone_filters_fold_away_until_they_are_asked_for(watched: Watched) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 844})
    page = watched.go("/memories")

    expect(page.get_by_label("Search")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    page.get_by_label("Search").fill("nothing like it")
    expect(page.get_by_text("No matching memories")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Search")).to_be_visible()


def test_the_palette_goes_to_pages_and_searches_by_keys(watched: Watched) -> None:
    page = watched.go("/memories")

    page.keyboard.press("Control+k")
    page.get_by_role("searchbox", name="Go to").fill("sta")
    expect(page.get_by_role("dialog").get_by_role("link").first).to_have_text("Stats")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/stats" in url)

    page.get_by_role("button", name="Go to").click()
    page.get_by_role("searchbox", name="Go to").fill("<b>nothing</b> like it")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Search")).to_have_value("<b>nothing</b> like it")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_palette_finds_memories_sessions_and_what_to_do(watched: Watched, example: Example) -> None:
    page = watched.go("/stats?space=ops")
    page.keyboard.press("Control+k")
    words = page.get_by_role("searchbox", name="Go to")
    dialog = page.get_by_role("dialog")

    words.fill("wireguard independently")
    expect(dialog.locator("#palette-found a").first).to_contain_text("Can be started independently")
    words.fill("first lo")
    expect(dialog.locator("#palette-found")).to_contain_text("First look")
    words.fill("theme: dark")
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("Control+k")
    words.fill("undo the last")
    expect(dialog.locator("#palette-places a").first).to_have_text("Undo the last session")
    page.keyboard.press("Enter")

    page.wait_for_url("**/undo-session*")
    expect(page.get_by_role("heading", level=1)).to_have_text("Undo the changes of this session?")


def test_the_palette_opens_a_form_of_the_same_page_and_signs_out(watched: Watched) -> None:
    page = watched.go("/settings?space=ops")
    words = page.get_by_role("searchbox", name="Go to")

    page.keyboard.press("Control+k")
    with page.expect_request_finished(lambda request: "q=create" in request.url):
        words.fill("create a token")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.press("Control+k")
    with page.expect_request_finished(lambda request: "q=sign" in request.url):
        words.fill("sign out")
    page.keyboard.press("Enter")

    page.wait_for_url("**/login")


def test_a_file_is_imported_and_a_space_created_in_the_browser(watched: Watched, example: Example) -> None:
    page = watched.go("/import?space=ops")
    rows = "".join(f"Machine {number} starts at minute {number},timing\n" for number in range(30))

    page.get_by_label("A file of").set_input_files(
        {"name": "rows.csv", "mimeType": "text/csv", "buffer": f"content,category\n{rows}".encode()}
    )
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("#progress")).to_contain_text("Imported from csv")
    page.get_by_role("link", name="Show its memories").click()
    expect(page.get_by_text("Only from session Import of rows.csv")).to_be_visible()

    watched.go("/settings?space=ops")
    page.get_by_role("button", name="Create a space…").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("fresh")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    page.wait_for_url("**/?space=fresh")
    expect(page.locator("#said")).to_contain_text("Created the space fresh.")
