"""/sessions and one session as plain HTML, on both databases; and taking back what one wrote."""

from __future__ import annotations

from urllib.parse import quote

from holdfast.domain.outcomes import settled
from holdfast.engine.memories import Memories
from holdfast.engine.sessions import NewMessage
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import SAME_ORIGIN, Board, posted

RUN = "run-42"
ADDRESS = f"/sessions/{RUN}?space=ops"
UNDO = f"/undo-session?session={RUN}&space=ops"


def worked(board: Board, session: str = RUN) -> Memories:
    """A session that was briefed, said something, asked and learnt."""
    board.memories().remember("Needs the NFS mount", category="dependency", subject="jellyfin")
    agent = board.memories().speaking_as("assistant", session=session)
    agent.open_session(session, name="Jellyfin is empty", client="claude-code", project="homelab", tier=2)
    agent.brief()
    said = agent.say_all(
        session,
        [
            NewMessage(role="user", content="Why is the library empty?", speaker="Mara"),
            NewMessage(role="assistant", content="The mount is gone"),
            NewMessage(role="tool", content="$ mount | grep media"),
        ],
    )
    agent.recall("which mount does jellyfin need")
    agent.remember("Remount before a restart", category="remediation", subject="jellyfin", message=said[1].id)
    agent.record_event("warning", "Library was empty", service="jellyfin")
    agent.record_attempt("restart", "jellyfin", True, content="Came back")
    return agent


def told(board: Board, address: str = ADDRESS) -> Page:
    answer = board.browser().get(address)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def steps(page: Page) -> list[tuple[str, str]]:
    found = page.by_id("steps").children
    return [(one.attributes["class"].split()[1].removeprefix("step-"), one.whole_text) for one in found]


def test_the_list_tells_of_each_session_the_latest_first(board: Board) -> None:
    worked(board)
    board.memories().close_session(RUN, exit_code=1, usage={"cost_usd": 0.125, "input_tokens": 900})
    board.memories().open_session("later")

    rows = [row.whole_text for row in told(board, "/sessions?space=ops").by_id("rows").children]

    assert rows[0] == "later open just now 0 messages 0 memories"
    assert rows[1].startswith("Jellyfin is empty exit code 1")
    assert {"claude-code", "homelab"} <= set(rows[1].split())
    assert "tier 2" in rows[1]
    assert rows[1].endswith("3 messages 1 memory $0.12")


def test_a_session_without_a_name_is_called_by_its_first_prompt(board: Board) -> None:
    memories = board.memories()
    memories.open_session("0f3a-77")
    memories.say("0f3a-77", "assistant", "Good morning")
    memories.say("0f3a-77", "user", "Is the\n  library empty?")
    memories.remember("Needs the NFS mount", category="dependency", subject="jellyfin")
    agent = memories.speaking_as("assistant", session="0f3a-77")
    agent.remember("Remount before a restart", category="remediation", subject="jellyfin")

    for address in ("/sessions?space=ops", "/?space=ops", "/memories?space=ops"):
        links = [one.whole_text for one in told(board, address).all("a", title="Session 0f3a-77")]
        assert links == ["Is the library empty?"], address
    assert told(board, "/sessions/0f3a-77?space=ops").all("h1")[0].whole_text == "Is the library empty?"


def test_pages_of_sessions_follow_each_other(board: Board) -> None:
    made = [board.memories().open_session(f"run-{number}").id for number in range(95)]
    seen: list[str] = []
    address = "/sessions?space=ops"
    while address:
        page = told(board, address)
        seen += [row.attributes["id"].removeprefix("s-") for row in page.by_id("rows").children]
        following = page.all("a", rel="next")
        address = following[0].attributes["href"] if following else ""

    assert seen == made[::-1]


def test_what_the_upkeep_proposed_is_no_run_of_an_agent(board: Board) -> None:
    board.memories().open_session("tend-1", client="tend")
    board.memories().open_session("real", client="codex")

    assert [row.attributes["id"] for row in told(board, "/sessions?space=ops").by_id("rows").children] == [
        "s-real"
    ]


def test_sessions_are_narrowed_by_agent_project_and_failure_with_totals(board: Board) -> None:
    memories = board.memories()
    for name, client, project, exit_code in (
        ("one", "claude-code", "shop", None),
        ("two", "claude-code", "blog", 1),
        ("three", "codex", "shop", None),
    ):
        memories.open_session(name, client=client, project=project)
        memories.close_session(
            name,
            exit_code=exit_code,
            usage={"cost_usd": 0.25, "input_tokens": 900, "output_tokens": 100},
        )

    def listed(choice: str) -> tuple[set[str], str]:
        page = told(board, f"/sessions?space=ops{choice}")
        rows = {one.attributes["id"] for one in page.by_id("rows").children}
        return rows, page.by_id("count").whole_text

    assert listed("") == ({"s-one", "s-two", "s-three"}, "3 sessions, 3,000 tokens, $0.75")
    assert listed("&client=claude-code")[0] == {"s-one", "s-two"}
    assert listed("&client=claude-code&project=shop") == ({"s-one"}, "1 session, 1,000 tokens, $0.25")
    assert listed("&failed=1") == ({"s-two"}, "1 session, 1,000 tokens, $0.25")
    assert listed("&project=none") == ({"no-rows"}, "0 sessions")


@requirement("dash.history", "ops.events", "ops.cooldowns")
def test_a_session_reads_in_order_with_what_was_given_and_written_at_each_point(board: Board) -> None:
    worked(board)

    found = steps(told(board))

    kinds = [kind for kind, _ in found]
    assert kinds[:2] == ["given", "said"]
    assert sorted(kinds) == ["attempt", "event", "given", "given", "said", "said", "said", "wrote"]
    words = dict(zip(kinds, (text for _, text in found), strict=True))
    assert kinds.index("wrote") == kinds.index("said") + 2, "what cites a message stands right behind it"
    assert "Added remediation jellyfin Remount before a restart 0.7" in words["wrote"]
    assert "Recalled" in words["given"]
    assert "Needs the NFS mount" in words["given"]
    assert set(words["attempt"].split()) == set("Action restart jellyfin success Came back".split())
    assert words["event"] == "Event warning jellyfin Library was empty"
    assert found[1][1].startswith("Mara")


def test_the_page_shows_the_brief_as_it_was_with_its_hash_tokens_and_cost(board: Board) -> None:
    agent = worked(board)
    given = agent.brief()
    agent.close_session(RUN, exit_code=0, usage={"input_tokens": 31200, "output_tokens": 7, "cost_usd": 0.17})
    board.memories().remember("Came later", category="timing", subject="jellyfin")

    page = told(board)

    [text] = page.all("pre")
    assert text.text.strip() == given.text.strip()
    assert [one for one in page.all("dd") if one.attributes.get("title") == given.sha256]
    facts = page.by_id("facts").whole_text
    assert "31,200" in facts
    assert "$0.17" in facts
    assert "byte for byte" in page.by_id("brief").whole_text


def test_figures_that_are_none_do_not_break_the_page(board: Board) -> None:
    board.memories().open_session(RUN)
    board.memories().close_session(RUN, usage={"cost_usd": "much", "turns": True, "input_tokens": -3})

    assert "much" not in told(board).by_id("facts").whole_text
    assert told(board, "/sessions?space=ops").by_id("rows")


def test_a_long_session_is_read_in_stretches_without_gaps_or_repeats(board: Board) -> None:
    agent = board.memories().speaking_as("assistant", session=RUN)
    said = agent.say_all(RUN, [NewMessage(role="user", content=f"Message number {n}") for n in range(1, 151)])
    agent.remember("Cites an early one", category="timing", subject="x", message=said[2].id)
    agent.remember("Cites a late one", category="timing", subject="y", message=said[140].id)

    seen: list[str] = []
    address, pages = ADDRESS, 0
    while address:
        page = told(board, address)
        assert len(page.elements) < 1_000
        seen += [text.split(" ", 2)[-1] for kind, text in steps(page) if kind in ("said", "wrote")]
        following = page.all("a", rel="next")
        address, pages = (following[0].attributes["href"] if following else ""), pages + 1

    assert pages == 3
    messages = [text for text in seen if "Message" in text]
    assert [text.rsplit(" ", 1)[1] for text in messages] == [str(n) for n in range(1, 151)]
    assert sum("Cites" in text for text in seen) == 2
    assert "Cites an early" in seen[3]


def test_a_long_message_is_shown_in_part_and_in_full_on_demand(board: Board) -> None:
    text = "lorem <b> ipsum " * 2_000
    [message] = board.memories().say_all(RUN, [NewMessage(role="user", content=text)])
    page = told(board)
    [link] = [one for one in page.all("a") if one.attributes["href"].startswith("/messages/")]

    whole = told(board, link.attributes["href"])

    assert "Read all 32,000 characters" in link.whole_text
    assert "".join(one.text for one in whole.all("p", class_="words whole")) == message.content
    assert len(board.browser().get(ADDRESS).content) < 30_000


def test_any_id_leads_to_its_session(board: Board) -> None:
    for name in ("a/b", "x y?z#1", "ünï&code", "..", "rows", "%3Cb>", "a%2Fb"):
        board.memories().open_session(name, name=f"Called {name}")
        assert told(board, f"/sessions/{quote(name, safe='')}?space=ops").all("h1")[0].whole_text
    links = [one.attributes["href"] for one in told(board, "/sessions?space=ops").all("a")]
    for link in (one for one in links if one.startswith("/sessions/")):
        assert board.browser().get(link).status_code == 200, link

    assert board.browser().get("/sessions/nothing?space=ops").status_code == 404


@requirement("trust.undo-session")
def test_undo_asks_says_what_happens_does_it_and_can_be_taken_back(board: Board) -> None:
    agent = worked(board)
    known = settled(agent.remember("Needs the NFS mount", category="dependency", subject="jellyfin"))
    assert known is not None
    assert known.confidence > 0.7
    trusted = settled(agent.remember("Others know this too", category="timing", subject="caddy"))
    assert trusted is not None
    board.memories().remember("Others know this too", category="timing", subject="caddy")
    browser = board.browser()

    asked = browser.get(UNDO).text
    assert "<strong>1 memory</strong> will be deleted" in asked
    assert "Remount before a restart" in asked
    assert "1 memory is kept" in asked
    assert board.memories().find().total == 3

    done = posted(browser, UNDO, {}, script=False)
    assert done.headers["location"] == ADDRESS
    page = Page(browser.get(ADDRESS).text)
    assert "Undone: 1 memory deleted, 1 memory reverted." in page.by_id("said").whole_text
    assert {one.content for one in board.memories().find().memories} == {
        "Needs the NFS mount",
        "Others know this too",
    }
    assert board.memories().show(known.id).memory.confidence == 0.7
    assert "Nothing to undo" in browser.get(UNDO).text

    [offer] = [form for form in page.all("form") if "/memories/undo" in form.attributes.get("action", "")]
    fields: dict[str, list[str]] = {}
    for one in offer.children:
        if one.attributes.get("name") not in (None, "key"):
            fields.setdefault(one.attributes["name"], []).append(one.attributes["value"])
    back = posted(browser, offer.attributes["action"], fields, script=False)
    assert back.status_code == 303, back.text
    assert board.memories().find().total == 3
    assert board.memories().show(known.id).memory.confidence == known.confidence

    assert "<strong>1 memory</strong> will be deleted" in browser.get(UNDO).text, (
        "and it can be undone once more"
    )
    posted(browser, UNDO, {})
    assert board.memories().find().total == 2


def test_who_may_read_is_not_offered_to_undo(board: Board) -> None:
    worked(board)
    reader = board.browser(board.token("read", spaces=("ops",)))

    page = Page(reader.get(f"/sessions/{RUN}").text)

    assert [one for one in page.all("a") if "undo-session" in one.attributes.get("href", "")] == []
    assert reader.get(f"/undo-session?session={RUN}").status_code == 403
    assert posted(reader, f"/undo-session?session={RUN}", {}).status_code == 403
    assert board.memories().find().total == 2


def test_an_open_session_is_kept_up_to_date(board: Board) -> None:
    agent = worked(board)
    browser = board.browser()
    [region] = [one for one in Page(browser.get(ADDRESS).text).elements if "data-live" in one.attributes]
    asked = {"HX-Request": "true", "X-Seen": region.attributes["data-seen"]}

    unchanged = browser.get(region.attributes["hx-get"], headers=asked)
    agent.say(RUN, "assistant", "It is back")
    changed = browser.get(region.attributes["hx-get"], headers=asked)

    assert unchanged.status_code == 204
    assert "It is back" in steps(Page(changed.text))[-1][1]
    assert Page(changed.text).by_id("facts")


@requirement("dash.history")
def test_what_was_recalled_of_earlier_talk_is_quoted_with_who_said_it_and_where(board: Board) -> None:
    earlier = board.memories().speaking_as("assistant", session="before")
    earlier.open_session("before")
    key = NewMessage(role="user", content="The attic key hangs behind the clock", speaker="Mara")
    earlier.say_all("before", [key])
    agent = worked(board)
    agent.recall("where does the attic key hang")

    [recalled] = [text for kind, text in steps(told(board)) if kind == "given" and "attic key" in text]

    assert "The attic key hangs behind the clock Mara in The attic key hangs behind the clock" in recalled


def test_sessions_are_found_by_name_or_first_prompt(board: Board) -> None:
    memories = board.memories()
    memories.open_session("named", name="100% of the disk")
    memories.open_session("asked")
    memories.say_all("asked", [NewMessage(role="user", content="Why is Jellyfin slow?")])
    memories.open_session("other", name="Jellyfish")
    memories.say_all("other", [NewMessage(role="user", content="100 percent")])

    def found(words: str) -> list[str]:
        page = told(board, f"/sessions?space=ops&q={quote(words)}")
        return [row.attributes["id"] for row in page.by_id("rows").children]

    assert found("100%") == ["s-named"]
    assert found(" jellyfin ") == ["s-asked"]
    assert found("slow?") == ["s-asked"]
    assert found("nothing like it") == ["no-rows"]


def test_sessions_of_upkeep_stand_apart_and_name_what_they_are_about(board: Board) -> None:
    memories = board.memories()
    older = settled(memories.remember("Takes 60s to start", category="timing", subject="jellyfin"))
    newer = settled(memories.remember("Takes 61s to stop", category="timing", subject="jellyfin"))
    assert older is not None
    assert newer is not None
    memories.open_session("tend-1", name=f"{newer.id} and {older.id} as one", client="tend")
    memories.open_session("real")

    [row] = told(board, "/sessions?space=ops&of=upkeep").by_id("rows").children
    overview = told(board, "/?space=ops").by_id("card-tallies").whole_text

    assert row.whole_text.startswith("Merge: “Takes 61s to stop” and “Takes 60s to start”")
    assert "Sessions 1" in overview


@requirement("context.feedback")
def test_a_recalled_line_is_marked_as_not_helpful_and_that_is_taken_back(board: Board) -> None:
    agent = worked(board)
    [memory] = [one for one in agent.find().memories if one.content == "Needs the NFS mount"]
    browser = board.browser()
    [receipt] = [one for one in agent.session_story(RUN).given if one.kind == "recall"]

    before = told(board).by_id("steps").whole_text
    answer = posted(browser, f"/memories/{memory.id}/feedback?space=ops", {"receipt": receipt.id})
    marked = told(board).by_id("steps").whole_text
    uses = told(board, f"/memories/{memory.id}?space=ops").by_id("card-uses").whole_text
    notice = Page(browser.get("/said?space=ops").text)
    fields = {one.attributes["name"]: one.attributes["value"] for one in notice.all("input")}
    posted(browser, f"/memories/{memory.id}/feedback?space=ops", fields)

    assert "Not helpful" in before
    assert answer.status_code == 204
    assert "not helpful Remove the mark" in marked
    assert "not helpful Remove the mark" in uses
    assert notice.all("button")[0].whole_text == "Undo"
    assert "not helpful" not in told(board).by_id("steps").whole_text


def test_a_form_that_is_a_page_of_its_own_leads_on_to_what_it_was_about(board: Board) -> None:
    board.memories().speaking_as("assistant", session=RUN).remember(
        "Takes 60s", category="timing", subject="plex"
    )
    browser = board.browser()
    own_page = {**SAME_ORIGIN, "HX-Request": "true", "HX-Current-URL": f"http://127.0.0.1:7437{UNDO}"}

    answer = browser.post(UNDO, headers=own_page)

    assert answer.headers["HX-Redirect"].startswith(f"/sessions/{RUN}")
