"""/memories/ID as plain HTML, on both databases."""

from __future__ import annotations

import pytest

from holdfast.domain.outcomes import settled
from holdfast.engine.sessions import NewMessage
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board, posted


@pytest.fixture
def told(board: Board) -> str:
    """A memory with a past: said in a session, confirmed, reworded, contradicted, and shown to an agent."""
    memories = board.memories()
    agent = memories.speaking_as("assistant", session="run-1")
    agent.open_session("run-1", name="First look", client="claude-code")
    said = agent.say_all(
        "run-1",
        [
            NewMessage(role="user", content="Is caddy fine?"),
            NewMessage(role="assistant", content="It must be started after WireGuard, it seems"),
            NewMessage(role="user", content="Thank you"),
        ],
    )
    made = settled(
        agent.remember(
            "Must be started after WireGuard", category="dependency", subject="caddy", message=said[1].id
        )
    )
    assert made is not None
    memories.revise(made.id, "Must be started 5s after WireGuard")
    later = memories.speaking_as("assistant", session="run-2")
    later.open_session("run-2")
    later.brief()
    later.remember("Can be started independently of WireGuard", category="dependency", subject="caddy")
    later.recall("when is caddy started")
    return made.id


@requirement("dash.history", "trust.why")
def test_a_memorys_page_shows_versions_steps_source_links_and_prompts(board: Board, told: str) -> None:
    answer = board.browser().get(f"/memories/{told}?space=ops")
    page = Page(answer.text)

    assert answer.status_code == 200
    assert page.by_id("title").whole_text == "Must be started 5s after WireGuard"
    assert [one.whole_text for one in page.all("ins")] == ["5s"]
    steps = [one.whole_text for one in page.all("span", class_="what")]
    assert steps[-1] == "Added"
    assert "Revised" in steps
    assert len(page.all("circle", class_="dot")) == len(steps)
    assert page.all("li", class_="cited")[0].whole_text.endswith(
        "It must be started after WireGuard, it seems"
    )
    assert "Is caddy fine?" in answer.text
    [prompts] = [one for one in page.all("section") if one.attributes.get("aria-labelledby") == "uses-title"]
    assert "run-2" in prompts.whole_text
    assert "brief" in prompts.whole_text
    linked = board.memories().linked(told)
    assert len(page.all("ul", class_="links")[0].children) == len(linked) >= 1
    assert "contradicted by" in page.all("ul", class_="links")[0].whole_text


@requirement("dash.history")
def test_two_wordings_stand_side_by_side(board: Board, told: str) -> None:
    page = Page(board.browser().get(f"/memories/{told}/compare?first=1&second=2&space=ops").text)

    assert [one.whole_text for one in page.all("ins")] == ["5s"]
    assert board.browser().get(f"/memories/{told}/compare?first=1&second=9&space=ops").status_code == 404


def test_an_earlier_wording_comes_back_as_the_newest(board: Board, told: str) -> None:
    posted(board.browser(), f"/memories/{told}/wording?space=ops", {"number": "1"}, script=False)

    memory = board.memories().show(told).memory
    assert (memory.content, memory.version) == ("Must be started after WireGuard", 3)


def test_erasing_says_what_goes_and_wants_to_be_meant(board: Board, told: str) -> None:
    browser = board.browser()

    asked = browser.get(f"/memories/{told}/erase?space=ops")
    unmeant = posted(browser, f"/memories/{told}/erase?space=ops", {})
    still_there = board.memories().show(told).memory.id
    meant = posted(browser, f"/memories/{told}/erase?space=ops", {"sure": "1"})
    gone = browser.get(f"/memories/{told}?space=ops")

    for part in ("2 versions", "can’t be undone", "keyed hash"):
        assert part in asked.text
    assert (unmeant.status_code, still_there) == (422, told)
    assert meant.headers["hx-redirect"] == "/memories?space=ops"
    assert gone.status_code == 404
    assert "There is no memory" in gone.text


def test_a_memory_recalled_outside_of_sessions_says_why_it_cannot_be_rated(board: Board) -> None:
    made = settled(board.memories().remember("Takes 60s to start", category="timing", subject="jellyfin"))
    assert made is not None
    board.memories().recall("how long does jellyfin take to start")

    page = Page(board.browser().get(f"/memories/{made.id}?space=ops").text)

    uses = page.by_id("card-uses").whole_text
    assert "Recalled 1 time, but never in a session" in uses
    assert "can be marked as not helpful" in uses
    assert "Not helpful" not in [button.text for button in page.all("button")]


def test_a_deleted_memory_can_be_restored_from_its_page(board: Board) -> None:
    memories = board.memories("helper")
    made = settled(memories.remember("Likes oat milk", category="preference"))
    assert made is not None
    memories.forget(made.id)
    browser = board.browser()

    page = browser.get(f"/memories/{made.id}?space=helper").text
    posted(browser, f"/memories/{made.id}/restore?space=helper", {}, script=False)

    assert "Restore" in page
    assert memories.show(made.id).memory.state == "active"


def test_a_memory_of_another_space_looks_as_if_it_were_not_there(board: Board, told: str) -> None:
    stranger = board.browser(board.token("admin", spaces=("helper",)))

    answers = [stranger.get(f"/memories/{told}"), stranger.get(f"/memories/{told}?space=ops")]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert all("WireGuard" not in answer.text for answer in answers)


@requirement("trust.split")
def test_a_repeated_wording_stands_on_the_page_and_is_split_off_and_taken_back(board: Board) -> None:
    memories = board.memories()
    made = settled(memories.remember("Takes 60s to start after restart", category="timing", subject="loki"))
    assert made is not None
    reworded = "Takes about 60 seconds to start after a restart"
    memories.speaking_as("assistant", session="run-9").remember(reworded, category="timing", subject="loki")
    browser = board.browser()

    page = Page(browser.get(f"/memories/{made.id}?space=ops").text)
    answer = posted(browser, f"/memories/{made.id}/split?space=ops", {"number": "1"}, script=False)

    [card] = [one for one in page.all("section") if one.attributes.get("id") == "card-repetitions"]
    for part in (reworded, "run-9", "Split off wording 1"):
        assert part in card.whole_text
    assert answer.status_code < 400
    assert {memory.content for memory in memories.find().memories} == {made.content, reworded}
    assert memories.show(made.id).memory.confidence == 0.7
    [new] = [memory.id for memory in memories.find().memories if memory.id != made.id]
    since = str(memories.last_change() - 2)
    posted(browser, "/memories/undo?space=ops", {"id": [made.id, new], "since": since}, script=False)
    assert [wording.content for wording in memories.why(made.id).repetitions] == [reworded]


@requirement("scope.promote")
def test_a_projects_memory_is_made_global_from_its_page(board: Board) -> None:
    made = settled(board.memories("helper").remember("Likes tabs", category="preference", project="alpha"))
    assert made is not None
    browser = board.browser()
    page = browser.get(f"/memories/{made.id}?space=helper").text

    posted(browser, f"/memories/{made.id}/promote?space=helper", {}, script=False)

    assert "Make global" in page
    assert board.memories("helper").show(made.id).memory.project is None
    assert "Make global" not in browser.get(f"/memories/{made.id}?space=helper").text


@requirement("trust.superseded")
def test_a_superseded_memory_says_what_leads_in_its_place(board: Board) -> None:
    memories = board.memories()
    older = settled(memories.remember("Takes 60s to start", category="timing", subject="jellyfin"))
    newer = settled(memories.remember("Takes 30s to start", category="timing", subject="jellyfin"))
    assert older is not None
    assert newer is not None
    browser = board.browser()

    page = browser.get(f"/memories/{older.id}?space=ops").text
    rows = browser.get("/memories?space=ops&sort=created").text

    assert f"Superseded by the newer memory {newer.id}" in page
    assert f"Superseded by the newer memory {newer.id}" in rows
    assert rows.index(f'id="m-{newer.id}"') < rows.index(f'id="m-{older.id}"')
    assert (
        f"Superseded by the newer memory {newer.id}"
        in browser.get("/search?space=ops&q=how+long+to+start+jellyfin").text
    )


@requirement("trust.tombstone")
def test_a_refusal_after_a_deletion_offers_to_restore_it(board: Board) -> None:
    memories = board.memories("helper")
    made = settled(memories.remember("Likes tabs", category="preference"))
    assert made is not None
    memories.forget(made.id)
    browser = board.browser()
    fields = {"content": "Likes tabs", "category": "preference"}

    answer = posted(browser, "/memories/new?space=helper", fields).text
    posted(browser, f"/memories/{made.id}/restore?space=helper", {}, script=False)

    assert "Restore it" in answer
    assert f"/memories/{made.id}/restore" in answer
    assert "--anyway" not in answer
    assert "`holdfast" not in answer
    assert memories.show(made.id).memory.active


def test_a_long_memory_is_cut_in_its_heading_and_whole_below(board: Board) -> None:
    text = "The export runs at night. " * 10
    memory = settled(board.memories().remember(text.strip(), category="timing", subject="sap"))
    assert memory is not None

    page = Page(board.browser().get(f"/memories/{memory.id}?space=ops").text)

    assert len(page.by_id("title").whole_text) <= 160
    assert page.all("p", class_="saying")[0].whole_text == text.strip()
    assert [card for card in page.all("section") if card.attributes.get("id") == "card-links"] == []
