"""What a choice over a list does to the address bar, and where the space switcher leads."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import URL, Board
from tests.web.dashboard.test_memory_actions import remembered


def steps(browser: TestClient, before: str, after: str) -> tuple[str | None, str | None]:
    """What is pushed and what is replaced when a page at `before` asks for `after`."""
    answer = browser.get(after, headers={"HX-Request": "true", "HX-Current-URL": f"{URL}{before}"})
    assert answer.status_code == 200, answer.text
    return answer.headers.get("hx-push-url"), answer.headers.get("hx-replace-url")


@requirement("dash.filter")
@pytest.mark.parametrize("page", ["/memories", "/search", "/files"])
def test_a_word_is_one_step_back_however_it_was_typed(board: Board, page: str) -> None:
    browser = board.browser()
    whole = f"{page}?space=ops&q=restart"

    assert steps(browser, f"{page}?space=ops", f"{page}?space=ops&q=rest") == (
        f"{page}?space=ops&q=rest",
        None,
    )
    assert steps(browser, f"{page}?space=ops&q=rest", whole) == (None, whole)
    assert steps(browser, whole, whole) == ("false", None)
    assert steps(browser, whole, f"{page}?space=ops&q=") == (f"{page}?space=ops", None)


@requirement("dash.filter")
def test_every_choice_is_a_step_back_and_empty_fields_stay_out(board: Board) -> None:
    browser = board.browser()

    pushed = steps(
        browser, "/memories?space=ops&q=restart", "/memories?space=ops&q=restart&state=active&tag="
    )
    both = steps(browser, "/memories?space=ops&q=rest", "/memories?space=ops&q=restart&state=active")

    assert pushed == ("/memories?space=ops&state=active&q=restart", None)
    assert both == ("/memories?space=ops&state=active&q=restart", None)


def test_another_space_is_entered_at_the_list_since_it_holds_other_things(board: Board) -> None:
    memory = remembered(board, "Takes 60s to start")
    board.memories().open_session("run-1")
    browser = board.browser()
    found = {}
    for path in (f"/memories/{memory.id}", "/sessions/run-1", "/search", "/memories/nothere1"):
        [form] = Page(browser.get(f"{path}?space=ops").text).all("form", class_="spaces")
        found[path] = form.attributes["action"]

    assert list(found.values()) == ["/memories", "/sessions", "/search", "/"]
