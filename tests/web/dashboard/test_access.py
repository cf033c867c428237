"""Every route of the dashboard against everybody: who may not, sees nothing and changes nothing."""

from __future__ import annotations

import re
from functools import cache

import httpx2
import pytest
from fastapi.routing import APIRoute

from holdfast.domain.outcomes import settled
from holdfast.web.dashboard import PAGES
from tests.requirements_ledger import requirement
from tests.web.dashboard.serving import SAME_ORIGIN, Board

MARK = "zq7canary"
#: What a page asks for besides the space; what is not asked for does no harm.
FIELDS = {
    "id": "",
    "session": "talk",
    "path": "note.md",
    "q": MARK,
    "first": "1",
    "second": "2",
    "since": "0",
}


@cache
def routes() -> tuple[tuple[str, str], ...]:
    found = [route for page in PAGES for route in page.router.routes if isinstance(route, APIRoute)]
    return tuple(sorted((method, route.path) for route in found for method in route.methods or ()))


@pytest.fixture
def kept(board: Board) -> str:
    """A memory of the space, with a session that it came from."""
    memories = board.memories("ops")
    memories.open_session("talk", client="claude-code")
    speaker = memories.speaking_as("assistant", session="talk")
    found = settled(speaker.remember(f"Takes 60s to start {MARK}", category="timing", subject="jellyfin"))
    assert found is not None
    return found.id


def path_of(path: str, memory: str) -> str:
    named = {"memory_id": memory, "session_id": "talk", "message_id": "talk/1", "token_id": "none"}
    for name, value in named.items():
        path = path.replace(f"{{{name}}}", value).replace(f"{{{name}:path}}", value)
    assert "{" not in path, f"say what {path} is asked with"
    return path


@requirement("trust.spaces", "trust.local")
def test_who_may_not_sees_nothing_and_changes_nothing(board: Board, kept: str) -> None:
    callers = {
        "nobody": board.browser(None),
        "another space's": board.browser(board.token("read", "write", "admin", spaces=("helper",))),
    }
    before = board.memories("ops").show(kept).memory

    for method, path in routes():
        for who, browser in callers.items():
            sent = FIELDS | {"id": kept, "space": "ops"}
            headers = SAME_ORIGIN | {"HX-Request": "true"}
            form = sent if method == "POST" else None
            answer = browser.request(method, path_of(path, kept), params=sent, data=form, headers=headers)

            assert answer.status_code in (303, 401, 403, 404, 422), (who, method, path)
            assert MARK not in answer.text.replace(f"q={MARK}", ""), (who, method, path)
    assert board.memories("ops").show(kept).memory == before


@requirement("trust.spaces", "trust.local")
def test_a_reader_changes_nothing_and_a_foreign_page_neither(board: Board, kept: str) -> None:
    reader = board.browser(board.token("read", spaces=("ops",)))
    keeper = board.browser()
    before = board.memories("ops").show(kept).memory

    for method, path in routes():
        if method != "POST":
            continue
        place, sent = f"{path_of(path, kept)}?space=ops", FIELDS | {"id": kept}
        ours = reader.post(place, data=sent, headers=SAME_ORIGIN | {"HX-Request": "true"})
        foreign = keeper.post(place, data=sent, headers={"Origin": "http://evil.example"})
        plain = keeper.post(place, data=sent, headers=SAME_ORIGIN)

        assert ours.status_code in (403, 422), path
        assert foreign.status_code in (401, 403), path
        assert plain.status_code in (401, 403), f"{path}: a form without its key"
    assert board.memories("ops").show(kept).memory == before


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/memories?origin=nobody", "rigin: must be operator, user, assistant, tool, import or file"),
        ("/memories?state=gone", "tate: must be all, active, inactive, waiting or deleted"),
        ("/memories?group=colour", "roup: must be subject or category"),
        ("/search?as_of=yesterday", "s_of: must be a date such as 2026-03-01"),
    ],
)
def test_a_value_that_a_page_does_not_know_is_told_with_those_that_it_knows(
    board: Board, address: str, says: str
) -> None:
    answer = board.browser().get(address)

    assert answer.status_code == 422
    assert says in answer.text
    assert "literal" not in answer.text.lower()


def test_an_address_without_a_space_shows_the_one_that_the_browser_chose_last(board: Board) -> None:
    browser, other = board.browser(), board.browser()
    at_first = browser.get("/")
    browser.get("/?space=ops")
    later = browser.get("/")
    browser.get("/memories?space=nowhere")

    assert chosen(at_first) == chosen(other.get("/")) == "default"
    assert chosen(later) == chosen(browser.get("/memories")) == "ops"


def chosen(answer: httpx2.Response) -> str | None:
    """The space that a page shows."""
    found = re.search(r"<option selected>([^<]+)", answer.text)
    return found[1] if found else None
