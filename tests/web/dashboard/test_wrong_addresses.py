"""Wrong addresses: a browser gets a page, a program gets JSON."""

from __future__ import annotations

from typing import Final

import httpx2
import pytest

from holdfast.domain.outcomes import settled
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import OWN, Board, Running

HTML: Final = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@requirement("dash.wrong-address")
@pytest.mark.parametrize("path", ["/memoreis", "/memories/a/b/c", "/index.html", "/dashboard/"])
def test_a_signed_in_browser_gets_a_page_that_leads_back(board: Board, path: str) -> None:
    answer = board.browser().get(path, headers=HTML)

    page = Page(answer.text)
    assert answer.status_code == 404
    assert f"There is no page at {path}." in page.by_id("main").whole_text
    assert page.all("nav")


@requirement("dash.wrong-address")
def test_a_browser_that_is_not_signed_in_gets_the_sign_in_page(board: Board) -> None:
    stranger = board.browser(None)

    sent_away = stranger.get("/memoreis", headers=HTML)
    form = stranger.get(sent_away.headers["location"], headers=HTML)

    assert sent_away.status_code == 303
    assert "Sign in" in Page(form.text).all("h1")[0].text


@requirement("dash.wrong-address")
@pytest.mark.parametrize("path", ["/api/memoreis", "/mcp/x", "/metrics/x", "/hooks", "/proxy", "/webhook/"])
def test_what_programs_call_answers_with_json_whoever_asks(board: Board, path: str) -> None:
    for browser in (board.browser(), board.browser(None)):
        answer = browser.get(path, headers=HTML)

        assert answer.status_code in (401, 404), path
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_program_at_a_wrong_address_gets_json(board: Board) -> None:
    program = board.browser(None)

    without = program.get("/memoreis")
    known = program.get("/memoreis", headers={**HTML, "Authorization": f"Bearer {OWN}"})

    assert (without.status_code, known.status_code) == (401, 404)
    assert without.json()["title"] == "token required"
    assert known.json()["detail"] == "no such endpoint: see /api/docs"


def test_a_link_that_was_opened_here_before_leads_on(board: Board) -> None:
    path = board.browser(None).post("/login/link", headers={"Authorization": f"Bearer {OWN}"}).json()["path"]
    browser = board.browser(None)
    browser.get(path)

    again = browser.get(f"{path}&next=/stats")

    assert (again.status_code, again.headers["location"]) == (303, "/stats")


@pytest.mark.slow
@requirement("dash.wrong-address")
def test_the_running_service_answers_a_browser_with_pages(running: Running) -> None:
    with running.memories() as memories:
        made = settled(memories.remember("Takes 60s to start", category="timing", subject="jellyfin"))
        assert made is not None
        memories.forget(made.id)
    link = running.login()
    with httpx2.Client(base_url=running.url, headers=HTML, timeout=60) as browser:
        stranger = browser.get("/memoreis")
        browser.get(link)
        answers = {
            path: browser.get(path)
            for path in (
                "/memoreis",
                f"/memories/{made.id}?space=ops",
                "/memories/none?space=ops",
                "/?space=no",
            )
        }
        rest = browser.get("/api/memoreis")
    used = httpx2.get(link, headers=HTML, timeout=60)

    assert (stranger.status_code, stranger.headers["location"]) == (303, "/login?next=%2Fmemoreis")
    assert used.status_code == 403
    assert "already used or is older than 15 minutes" in used.text
    for path, answer in answers.items():
        assert answer.status_code == 404, path
        assert "There is no" in Page(answer.text).by_id("main").whole_text, path
        assert "Back to the overview" in answer.text, path
    assert rest.headers["content-type"] == "application/problem+json"
