"""What people do to memories on the pages: by our script and plainly, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.domain.memory import Memory
from holdfast.domain.outcomes import settled
from holdfast.domain.query import EVERYTHING
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board, posted


def remembered(board: Board, content: str, space: str = "ops", **fields: Any) -> Memory:
    fields.setdefault("category", "timing" if space == "ops" else "preference")
    memory = settled(board.memories(space).remember(content, **fields))
    assert memory is not None
    return memory


def now(board: Board, memory: Memory) -> Memory:
    return board.memories(memory.space).show(memory.id).memory


def told(client: TestClient, space: str = "ops") -> Page:
    """What the page tells after an act."""
    return Page(client.get(f"/said?space={space}", headers={"HX-Request": "true"}).text)


def undone(client: TestClient, space: str = "ops") -> int:
    """Presses Undo; answers the status."""
    [form] = told(client, space).all("form")
    fields: dict[str, Any] = {"id": []}
    for field in form.children:
        name, value = field.attributes.get("name", ""), field.attributes.get("value", "")
        if name == "id":
            fields["id"].append(value)
        elif name:
            fields[name] = value
    return posted(client, form.attributes["action"], fields).status_code


@requirement("dash.create")
@pytest.mark.parametrize("script", [True, False])
def test_a_memory_is_added_with_all_its_fields_and_no_session(board: Board, script: bool) -> None:
    fields = {
        "category": "maintenance", "subject": "postgres", "content": "Needs manual VACUUM FULL weekly",
        "confidence": "0.9", "tags": "disk, weekly",
    }  # fmt: skip
    browser = board.browser()

    answer = posted(browser, "/memories/new?space=ops", fields, script=script)

    assert answer.status_code == (204 if script else 303)
    [memory] = board.memories().find().memories
    assert (memory.category, memory.subject, memory.content) == (
        "maintenance", "postgres", "Needs manual VACUUM FULL weekly",
    )  # fmt: skip
    assert (memory.confidence, memory.state, memory.source.session, memory.source.origin) == (
        0.9, "active", None, "operator",
    )  # fmt: skip
    assert memory.tags == ("disk", "weekly")


@requirement("dash.create")
def test_a_known_text_is_said_to_be_reinforced_and_what_was_not_used_is_named(board: Board) -> None:
    known = remembered(board, "Takes 60s to start after restart", subject="jellyfin")
    browser = board.browser()
    fields = {
        "category": "timing", "subject": "jellyfin", "confidence": "0.95",
        "content": "Takes about 60 seconds to start after a restart",
    }  # fmt: skip

    posted(browser, "/memories/new?space=ops", fields)

    page = told(browser)
    [link] = [one for one in page.all("a") if "View it" in one.whole_text]
    text = page.all("p")[0].whole_text
    assert f"Already known: reinforced {known.id} (confidence 0.7 → 0.8)." in text
    assert "Ignored from the form: text, confidence." in text
    assert link.attributes["href"].startswith(f"/memories/{known.id}")
    assert now(board, known).content == "Takes 60s to start after restart"


@requirement("dash.edit")
def test_two_people_who_tag_at_once_lose_nothing(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start", tags=("slow",))
    browser = board.browser()
    shown = Page(
        browser.get(f"/memories/{memory.id}/row?space=ops&edit=1", headers={"HX-Request": "true"}).text
    )
    fields = {one.attributes["name"]: one.attributes.get("value", "") for one in shown.all("input")}
    fields |= {"content": memory.content, "category": memory.category, "tags": "slow, disk"}

    board.memories().revise(memory.id, add_tags=("startup",))  # while the form is open
    posted(browser, f"/memories/{memory.id}/edit?space=ops", fields)
    posted(browser, "/memories/tag?space=ops", {"id": memory.id, "tags": "weekly"})
    dropped = {**fields, "tagged": "slow, disk", "tags": "disk"}
    posted(browser, f"/memories/{memory.id}/edit?space=ops", dropped)

    assert set(now(board, memory).tags) == {"startup", "disk", "weekly"}


@requirement("dash.create")
def test_what_is_known_is_shown_with_an_offer_to_update_it(board: Board) -> None:
    known = remembered(board, "Likes oat milk in her coffee", "helper", subject="Ada")
    browser = board.browser()
    fields = {"category": "preference", "subject": "Ada", "content": "Likes her coffee with oat milk"}

    answer = posted(browser, "/memories/new?space=helper", fields)
    page = Page(answer.text)
    [offer] = [one for one in page.all("button") if "Update it" in one.whole_text]
    posted(browser, offer.attributes["formaction"], {**fields, "version": offer.attributes["value"]})

    assert "A memory already says this" in answer.text
    assert known.content in answer.text
    assert board.memories("helper").find().total == 1
    assert now(board, known).content == "Likes her coffee with oat milk"
    assert now(board, known).version == 2


def test_what_does_not_fit_is_told_beside_what_was_typed(board: Board) -> None:
    answer = posted(
        board.browser(),
        "/memories/new?space=helper",
        {"category": "preference", "content": "abc"},
        script=False,
    )

    assert answer.status_code == 422
    assert "at least 5 are required" in answer.text
    assert Page(answer.text).by_id("new-content").text.strip() == "abc"


@requirement("dash.edit")
def test_an_edit_in_place_makes_a_version_and_leaves_confidence_alone(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start", subject="jellyfin")
    browser = board.browser()
    form = Page(
        browser.get(f"/memories/{memory.id}/row?space=ops&edit=1", headers={"HX-Request": "true"}).text
    )
    kept = {
        one.attributes["name"]: one.attributes["value"]
        for one in form.all("input")
        if "name" in one.attributes
    }

    answer = posted(
        browser,
        f"/memories/{memory.id}/edit?space=ops",
        {**kept, "category": "timing", "content": "Takes 70s to start"},
    )

    after = now(board, memory)
    assert "Takes 70s to start" in answer.text
    assert "data-editing" not in answer.text
    assert (after.content, after.version, after.confidence) == ("Takes 70s to start", 2, memory.confidence)
    assert after.updated_at > memory.updated_at
    assert undone(browser) == 204
    assert now(board, memory).content == "Takes 60s to start"


@requirement("dash.confidence")
def test_the_slider_stores_exactly_what_it_shows(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    browser = board.browser()
    fields = {"content": memory.content, "believed": "0.7", "confidence": "0.95", "version": "1"}

    posted(browser, f"/memories/{memory.id}/edit?space=ops", fields)

    after = now(board, memory)
    assert (after.confidence, after.version, after.content) == (0.95, 1, memory.content)
    assert after.updated_at > memory.updated_at
    assert undone(browser) == 204
    assert now(board, memory).confidence == 0.7


def test_a_confidence_out_of_range_is_clamped_and_one_that_is_none_refused(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    browser = board.browser()

    for given, status, stored in (("1.5", 204, 1.0), ("-3", 204, 0.0), ("lots", 422, 0.0), ("nan", 204, 0.0)):
        answer = posted(browser, "/memories/confidence?space=ops", {"id": memory.id, "confidence": given})
        assert (answer.status_code, now(board, memory).confidence) == (status, stored), given


def test_a_higher_confidence_brings_an_inactive_memory_back(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start", confidence=0.2)
    assert memory.state == "inactive"

    posted(board.browser(), "/memories/confidence?space=ops", {"id": memory.id, "confidence": "0.5"})

    assert now(board, memory).state == "active"


def test_an_edit_of_what_changed_meanwhile_is_refused_and_loses_nothing(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    board.memories().revise(memory.id, "Takes 65s to start")
    fields = {"content": "Takes 70s to start", "version": "1", "in_row": "1"}

    answer = posted(board.browser(), f"/memories/{memory.id}/edit?space=ops", fields)

    assert "is at version 2" in answer.text
    assert "Takes 70s to start" in answer.text
    assert now(board, memory).content == "Takes 65s to start"


@requirement("dash.delete")
def test_deleting_asks_and_then_removes_as_the_profile_says(board: Board) -> None:
    for_good = remembered(board, "Takes 60s to start")
    softly = remembered(board, "Likes oat milk", "helper")
    browser = board.browser()

    asked = browser.get(f"/memories/delete?space=ops&id={for_good.id}").text
    asked_softly = browser.get(f"/memories/delete?space=helper&id={softly.id}").text
    assert board.memories().find().total == 1
    posted(browser, "/memories/delete?space=ops", {"id": for_good.id})
    no_undo = told(browser).all("form")
    posted(browser, "/memories/delete?space=helper", {"id": softly.id})

    assert "can’t be undone" in asked
    assert "can’t be undone" not in asked_softly
    assert "restore" in asked_softly
    assert no_undo == []
    assert board.memories().find(EVERYTHING).total == 0
    assert now(board, softly).state == "forgotten"
    assert undone(browser, "helper") == 204
    assert now(board, softly).state == "active"


@requirement("dash.bulk")
def test_many_are_changed_in_one_action_and_taken_back_in_one(board: Board) -> None:
    made = [remembered(board, f"Server {n} reboots at minute {n}", subject=f"s{n}") for n in range(5)]
    ids = [memory.id for memory in made[:3]]
    browser = board.browser()

    acts: tuple[tuple[str, dict[str, str], Callable[[Memory], bool]], ...] = (
        ("confidence", {"confidence": "0.95"}, lambda m: m.confidence == 0.95),
        ("tag", {"tags": "reboots, nightly"}, lambda m: m.tags == ("nightly", "reboots")),
        ("pin", {}, lambda m: m.pinned),
    )
    for path, fields, changed in acts:
        posted(browser, f"/memories/{path}?space=ops", {"id": ids, **fields})
        assert [changed(now(board, memory)) for memory in made] == [True] * 3 + [False] * 2, path
        assert undone(browser) == 204
        assert not any(changed(now(board, memory)) for memory in made), path
    posted(browser, "/memories/delete?space=ops", {"id": ids})

    assert {memory.id for memory in board.memories().find(EVERYTHING).memories} == {made[3].id, made[4].id}


@requirement("dash.bulk")
@pytest.mark.parametrize("act", ["delete", "confidence", "tag", "pin", "approve"])
def test_with_nothing_selected_nothing_is_done(board: Board, act: str) -> None:
    memory = remembered(board, "Takes 60s to start")
    browser = board.browser()

    answer = posted(browser, f"/memories/{act}?space=ops", {"confidence": "0.1", "tags": "x"})

    assert answer.status_code == 422
    assert "Nothing selected" in told(browser).all("div", class_="notice wrong")[0].whole_text
    assert now(board, memory) == memory


def test_one_that_is_gone_does_not_keep_back_the_others(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    browser = board.browser()

    posted(browser, "/memories/confidence?space=ops", {"id": [memory.id, "nothing"], "confidence": "0.95"})

    assert now(board, memory).confidence == 0.95
    assert "1 could not be changed" in told(browser).all("p")[0].whole_text


@requirement("trust.inbox")
def test_waiting_memories_are_approved_from_the_list(board: Board) -> None:
    tool = board.memories().speaking_as("tool")
    waiting = settled(tool.remember("Can start early", category="dependency", doubtful="a web page said so"))
    assert waiting is not None
    browser = board.browser()

    posted(browser, "/memories/approve?space=ops", {"id": waiting.id})

    assert now(board, waiting).state == "active"
    assert undone(browser) == 204
    assert now(board, waiting).state == "waiting"


def test_what_others_changed_since_is_not_taken_back(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    browser = board.browser()
    posted(browser, "/memories/confidence?space=ops", {"id": memory.id, "confidence": "0.95"})
    board.memories().speaking_as("assistant").revise(memory.id, "Takes 75s to start")

    status = undone(browser)

    assert status == 409
    assert now(board, memory).content == "Takes 75s to start"
    assert now(board, memory).confidence == 0.95


ACTS: dict[str, tuple[str, dict[str, str]]] = {
    "/memories/new": ("write", {"content": "Something new", "category": "timing"}),
    "/memories/{id}/edit": ("write", {"content": "Something else"}),
    "/memories/{id}/wording": ("write", {"number": "1"}),
    "/memories/{id}/restore": ("write", {}),
    "/memories/{id}/promote": ("write", {}),
    "/memories/{id}/split": ("write", {"number": "1"}),
    "/memories/{id}/feedback": ("write", {}),
    "/memories/confidence": ("write", {"confidence": "0.1"}),
    "/memories/tag": ("write", {"tags": "x"}),
    "/memories/pin": ("write", {}),
    "/memories/delete": ("write", {}),
    "/memories/undo": ("write", {"since": "0"}),
    "/memories/approve": ("admin", {}),
    "/memories/{id}/erase": ("admin", {"sure": "1"}),
}


@requirement("trust.spaces")
def test_a_browser_may_do_what_its_token_may_and_nothing_more(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    browsers = {scope: board.browser(board.token(scope, spaces=("ops",))) for scope in ("read", "write")}

    for path, (needed, fields) in ACTS.items():
        for scope, browser in browsers.items():
            if needed == "admin" or scope == "read":
                answer = posted(browser, path.replace("{id}", memory.id), {"id": memory.id, **fields})
                assert answer.status_code == 403, (path, scope)
    assert now(board, memory) == memory


def test_every_act_is_in_the_matrix() -> None:
    from holdfast.web.dashboard import inbox, memories, memory_actions, memory_page

    routes = [
        route for module in (memories, memory_actions, memory_page, inbox) for route in module.router.routes
    ]
    posts = {route.path.replace("{memory_id}", "{id}") for route in routes if "POST" in route.methods}

    assert {path for path in posts if path.startswith("/memories")} == set(ACTS)


@requirement("dash.project")
@pytest.mark.parametrize("script", [True, False])
def test_a_project_can_be_given_changed_and_removed(board: Board, script: bool) -> None:
    browser = board.browser()
    fields = {"category": "timing", "content": "Takes 60s to start after a restart", "project": "media"}
    projects = []

    posted(browser, "/memories/new?space=ops", fields, script=script)
    [memory] = board.memories().find().memories
    for project in ("web", ""):
        projects.append(now(board, memory).project)
        version = {"version": str(now(board, memory).version)}
        path = f"/memories/{memory.id}/edit?space=ops"
        posted(browser, path, {**version, "content": memory.content, "project": project}, script=script)
    projects.append(now(board, memory).project)

    assert projects == ["media", "web", None]
    assert now(board, memory).content == memory.content


@requirement("dash.project")
def test_the_page_of_a_memory_shows_its_project_and_offers_it_for_editing(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start after a restart", category="timing", project="media")

    page = Page(board.browser().get(f"/memories/{memory.id}?space=ops").text)

    assert page.by_id(f"project-{memory.id}").attributes["value"] == "media"
    assert "Project media" in " ".join(page.by_id("card-facts").whole_text.split())
    assert "project media" in page.by_id("card-text").whole_text
