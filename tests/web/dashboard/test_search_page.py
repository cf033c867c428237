"""/search as plain HTML, on both databases: the recall of agents, explained, without a trace."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast.domain.outcomes import settled
from holdfast.language import message_ranking
from holdfast.web.dashboard.search import PLAIN
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board

QUESTION = "how long does jellyfin take to start"
ASKED = "/search?space=ops&q=how+long+does+jellyfin+take+to+start"


@pytest.fixture
def known(board: Board) -> Board:
    memories = board.memories()
    memories.remember("Takes 60s to start after a restart", category="timing", subject="jellyfin")
    memories.remember("Needs the NFS mount before it starts", category="dependency", subject="jellyfin")
    memories.remember("Dumps are kept for a week", category="maintenance", subject="postgres")
    return board


def shown(board: Board, path: str) -> Page:
    answer = board.browser().get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def hits(page: Page, *, below: bool = False) -> list[str]:
    lists = [one for one in page.all("ol") if "hits" in one.attributes.get("class", "").split()]
    wanted = [one for one in lists if ("below" in one.attributes["class"]) == below]
    return [hit.whole_text for one in wanted for hit in one.children]


@requirement("dash.search")
def test_search_finds_what_agents_recall_in_their_order(known: Board) -> None:
    recalled = known.memories().recall(QUESTION).memories

    page = shown(known, ASKED)

    assert recalled
    assert len(hits(page)) == len(recalled)
    for text, hit in zip(hits(page), recalled, strict=True):
        assert hit.memory.content in text
    scores = [one.text.strip() for one in page.all("p", class_="hit-score figure")]
    assert scores[0] == f"{recalled[0].score:.2f}".rstrip("0")


@requirement("dash.search", "trust.why")
def test_each_hit_tells_the_parts_of_its_score_and_what_it_had_to_reach(known: Board) -> None:
    [first, *_] = hits(shown(known, ASKED))

    assert "Shared words, rare ones count more" in first
    assert "Relevance (threshold 0.25)" in first
    assert "Recency: 1 for a week, 0.5 after 90 days × 1 Confidence × 0.7 Score = 0." in first


def test_every_part_of_a_score_has_plain_words(known: Board) -> None:
    factors = {"recency", "importance", "confidence", "message", "feedback"}

    assert {*message_ranking.PARTS, "helps", "limit"} | factors == set(PLAIN)


@requirement("dash.search")
def test_what_fell_below_the_threshold_is_shown_apart(known: Board) -> None:
    page = shown(known, "/search?space=ops&q=which+week+of+the+year+does+the+robot+museum+open+its+gates")

    assert hits(page) == []
    assert "so an agent gets nothing" in page.by_id("found").whole_text
    assert any("kept for a week" in text for text in hits(page, below=True))


@requirement("trust.block", "dash.search")
def test_the_block_is_the_one_that_a_prompt_gets_with_its_tokens(known: Board) -> None:
    page = shown(known, ASKED)
    given = known.memories().context([QUESTION])

    [block] = page.all("pre")
    assert given.text
    assert block.text == given.text
    assert f"{given.tokens} of 150 tokens" in page.by_id("found").whole_text


@requirement("dash.search")
def test_a_memory_of_the_block_that_ranks_after_the_hits_is_shown_under_them(board: Board) -> None:
    memories = board.memories()
    for harbour in ("Kiel", "Bremen", "Husum", "Emden", "Rostock", "Wismar"):
        memories.say("talk", "user", f"Where does the boat lie in winter? Perhaps in {harbour}")
    source = memories.say("talk", "user", "The shed it is, so that is where we go with the boat this winter")
    speaker = memories.speaking_as("user", session="talk")
    speaker.remember("The boat lies in the shed in winter", category="maintenance", message=source.id)

    page = shown(board, "/search?space=ops&q=where+does+the+boat+lie+in+winter")

    [further] = page.all("ol", class_="hits further")
    assert "in the block" in further.children[0].whole_text
    assert "The boat lies in the shed in winter" in further.children[0].whole_text
    assert "in the block" not in page.all("ol", class_="hits")[0].whole_text
    assert not any("in the shed" in text for text in hits(page, below=True))
    assert "of at most 3" in page.by_id("found").whole_text


@requirement("dash.search")
def test_looking_leaves_no_trace_where_recall_would(known: Board) -> None:
    before = known.memories().find(order="created").memories
    sessions = known.memories().sessions()

    assert hits(shown(known, ASKED))

    assert known.memories().find(order="created").memories == before
    assert known.memories().sessions() == sessions
    known.memories().recall(QUESTION)
    assert sum(memory.accesses for memory in known.memories().find().memories) > 0


@requirement("trust.as-of")
def test_a_past_day_is_searched_as_it_was_believed_then(known: Board) -> None:
    made = settled(known.memories().remember("Listens on port 8096", category="behavior", subject="jellyfin"))
    assert made is not None
    today = made.created_at.date()
    yesterday = today - timedelta(days=1)

    now = hits(shown(known, "/search?space=ops&q=which+port+does+jellyfin+listen+on"))
    then = shown(known, f"/search?space=ops&q=which+port+does+jellyfin+listen+on&as_of={yesterday}")
    same_day = hits(shown(known, f"/search?space=ops&q=which+port+does+jellyfin+listen+on&as_of={today}"))

    assert "8096" in now[0]
    assert hits(then) == []
    assert hits(then, below=True) == []
    assert same_day == now
    assert then.by_id("as_of").attributes["value"] == str(yesterday)


def test_a_project_is_asked_as_an_agent_in_it_would(board: Board) -> None:
    board.memories("helper").remember("The parser is written in Rust", category="project", project="alpha")
    path = "/search?space=helper&q=what+is+the+parser+written+in"

    assert hits(shown(board, path))
    assert hits(shown(board, f"{path}&project=alpha"))
    assert hits(shown(board, f"{path}&project=beta")) == []


@pytest.mark.parametrize("wrong", ["&as_of=soon", "&limit=0", "&limit=9999", "&q=" + "x" * 501])
def test_a_choice_that_is_none_is_told_so(board: Board, wrong: str) -> None:
    assert board.browser().get(f"/search?space=ops&q=x{wrong}").status_code == 422


def test_a_script_gets_the_page_and_an_address_without_empty_fields(known: Board) -> None:
    answer = known.browser().get(
        "/search?space=ops&q=jellyfin&project=&limit=5&as_of=", headers={"HX-Request": "true"}
    )

    assert answer.headers["HX-Push-Url"] == "/search?space=ops&q=jellyfin"
    assert Page(answer.text).by_id("found")


def test_without_a_question_the_page_says_what_to_ask(known: Board) -> None:
    known.make("bare", "default")

    assert "What is known about jellyfin?" in shown(known, "/search?space=ops").by_id("found").whole_text
    assert "Nothing to search yet" in shown(known, "/search?space=bare").by_id("found").whole_text
