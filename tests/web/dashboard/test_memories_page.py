"""/memories as plain HTML, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast.app.wiring import utc_now
from holdfast.domain.memory import Draft
from holdfast.domain.outcomes import settled
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board
from tests.web.service.test_slices import fill


def remembered(board: Board, content: str, space: str = "ops", **fields: object) -> str:
    memory = settled(board.memories(space).remember(content, **fields))  # type: ignore[arg-type]
    assert memory is not None
    return memory.id


def shown(board: Board, query: str = "") -> Page:
    answer = board.browser().get(f"/memories?space=ops{query}")
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def texts(page: Page) -> list[str]:
    return [link.whole_text for link in page.all("a", class_="says")]


@pytest.fixture
def stocked(board: Board) -> Board:
    remembered(board, "Takes 60s to start after a restart", category="timing", subject="jellyfin")
    remembered(board, "Must start after WireGuard", category="dependency", subject="caddy", confidence=0.9)
    remembered(board, "Retry DNS checks once before escalating", category="remediation", confidence=0.5)
    remembered(board, "Logs are noisy on Mondays", category="behavior", subject="caddy", confidence=0.2)
    return board


@requirement("dash.memories")
def test_a_row_tells_service_category_text_confidence_state_update_and_session(board: Board) -> None:
    speaker = board.memories().speaking_as("assistant", session="run-42")
    speaker.open_session("run-42")
    speaker.remember("Takes 60s to start after a restart", category="timing", subject="jellyfin")
    remembered(board, "Retry DNS checks once", category="remediation")

    page = shown(board)

    general, jellyfin = page.rows
    cells = {cell.attributes.get("data-label"): cell.whole_text for cell in jellyfin.children}
    assert cells["Service"] == "jellyfin timing"
    assert cells["Memory"] == "Takes 60s to start after a restart"
    assert cells["State"] == "Confidence 0.7 active"
    assert cells["Updated"] == "just now"
    assert cells["Source"] == "run-42"
    assert "general" in general.whole_text
    [bar] = [one for one in page.all("rect", class_="bar-part", width="70") if one][:1]
    assert bar.attributes["width"] == "70"
    titles = [time.attributes["title"] for time in page.all("time")]
    assert all(title.endswith(" UTC") for title in titles)


SHOWN = {
    "&subject=caddy": {"Must start after WireGuard", "Logs are noisy on Mondays"},
    "&subject=General": {"Retry DNS checks once before escalating"},
    "&category=timing": {"Takes 60s to start after a restart"},
    "&state=inactive": {"Logs are noisy on Mondays"},
    "&q=dns+RETRY": {"Retry DNS checks once before escalating"},
    "&q=jelly": {"Takes 60s to start after a restart"},
    "&q=%25": set(),
    "&subject=caddy&state=active&q=wireguard": {"Must start after WireGuard"},
}


@requirement("dash.filter")
def test_the_address_says_what_is_shown(stocked: Board) -> None:
    browser = stocked.browser()

    for query, expected in SHOWN.items():
        assert set(texts(Page(browser.get(f"/memories?space=ops{query}").text))) == expected, query


@requirement("dash.filter")
def test_lists_are_sorted_by_recency_or_confidence(stocked: Board) -> None:
    assert texts(shown(stocked))[0] == "Logs are noisy on Mondays"
    assert texts(shown(stocked, "&sort=confidence"))[0] == "Must start after WireGuard"
    assert texts(shown(stocked, "&sort=created"))[0] == "Takes 60s to start after a restart"


@requirement("dash.filter")
def test_memories_stand_together_by_service_or_category(stocked: Board) -> None:
    by_service = shown(stocked, "&group=subject").all("tr", class_="shelf")
    by_category = shown(stocked, "&group=category").all("tr", class_="shelf")

    assert [row.whole_text for row in by_service] == ["general 1", "caddy 2", "jellyfin 1"]
    assert [row.whole_text for row in by_category] == [
        "behavior 1", "dependency 1", "remediation 1", "timing 1"
    ]  # fmt: skip
    assert [
        row.whole_text for row in shown(stocked, "&group=subject&state=active").all("tr", class_="shelf")
    ] == ["general 1", "caddy 1", "jellyfin 1"]


def test_a_list_is_of_the_days_that_were_chosen(stocked: Board) -> None:
    today = utc_now().date()
    yesterday = today - timedelta(days=1)

    assert len(shown(stocked, f"&since={today}&until={today}").rows) == 4
    assert shown(stocked, f"&until={yesterday}").rows == []
    assert stocked.browser().get("/memories?space=ops&since=soon").status_code == 422


def test_the_tier_of_the_session_is_a_column_where_agents_run_in_tiers(board: Board) -> None:
    speaker = board.memories().speaking_as("assistant", session="run-7")
    speaker.open_session("run-7", tier=2)
    speaker.remember("Takes 60s to start after a restart", category="timing", subject="jellyfin")

    [row] = shown(board).rows
    cells = {cell.attributes.get("data-label"): cell.whole_text for cell in row.children}

    assert cells["Tier"] == "2"
    assert "Tier" not in board.browser().get("/memories?space=helper").text


@requirement("sem.dedup")
def test_what_the_upkeep_proposes_is_no_second_row(board: Board) -> None:
    memories = board.memories("default")
    memories.remember("The broker runs on host alpha", category="fact")
    memories.remember("It is host alpha that the broker runs on", category="reference", subject="house")
    [proposal] = memories.tend().proposed

    page = Page(board.browser().get("/memories?space=default").text)

    assert len(page.rows) == 2
    assert [item.memory.id for item in memories.inbox()] == [proposal.id]


@requirement("dash.inactive")
def test_inactive_and_waiting_ones_look_different(stocked: Board) -> None:
    tool = stocked.memories().speaking_as("tool")
    tool.remember(
        "Can start before WireGuard", category="dependency", subject="caddy", doubtful="a web page said so"
    )

    page = shown(stocked)

    kinds = [set(row.attributes["class"].split()) & {"active", "inactive", "waiting"} for row in page.rows]
    assert sorted(kind.pop() for kind in kinds) == ["active", "active", "active", "inactive", "waiting"]
    assert "a web page said so" in shown(stocked, "&state=waiting").rows[0].whole_text
    assert len(shown(stocked, "&state=inactive").rows) == 1


@requirement("dash.browse")
def test_pages_follow_each_other_without_gaps_or_repeats(board: Board) -> None:
    drafts = [
        Draft(
            content=f"Server {number} reboots at minute {number}",
            category="timing",
            subject=f"s{number % 7}",
            confidence=0.5 + number % 5 / 10,
        )
        for number in range(117)
    ]
    fill(board.memories().store, "ops", utc_now, drafts)
    made = {memory.id for memory in board.memories().find(limit=200).memories}
    browser = board.browser()

    for query in ("", "&sort=confidence", "&group=subject", "&group=category&sort=created"):
        seen: list[str] = []
        counts = []
        address = f"/memories?space=ops{query}"
        while address:
            page = Page(browser.get(address).text)
            counts.append(page.by_id("count").whole_text)
            seen += [row.attributes["id"].removeprefix("m-") for row in page.rows]
            following = page.all("a", rel="next")
            address = following[0].attributes["href"] if following else ""
        assert len(seen) == 117, query
        assert counts == ["1-50 of 117 memories", "51-100 of 117 memories", "101-117 of 117 memories"]
        assert set(seen) == made


def test_a_page_begins_where_the_last_ended_though_its_last_memory_is_gone(board: Board) -> None:
    for number in range(60):
        remembered(
            board, f"Server {number} reboots at minute {number}", category="timing", subject=f"s{number}"
        )
    browser = board.browser()
    first = Page(browser.get("/memories?space=ops").text)
    seen = [row.attributes["id"].removeprefix("m-") for row in first.rows]

    board.memories().forget(seen[-1])
    [following] = first.all("a", rel="next")
    second = Page(browser.get(following.attributes["href"]).text)

    assert len(second.rows) == 10
    assert not {row.attributes["id"].removeprefix("m-") for row in second.rows} & set(seen)


def test_a_place_that_is_none_is_told_so(board: Board) -> None:
    browser = board.browser()

    for after in ("x", "W10", "bnVsbA", "WyJhIiwiYiIsbnVsbCwxLCJ4IiwieSJd", "é"):
        answer = browser.get(f"/memories?space=ops&after={after}")
        assert answer.status_code == 422
        assert "first page" in answer.text


def test_a_page_stays_small_however_long_its_memories_are(board: Board) -> None:
    for number in range(50):
        text = f"{number} " + "lorem ipsum dolor sit amet " * 500
        remembered(
            board,
            text,
            category="timing",
            subject=f"service-{number}" * 8,
            tags=[f"tag-{n}-{number}" for n in range(20)],
        )

    answer = board.browser().get("/memories?space=ops")

    assert len(Page(answer.text).rows) == 50
    assert len(answer.content) < 150_000


@requirement("dash.live")
def test_who_keeps_a_page_open_gets_rows_when_something_changed_and_nothing_otherwise(stocked: Board) -> None:
    browser = stocked.browser()
    region = Page(browser.get("/memories?space=ops").text).by_id("rows-around")
    asked = {"HX-Request": "true", "X-Seen": region.attributes["data-seen"]}

    unchanged = browser.get(region.attributes["hx-get"], headers=asked)
    new = remembered(stocked, "Renews certificates early", category="maintenance", subject="caddy")
    changed = browser.get(region.attributes["hx-get"], headers=asked)

    assert unchanged.status_code == 204
    assert changed.status_code == 200
    rows = Page(changed.text)
    assert rows.by_id(f"m-{new}")
    assert rows.by_id("rows-around").attributes["data-seen"] != region.attributes["data-seen"]


def test_an_empty_space_tells_how_to_get_its_first_memory(board: Board) -> None:
    answer = board.browser().get("/memories?space=ops")

    assert "No memories yet" in answer.text
    commands = [
        one.attributes["data-copy"]
        for one in Page(answer.text).all("button")
        if "data-copy" in one.attributes
    ]
    assert any(command.startswith("holdfast connect") and "--space ops" in command for command in commands)


def test_who_may_read_sees_no_way_to_change(stocked: Board) -> None:
    reader = stocked.browser(stocked.token("read", spaces=("ops",)))

    page = Page(reader.get("/memories").text)

    assert len(page.rows) == 4
    assert page.all("input", type="checkbox") == []
    assert [one for one in page.elements if "hx-post" in one.attributes] == []


def test_the_switcher_names_the_spaces_within_reach(board: Board) -> None:
    everything = Page(board.browser().get("/memories?space=helper").text)
    one = Page(board.browser(board.token("read", spaces=("helper",))).get("/memories").text)

    assert [option.whole_text for option in everything.by_id("space").children] == [
        "default",
        "helper",
        "ops",
    ]
    assert [element for element in one.elements if element.attributes.get("id") == "space"] == []
    assert "helper" in one.all("p", class_="spaces one")[0].whole_text


@requirement("dash.project")
def test_each_memory_tells_its_project_and_the_list_can_be_limited_to_one(board: Board) -> None:
    remembered(board, "Takes 60s to start after a restart", category="timing", project="media")
    remembered(board, "Must start after WireGuard", category="dependency", project="web")
    remembered(board, "Retry DNS checks once before escalating", category="remediation")

    everything, of_media = shown(board), shown(board, "&project=media")

    rows = {row.whole_text for row in everything.rows}
    assert [("Project web" in row, "Project media" in row) for row in rows if "WireGuard" in row] == [
        (True, False)
    ]
    assert ["Project" in row for row in rows if "DNS" in row] == [False]
    assert [one.attributes["value"] for one in everything.by_id("projects").children] == ["media", "web"]
    assert texts(of_media) == ["Takes 60s to start after a restart"]
    assert of_media.by_id("project").attributes["value"] == "media"


def test_where_no_memory_has_a_project_the_list_offers_no_filter_for_it(stocked: Board) -> None:
    page = shown(stocked)

    assert page.all("input", name="project") == []


@requirement("dash.memories")
def test_the_reason_of_a_waiting_memory_quotes_the_memory_that_it_names(board: Board) -> None:
    known = remembered(board, "The UPS holds for 11 minutes at usual load", category="timing", subject="ups")
    tool = board.memories().speaking_as("tool")
    tool.remember("The UPS holds for 30 minutes at usual load", category="timing", subject="ups")

    [row] = shown(board, "&state=waiting").rows

    assert "operator's memory “The UPS holds for 11 minutes at usual load”" in row.whole_text
    assert known not in row.whole_text
