"""Hostile texts in what happened and what waits: events, actions, sessions and inbox stay our own pages."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest

from holdfast.domain.outcomes import settled
from holdfast.engine.intake import safe
from holdfast.engine.sessions import NewMessage
from tests.requirements_ledger import requirement
from tests.web.dashboard.serving import Board
from tests.web.dashboard.test_hostile import HOSTILE, PLAIN, shape

AT_ONCE = 25
PAGES = ("/", "/sessions", "/events", "/cooldowns", "/inbox")


@requirement("trust.block", "trust.inbox", "ops.events", "ops.cooldowns")
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.faults)])
def test_no_hostile_text_of_an_agent_makes_an_element(board: Board, every: int) -> None:
    browser = board.browser()
    pages = happened(board, "peace", lambda number: f"{PLAIN} {number}")
    ours = [shape(browser.get(page).text).keys() for page in pages]

    for start in range(0, len(HOSTILE), AT_ONCE * every):
        texts = HOSTILE[start : start + AT_ONCE]
        for page, kinds in zip(happened(board, f"haunted-{start}", texts.__getitem__), ours, strict=True):
            answer = browser.get(page)
            assert answer.status_code == 200, answer.text[:400]
            assert shape(answer.text).keys() <= kinds, page


def happened(board: Board, space: str, text: Callable[[int], str]) -> list[str]:
    """Such texts in all that an agent leaves behind; answers the pages that show them."""
    board.make(space, "ops")
    memories = board.memories(space)
    session = safe("".join(filter(str.isprintable, f"{space} {text(0)}"))).strip()[:180]
    agent = memories.speaking_as("assistant", session=session)
    agent.open_session(session, name=text(1), client=text(2), project=text(3), directory=text(4))
    said = agent.say_all(
        session,
        [NewMessage(role=role, content=text(5) * 100, speaker=text(6)[:60]) for role in ("user", "tool")],
    )
    known = settled(agent.remember(f"zq {text(7)}", category="timing", subject=f"s {text(8)}"[:100]))
    assert known is not None
    agent.brief()
    agent.recall(f"zq {text(7)}")
    for number in range(8):
        agent.record_event("critical", f"e {text(number)}", service=f"s {text(number)}"[:100])
        agent.record_attempt("restart", f"s {text(number)}"[:100], True, content=f"a {text(number)}")
        agent.record_attempt("restart", f"s {text(number)}"[:100], False)
        agent.remember(
            f"zw{number} {text(number)}", category="behavior", subject=f"w{number} {text(number)}"[:100],
            tags=[text(number)[:60]], doubtful=f"d {text(number)}", message=said[0].id,
        )  # fmt: skip
    memories.speaking_as("tool").revise(known.id, f"zq other words {text(9)}")
    memories.remember(f"zd {text(10)}", category="remediation", subject="same")
    agent.remember(f"zd {text(10)}", category="maintenance", subject="same")
    memories.tend()
    one = quote(session, safe="")
    message = quote(said[0].id, safe="")
    [first, *_] = memories.inbox()
    paths = [*PAGES, f"/sessions/{one}", f"/messages/{message}", f"/inbox/{first.memory.id}/edit"]
    return [f"{path}?space={space}" for path in paths] + [f"/undo-session?session={one}&space={space}"]
