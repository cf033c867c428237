"""/timeline as plain HTML, on both databases."""

from __future__ import annotations

from holdfast.domain.outcomes import settled
from tests.requirements_ledger import requirement
from tests.web.dashboard.reading import Page
from tests.web.dashboard.serving import Board


def rows(board: Board, subject: str) -> list[str]:
    answer = board.browser().get(f"/timeline?space=ops&subject={subject}")
    assert answer.status_code == 200, answer.text
    found = Page(answer.text).by_id("rows").children
    return [row.whole_text for row in found if "timeline-row" in row.attributes["class"]]


@requirement("dash.history")
def test_a_subjects_timeline_has_each_change_with_its_words_and_the_events(board: Board) -> None:
    memories = board.memories()
    agent = memories.speaking_as("assistant", session="run-1")
    agent.open_session("run-1", name="First look")
    made = settled(agent.remember("Takes 60s to start", category="timing", subject="jellyfin"))
    assert made is not None
    memories.revise(made.id, "Takes 61s to start")
    memories.record_event("warning", "Library was empty", service="jellyfin")
    memories.remember("Takes 30s to start", category="timing", subject="jellyfin")
    memories.remember("Needs WireGuard", category="dependency", subject="caddy")

    found = rows(board, "Jellyfin")

    whats = [row.split()[0] for row in found]
    assert whats.index("warning") < whats.index("Revised") < whats.index("Added", 2)
    assert {"Takes 60s to start", "Takes 61s to start", "Takes 30s to start"} <= {
        text for row in found for text in [" ".join(row.split()[1:5])]
    }
    assert "0.7 → 0.5" in found[0]
    assert "First look" in found[-1]
    assert not any("WireGuard" in row for row in found)


def test_general_knowledge_has_a_timeline_and_an_unknown_subject_says_so(board: Board) -> None:
    board.memories().remember("Retry DNS checks once", category="remediation")

    assert "Retry DNS checks once" in rows(board, "general")[0]
    assert rows(board, "") == rows(board, "general")
    assert "Nothing is known about it" in board.browser().get("/timeline?space=ops&subject=nobody").text
