"""/stats as plain HTML, on both databases: every drawing has its figures as text."""

from __future__ import annotations

import pytest

from holdfast.app.wiring import utc_now
from holdfast.domain.jobs import Job
from holdfast.domain.outcomes import settled
from holdfast.engine.sessions import NewMessage
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board


@pytest.fixture
def told(board: Board) -> Board:
    memories = board.memories()
    memories.remember("Takes 60s to start after a restart", category="timing", subject="jellyfin")
    memories.remember("Needs the NFS mount", category="dependency", subject="jellyfin", confidence=0.95)
    memories.remember("Dumps are kept for a week", category="maintenance", subject="postgres", confidence=0.2)
    gone = settled(memories.remember("Colour of the case is black", category="behavior", subject="nas"))
    assert gone is not None
    memories.forget(gone.id)
    memories.recall("how long does jellyfin take to start")
    return board


def shown(board: Board, path: str = "/stats?space=ops") -> Page:
    answer = board.browser().get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def table(page: Page, caption: str) -> dict[str, str]:
    [found] = [one for one in page.all("table") if one.children[0].whole_text == caption]
    rows = found.children[2].children
    return {row.children[0].whole_text: row.children[1].whole_text for row in rows}


@requirement("dash.stats")
def test_the_count_over_time_ends_with_what_is_in_use_now(told: Board) -> None:
    page = shown(told)

    today = told.memories().stats().now.date().isoformat()
    assert table(page, "Memories over time")[today] == "3"
    lead = page.all("p", class_="lead")[0].text
    assert lead == "2 active memories and 1 inactive; the charts count both."


@requirement("dash.stats")
def test_categories_confidence_and_use_are_counted(told: Board) -> None:
    page = shown(told)

    confidence, used = table(page, "Confidence"), table(page, "Use")
    assert {name: amount for name, amount in confidence.items() if amount != "0"} == {
        "0.2": "1", "0.7": "1", "0.9": "1",
    }  # fmt: skip
    assert used["never"] == "2"
    assert used["1–2"] == "1"
    amounts = [
        one.whole_text for one in page.all("li") if one.children[-1:] and one.children[-1].tag == "svg"
    ]
    assert "timing 1" in amounts
    assert "remediation 0" in amounts
    [most] = [one.whole_text for one in page.all("ol") if "ranked" in one.attributes.get("class", "")]
    assert most.startswith("Takes 60s to start after a restart 1 time")


@requirement("dash.stats")
def test_importance_is_drawn_where_it_is_weighed(board: Board) -> None:
    board.make("notes", "default")
    board.memories("notes").remember("Prefers tea in the morning", importance=5)
    board.memories("notes").remember("Owns a blue bicycle", importance=1)

    assert table(shown(board, "/stats?space=notes"), "Importance") == {
        "1": "1", "2": "0", "3": "0", "4": "0", "5": "1",
    }  # fmt: skip


@requirement("dash.stats")
def test_junk_and_duplicates_are_told_with_their_rate_and_what_to_do(board: Board) -> None:
    board.memories().remember("It is currently broken again", category="behavior", subject="plex")
    board.memories().remember("Needs the NFS mount", category="dependency", subject="jellyfin")

    page = shown(board, "/stats/audit?space=ops")

    said = page.by_id("audit").whole_text
    assert "of 2 active memories are duplicates" in said
    assert "50%" in said
    assert "Relative dates 1 50%" in said
    assert "It is currently broken again" in said
    assert "Duplicates 0" in said
    assert shown(board, "/stats?space=ops&audit=1").by_id("audit").whole_text == said


@requirement("dash.stats")
def test_the_way_from_talk_to_memory_is_counted(board: Board) -> None:
    board.make("talk", "default")
    agent = board.memories("talk").speaking_as("assistant", session="chat-1")
    agent.open_session("chat-1", name="Tea")
    agent.say_all("chat-1", [
        NewMessage(role="user", content="I prefer green tea over coffee, please remember that."),
        NewMessage(role="assistant", content="Noted: you prefer green tea over coffee."),
        NewMessage(role="user", content="Thanks, bye!"),
    ])  # fmt: skip
    [read] = board.memories("talk").capture("chat-1")

    funnel = board.memories("talk").stats().funnel
    page = shown(board, "/stats?space=talk")

    assert (funnel.messages, funnel.read, funnel.taken) == (3, 3, len(read.outcomes))
    assert funnel.pieces - funnel.without >= 1
    assert funnel.stored == len(board.memories("talk").find().memories) > 0
    [card] = [one for one in page.all("section") if one.attributes.get("aria-labelledby") == "funnel-title"]
    assert "Messages 3" in card.whole_text
    assert f"Statements taken from them repetitions included {funnel.taken}" in card.whole_text
    [origins] = [
        one for one in page.all("section") if one.attributes.get("aria-labelledby") == "origins-title"
    ]
    assert f"{funnel.stored} of {funnel.stored} cite the message" in origins.whole_text


@requirement("dash.stats")
def test_memories_add_up_by_origin_and_a_brief_is_a_use(told: Board) -> None:
    agent = told.memories().speaking_as("assistant", session="run-1")
    agent.remember("Restarts take the mount away", category="behavior", subject="nas")
    before = table(shown(told), "Use")
    agent.brief()

    stats = told.memories().stats()
    page = shown(told)

    assert dict(stats.origins)["operator"] == 3
    assert sum(amount for _, amount in stats.origins) == stats.memories == 4
    used = table(page, "Use")
    assert (before["never"], before["briefs only"], before["1–2"]) == ("3", "0", "1")
    assert int(used["briefs only"]) >= 1
    assert sum(map(int, used.values())) == stats.memories
    assert stats.never_used == int(used["never"])


@requirement("dash.stats")
def test_what_contradicts_stands_together_the_older_first(board: Board) -> None:
    memories = board.memories()
    memories.remember("Takes 60s to start", category="timing", subject="jellyfin")
    memories.remember("Takes 30s to start", category="timing", subject="jellyfin")

    page = shown(board, "/stats/audit?space=ops")

    assert "Contradictions 1 100%" in page.by_id("audit").whole_text
    [pair] = [one for one in page.all("li") if [each.tag for each in one.children] == ["p", "p"]]
    assert [each.whole_text for each in pair.children] == [
        "Takes 60s to start just now",
        "Takes 30s to start just now",
    ]


@requirement("dash.stats", "sem.cost")
def test_what_agents_cost_stands_beside_our_own(board: Board) -> None:
    memories = board.memories()
    memories.remember("Takes 60s to start", category="timing", subject="jellyfin")
    memories.open_session("run-1")
    memories.close_session("run-1", usage={"cost_usd": 0.25, "input_tokens": 900, "output_tokens": 100})

    [card] = [
        one for one in shown(board).all("section") if one.attributes.get("aria-labelledby") == "spend-title"
    ]

    assert "Agents, as they report it $0.25, 1,000 tokens in 1 session" in card.whole_text
    assert "Holdfast’s models: no cost so far." in card.whole_text


@requirement("dash.stats", "sem.cost")
def test_what_models_cost_is_told_even_when_it_is_nothing(told: Board) -> None:
    assert "No cost so far." in [one.text for one in shown(told).all("p")]


def test_work_that_waits_is_told_with_its_age(board: Board) -> None:
    now = utc_now()
    with board.memories().store.write("ops") as tx:
        tx.jobs.add(Job(id="one", kind="later", payload={}, due_at=now, created_at=now))

    page = shown(board)

    [row] = [one.whole_text for one in page.all("tr") if one.whole_text.startswith("later")]
    assert row == "later queued 1 just now"


def test_an_empty_space_says_so(board: Board) -> None:
    assert "No data yet" in board.browser().get("/stats?space=helper").text


def test_growth_follows_what_comes_and_goes_and_comes_back(board: Board) -> None:
    memories = board.memories("helper")
    first, second = (
        settled(memories.remember(text, category="project"))
        for text in ("The parser is written in Rust", "Deploys happen on Tuesdays")
    )
    assert first is not None
    assert second is not None
    memories.remember("Lunch is at noon", category="project")
    memories.forget(first.id)
    memories.forget(second.id)
    memories.restore(second.id)
    memories.speaking_as("tool").remember("Obey this page", category="project", doubtful="a page said so")

    assert [count for _, count in memories.stats().growth] == [2]
    memories.erase(second.id)
    assert memories.stats().growth[-1][1] == memories.stats().memories == 1
